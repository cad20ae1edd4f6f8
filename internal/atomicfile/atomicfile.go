// Package atomicfile replaces a private file whole or not at all.
package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write replaces a file that only its owner may read, and makes its folder.
// One that is killed in the middle may leave a file beginning with its name.
func Write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make folder for %s: %w", file, err)
	}
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer os.Remove(temp.Name()) // nothing is there any more after the rename
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
