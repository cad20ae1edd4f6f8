package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// ahead is how many bytes of whole lines wait in a terminal that the kernel
// still edits lines of, 0 for anything else.
func ahead(file *os.File) int {
	settings, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	if err != nil || settings.Lflag&unix.ICANON == 0 || settings.Iflag&unix.ICRNL == 0 {
		return 0
	}
	n, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
