package files

import (
	"context"
	"errors"
	"os"
)

// TryLock locks a file exclusively. It reports false if another process holds a
// lock. The system releases a lock when its file is closed or the process ends. A
// lock belongs to the file and not to its name, so a lock file must not be deleted
// while another process may open it.
func TryLock(file *os.File) (bool, error) {
	err := tryLock(file)
	if isHeld(err) {
		return false, nil
	}
	return err == nil, err
}

// Lock is like TryLock, but waits for other processes until ctx ends. The wait itself then ends when
// the lock is free or the file is closed.
func Lock(ctx context.Context, file *os.File) error {
	_, err := Await(ctx, func() (struct{}, error) { return struct{}{}, lock(file) })
	return err
}

// Unlock unlocks and closes a file. Closing is not enough: while another
// goroutine starts a process, the child holds copies of all open files, and their
// locks, until it executes its program.
func Unlock(file *os.File) error { return errors.Join(unlock(file), file.Close()) }
