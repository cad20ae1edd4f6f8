//go:build unix

package notes

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nonblock makes opening a FIFO or a device return immediately.
const nonblock = syscall.O_NONBLOCK

// readFolder lists a folder with file information. It makes one system call per
// file and keeps only what is needed: an os.FileInfo per file would double the
// cost.
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
			continue // deleted meanwhile
		}
		children = append(children, child{name: name, mode: modeOf(status), size: status.Size, modTime: time.Unix(status.Mtim.Unix()), err: err})
	}
	return children, nil
}

// modeOf returns the file type, without permissions.
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

// lockDir locks a folder against other processes that call it. The lock leaves no
// file behind and ends with the process at the latest. If the file system does
// not support locks, lockDir does nothing.
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

// deviceOf returns the device that a folder is on.
func deviceOf(root *os.Root) string {
	info, err := root.Stat(".")
	if err != nil {
		return ""
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(status.Dev)
}

// syncDir makes a rename in dir durable.
func syncDir(root *os.Root, dir string) error {
	handle, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer handle.Close()
	return handle.Sync()
}
