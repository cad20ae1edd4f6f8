// Package atomicfile replaces a private file whole or not at all.
package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lifehub/internal/wrap"
)

// Write replaces a file that only its owner may read, and makes its folder. Of
// a link, which stays, it is the file that the link leads to. One that is
// killed in the middle may leave a file beginning with its name.
func Write(file string, data []byte) (err error) {
	defer wrap.Error(&err, "write %s", file)
	if file, err = target(file); err != nil {
		return err
	}
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

// maxLinks is how many links may lead from one to the next.
const maxLinks = 40

// target is the regular file that a chain of links ends at, or will when it is
// written.
func target(file string) (string, error) {
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
		if !filepath.IsAbs(next) { // it begins where the link really is
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
