package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write replaces a file that only its owner may read, creating its folder if
// necessary. It follows symbolic links: the link stays and its target is
// replaced. If the process is killed, a temporary file whose name begins with
// that of the file may remain.
func Write(file string, data []byte) (err error) {
	defer Wrap(&err, "write %s", file)
	if file, err = linkTarget(file); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := protected(anywhere{}, file); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails after the rename, which is fine
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}

// ProtectedIn returns an error, [fs.ErrPermission], if a file in root exists and may not be written by this user. A
// rename over it does not ask for that; nor is anything refused to the superuser, so a file that nobody may write is
// protected, too.
func ProtectedIn(root *os.Root, name string) error { return protected(root, name) }

func protected(in folder, name string) error {
	info, err := in.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.Mode().Perm()&0o222 != 0 {
		var file *os.File
		if file, err = in.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			return file.Close()
		}
	}
	if err == nil || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("it is write-protected; if it may change, allow that (chmod u+w) and try again: %w",
			fs.ErrPermission)
	}
	return err
}

// maxLinks bounds the length of a chain of symbolic links.
const maxLinks = 40

// linkTarget returns the regular file at the end of a chain of links; it need not
// exist.
func linkTarget(file string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(file)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return file, nil
		case err != nil:
			return "", err
		case info.Mode().IsRegular():
			return file, nil
		case info.Mode()&os.ModeSymlink == 0:
			return "", fmt.Errorf("%s is not a regular file", file)
		}
		next, err := os.Readlink(file)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) { // relative to the folder that contains the link
			dir, err := filepath.EvalSymlinks(filepath.Dir(file))
			if err != nil {
				return "", err
			}
			next = filepath.Join(dir, next)
		}
		file = next
	}
	return "", errors.New("too many symbolic links")
}
