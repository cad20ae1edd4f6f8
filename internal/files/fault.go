package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ExplainFault returns a description of a problem of this machine that caused err, and
// advice. Both are empty if err has another cause.
func ExplainFault(err error) (problem, advice string) {
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

// IsFault reports whether err is a problem of the machine that cannot be fixed by
// changing the file or command.
func IsFault(err error) bool {
	for _, errno := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EDQUOT,
		syscall.EIO, syscall.EROFS,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// TryWriting creates and deletes a file in a folder, creating the folder if
// necessary.
func TryWriting(dir string) error {
	const size = 64 << 10 // more than the free part of a block in use
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
