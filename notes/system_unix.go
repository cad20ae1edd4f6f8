//go:build unix

package notes

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nonblock makes opening a FIFO or a device return immediately.
const nonblock = syscall.O_NONBLOCK

// listed is how many entries of a folder are read at once.
const listed = 1024

// readFolder lists a folder with information about its files. It makes one system
// call per file and keeps only what is needed: an os.FileInfo per file would double
// the cost. Folders in it are not touched, since they may be mounts that do not
// answer. It calls beat after each answer.
func readFolder(root *os.Root, dir string, beat func()) ([]child, error) {
	handle, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	// A file of a Root asks for the information of each entry, of folders too.
	plain, err := unix.FcntlInt(handle.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	names := os.NewFile(uintptr(plain), dir)
	defer names.Close()
	var children []child
	for {
		entries, err := names.ReadDir(listed)
		if errors.Is(err, io.EOF) {
			return children, nil
		}
		if err != nil {
			return nil, err
		}
		for i, e := range entries {
			name := e.Name()
			if e.IsDir() {
				children = append(children, child{name: name, mode: fs.ModeDir})
				continue
			}
			if i%64 == 0 {
				beat()
			}
			var status unix.Stat_t
			err := unix.Fstatat(int(handle.Fd()), name, &status, unix.AT_SYMLINK_NOFOLLOW)
			for err == unix.EINTR {
				err = unix.Fstatat(int(handle.Fd()), name, &status, unix.AT_SYMLINK_NOFOLLOW)
			}
			if err == unix.ENOENT {
				continue // deleted meanwhile
			}
			children = append(children, child{
				name: name, mode: modeOf(status), size: status.Size,
				modTime: time.Unix(status.Mtim.Unix()), err: err,
			})
		}
	}
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

// keepOwner gives a file the owner and group of another, or only the group, as far as this user may.
func keepOwner(root *os.Root, name string, of fs.FileInfo) {
	if status, ok := of.Sys().(*syscall.Stat_t); ok && root.Chown(name, int(status.Uid), int(status.Gid)) != nil {
		_ = root.Chown(name, -1, int(status.Gid))
	}
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
