// Package filelock takes files for one process or for several. The system lets
// go of a lock when its file is closed or the process ends, however it ends. A
// lock belongs to the file and not to its name: files that are locked are not
// deleted while another process may open them.
package filelock

import (
	"errors"
	"os"
)

// Try takes a file for this process alone. It reports false when another
// process has it.
func Try(file *os.File) (bool, error) {
	err := try(file)
	if isHeld(err) {
		return false, nil
	}
	return err == nil, err
}

// Release lets go of a file and closes it. To close it is not enough: a process
// that another goroutine is starting has a copy of each open file until it runs
// its program, and the lock with it.
func Release(file *os.File) error { return errors.Join(unlock(file), file.Close()) }
