//go:build unix

package rag

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the lock at path, without waiting. ok is false when another
// process has it. The kernel lets go of it when the process ends, however it
// ends. The file is never deleted: a lock belongs to the file, not its name.
func lockFile(path string) (unlock func() error, ok bool, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("lock index: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		closed := file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, closed
		}
		return nil, false, fmt.Errorf("lock index: %w", errors.Join(err, closed))
	}
	return file.Close, true, nil
}
