package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
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

// Patience is how long a lock is awaited that one process holds all the time.
const Patience = 10 * time.Second

// Lock is like TryLock, but waits for other processes until ctx ends. If one of them holds the lock
// for longer than Patience, the error names it. After an error the file must not be closed: the system
// still waits, and unlocks the file when it gets the lock.
func Lock(ctx context.Context, file *os.File) error {
	locked, left := make(chan error), make(chan struct{})
	defer close(left)
	go func() {
		err := lock(file)
		select {
		case locked <- err:
		case <-left:
			if err == nil {
				_ = unlock(file) // nobody can be told
			}
		}
	}()
	holder, since := holderOf(file), time.Now()
	look := time.NewTicker(Patience / 100)
	defer look.Stop()
	for {
		select {
		case err := <-locked:
			if err == nil {
				_ = sign(file) // a full disk: whoever waits cannot be told for whom
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
		if now := holderOf(file); now != holder {
			holder, since = now, time.Now()
		} else if time.Since(since) >= Patience {
			return fmt.Errorf("%s has been locked for %v by %s; end that process, or wait for it", file.Name(),
				Patience, cmp.Or(holder, "another process"))
		}
	}
}

// sign writes into a locked file which process holds the lock.
func sign(file *os.File) error {
	text := fmt.Sprintf("process %d (%s)\n", os.Getpid(), strings.Join(os.Args[:min(len(os.Args), 2)], " "))
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// holderOf returns the process that signed a lock file last.
func holderOf(file *os.File) string {
	text := make([]byte, 200)
	n, _ := file.ReadAt(text, 0) // a file that cannot be read names nobody
	line, _, _ := strings.Cut(string(text[:n]), "\n")
	return line
}

// Unlock unlocks and closes a file. Closing is not enough: while another
// goroutine starts a process, the child holds copies of all open files, and their
// locks, until it executes its program.
func Unlock(file *os.File) error { return errors.Join(unlock(file), file.Close()) }
