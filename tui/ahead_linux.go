package tui

import (
	"os"

	"golang.org/x/sys/unix"
)

// ahead returns the number of bytes in complete lines that wait in a terminal in canonical mode, or
// 0 for any other file.
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
