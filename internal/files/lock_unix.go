//go:build unix

package files

import (
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

func lock(file *os.File) (err error) {
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
	}
	return err
}

func isHeld(err error) bool { return err == unix.EWOULDBLOCK }

func unlock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) }

// LockShared takes a shared lock, waiting while another process holds an exclusive
// one.
func LockShared(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_SH) }
