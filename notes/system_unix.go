//go:build unix

package notes

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nonblock makes opening a FIFO or a device return at once.
const nonblock = syscall.O_NONBLOCK

// readFolder lists a folder with what is in it. One system call a file and
// nothing held of it except what is asked for: an os.FileInfo each costs as much
// again as the call.
func readFolder(root *os.Root, dir string) ([]child, error) {
	handle, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	names, err := handle.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	children := make([]child, 0, len(names))
	for _, name := range names {
		var status unix.Stat_t
		err := unix.Fstatat(int(handle.Fd()), name, &status, unix.AT_SYMLINK_NOFOLLOW)
		for err == unix.EINTR {
			err = unix.Fstatat(int(handle.Fd()), name, &status, unix.AT_SYMLINK_NOFOLLOW)
		}
		if err == unix.ENOENT {
			continue // deleted while we looked
		}
		children = append(children, child{name: name, mode: modeOf(status), size: status.Size, modTime: time.Unix(status.Mtim.Unix()), err: err})
	}
	return children, nil
}

// modeOf is the kind of a file; its permissions are of no use to a list.
func modeOf(status unix.Stat_t) fs.FileMode {
	switch uint32(status.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// lockDir keeps other processes that ask for the same from a folder; the lock
// leaves nothing behind, and ends with the process at the latest. Where the
// file system knows no locks, there is none.
func lockDir(root *os.Root) (unlock func()) {
	handle, err := root.Open(".")
	if err != nil {
		return func() {}
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(handle.Fd()), unix.LOCK_EX)
	}
	return func() { handle.Close() }
}

// syncDir makes a rename in dir outlive a power cut.
func syncDir(root *os.Root, dir string) error {
	handle, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer handle.Close()
	return handle.Sync()
}
