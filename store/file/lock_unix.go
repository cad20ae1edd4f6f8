//go:build unix

package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes a file for this process until it is closed or the process ends.
// It reports false when another process has it.
func lock(file *os.File) bool {
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// share takes a file together with others, once nobody has it alone, until it
// is closed or the process ends.
func share(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_SH) }
