//go:build unix

package notes

import (
	"os"
	"syscall"
)

// nonblock makes opening a FIFO or a device return at once.
const nonblock = syscall.O_NONBLOCK

// syncDir makes a rename in dir outlive a power cut.
func syncDir(root *os.Root, dir string) error {
	handle, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer handle.Close()
	return handle.Sync()
}
