// Package filelock takes files for one process or for several. The system lets
// go of a lock when its file is closed or the process ends, however it ends. A
// lock belongs to the file and not to its name: files that are locked are not
// deleted while another process may open them.
package filelock

import "os"

// Try takes a file for this process alone. It reports false when another
// process has it.
func Try(file *os.File) (bool, error) {
	err := try(file)
	if isHeld(err) {
		return false, nil
	}
	return err == nil, err
}
