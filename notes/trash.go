package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// trashDir is where notes go that are taken away: inside the vault, under the
// name that Obsidian uses too, and out of sight of List.
const trashDir = ".trash"

// Trash moves a note into the vault's trash, provided that it still holds the
// bytes was; else the error is [ErrChanged]. It returns where it is now,
// below the vault. What is in the trash already stays as it is.
func (f *Folder) Trash(name string, was []byte) (string, error) {
	defer f.alone()()
	place, err := f.freeInTrash(name)
	if err == nil {
		_, err = f.unchanged(name, was)
	}
	if err == nil {
		err = f.root().Rename(name, place)
	}
	if err == nil {
		err = errors.Join(syncDir(f.root(), path.Dir(place)), syncDir(f.root(), path.Dir(name)))
	}
	if err != nil {
		return "", fmt.Errorf("move note to the trash: %w", err)
	}
	return place, nil
}

// CopyToTrash keeps a text in the vault's trash under the name of a note and
// returns where.
func (f *Folder) CopyToTrash(name string, text []byte) (string, error) {
	defer f.alone()()
	place, err := f.freeInTrash(name)
	if err != nil {
		return "", fmt.Errorf("copy note to the trash: %w", err)
	}
	temp, err := f.temp(place, text, 0o600)
	if err == nil {
		err = f.root().Rename(temp, place)
	}
	if err == nil {
		err = syncDir(f.root(), path.Dir(place))
	}
	if err != nil {
		return "", fmt.Errorf("copy note to the trash: %w", err)
	}
	return place, nil
}

// freeInTrash makes the folder for a note in the trash and finds a name there
// that is free: the note's own, else with a number.
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
