//go:build unix

package files

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes the user can still write to the disk of a
// folder.
func FreeSpace(dir string) (int64, error) {
	var disk unix.Statfs_t
	err := unix.Statfs(dir, &disk)
	return int64(disk.Bavail) * int64(disk.Bsize), err
}
