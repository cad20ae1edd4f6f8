package rag

import (
	"errors"
	"os"

	"lifehub/internal/files"
)

// lockFile takes the lock at path, without waiting. ok is false when another
// process has it. The file is never deleted: a lock belongs to the file, not its name.
func lockFile(path string) (unlock func() error, ok bool, err error) {
	defer files.Wrap(&err, "lock index")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	if ok, err := files.TryLock(file); !ok {
		return nil, false, errors.Join(err, file.Close())
	}
	return func() error { return files.Unlock(file) }, true, nil
}
