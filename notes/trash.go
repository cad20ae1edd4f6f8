package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"lifehub/internal/files"
)

// trashDir is the folder for deleted notes: inside the vault, with the name that
// Obsidian uses, and hidden from List.
const trashDir = ".trash"

// Trash moves a note to the vault's trash if its content is still was; otherwise
// it returns [ErrChanged]. It returns the new path, relative to the vault. Files
// already in the trash are not overwritten.
func (f *Folder) Trash(name string, was []byte) (place string, err error) {
	defer files.Wrap(&err, "move note to the trash")
	err = f.alone(func() error {
		if place, err = f.freeInTrash(name); err != nil {
			return err
		}
		if _, err := f.unchanged(name, was); err != nil {
			return err
		}
		if err := f.root().Rename(name, place); err != nil {
			return err
		}
		f.forget(name)
		return errors.Join(syncDir(f.root(), path.Dir(place)), syncDir(f.root(), path.Dir(name)))
	})
	return place, err
}

// CopyToTrash saves text in the vault's trash under the name of a note, and
// returns its path.
func (f *Folder) CopyToTrash(name string, text []byte) (place string, err error) {
	defer files.Wrap(&err, "copy note to the trash")
	err = f.alone(func() error {
		if place, err = f.freeInTrash(name); err != nil {
			return err
		}
		temp, err := f.temp(place, text, 0o600)
		if err != nil {
			return err
		}
		if err := f.root().Rename(temp, place); err != nil {
			return err
		}
		return syncDir(f.root(), path.Dir(place))
	})
	return place, err
}

// freeInTrash creates the folder for a note in the trash and returns an unused
// path: the note's own name, or one with a number.
func (f *Folder) freeInTrash(name string) (string, error) {
	if err := f.check(name); err != nil {
		return "", err
	}
	place := path.Join(trashDir, name)
	if err := f.root().MkdirAll(path.Dir(place), 0o700); err != nil {
		return "", reason(name, err)
	}
	ext := path.Ext(place)
	for n := 2; ; n++ {
		switch _, err := f.root().Lstat(place); {
		case errors.Is(err, fs.ErrNotExist):
			return place, nil
		case err != nil:
			return "", reason(name, err)
		}
		place = fmt.Sprintf("%s %d%s", strings.TrimSuffix(path.Join(trashDir, name), ext), n, ext)
	}
}
