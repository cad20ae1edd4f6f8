// Package diskerr says in plain words what the system reports about files.
package diskerr

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Explain returns what is wrong with this machine in err, and what to do about
// it; "": err says nothing about the machine.
func Explain(err error) (says, advice string) {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many files are open", "raise `ulimit -n`"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full", "free some space"
	case errors.Is(err, syscall.EDQUOT):
		return "your quota on this disk is used up", "free some space"
	case errors.Is(err, syscall.EIO):
		return "the disk reports an error", "check the disk; the system's log has details"
	case errors.Is(err, syscall.EROFS):
		return "the disk is read-only", "make it writable, or use another folder (LIFEHUB_HOME)"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied", "make it readable and writable for you"
	}
	return "", ""
}

// Fails reports whether err is a failure of the machine, which no change of a
// file or a command would repair.
func Fails(err error) bool {
	for _, errno := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// TryWriting makes a file in a folder, and the folder, and deletes the file again.
func TryWriting(dir string) error {
	const size = 64 << 10 // more than the rest of a block that is in use
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, size))
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}
