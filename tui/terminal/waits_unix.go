//go:build unix

package terminal

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// waits reports whether input is available within a time.
func waits(file *os.File, atMost time.Duration) bool {
	fd := int(file.Fd())
	for until := time.Now().Add(atMost); ; {
		var set unix.FdSet
		set.Set(fd)
		left := unix.NsecToTimeval(max(0, time.Until(until)).Nanoseconds())
		n, err := unix.Select(fd+1, &set, nil, nil, &left)
		if err != unix.EINTR {
			return err == nil && n > 0
		}
	}
}
