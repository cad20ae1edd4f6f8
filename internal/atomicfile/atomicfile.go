// Package atomicfile replaces a private file whole or not at all.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"

	"lifehub/internal/wrap"
)

// Write replaces a file that only its owner may read, and makes its folder.
// One that is killed in the middle may leave a file beginning with its name.
func Write(file string, data []byte) (err error) {
	defer wrap.Error(&err, "write %s", file)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // nothing is there any more after the rename
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}
