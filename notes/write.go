package notes

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"lifehub/internal/files"
)

// Create writes a new note and the folders above it. The note appears atomically.
// If a note of that name exists, it returns [fs.ErrExist].
func (f *Folder) Create(name, text string) (err error) {
	if err := Writable(name); err != nil {
		return err
	}
	return f.alone(func() error { return f.create(name, text) })
}

// create is Create for a caller that holds the lock.
func (f *Folder) create(name, text string) (err error) {
	defer files.Wrap(&err, "create note")
	if err := errors.Join(f.check(name), fits(name, text)); err != nil {
		return err
	}
	switch own, taken, err := f.Spelled(name); {
	case err != nil:
		return err
	case taken:
		return reason(own, fs.ErrExist)
	case own != name:
		return fmt.Errorf("%s is spelled %s there: use that spelling", name, own)
	}
	if err := f.root().MkdirAll(path.Dir(name), 0o777); err != nil {
		return reason(name, err)
	}
	temp, err := f.temp(name, []byte(text), 0o666)
	if err != nil {
		return reason(name, err)
	}
	// Unlike a rename, a link never replaces a note that was created meanwhile.
	err = f.root().Link(temp, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = f.claim(temp, name)
	} else {
		f.root().Remove(temp)
	}
	if err != nil {
		return reason(name, err)
	}
	return syncDir(f.root(), path.Dir(name))
}

// claim moves temp to name on file systems without hard links: it reserves the
// name first, then renames over it.
func (f *Folder) claim(temp, name string) error {
	file, err := f.root().OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		file.Close()
		err = f.root().Rename(temp, name)
	}
	if err != nil {
		f.root().Remove(temp)
	}
	return err
}

// Replace changes a note's content from was to now; if its content is no longer
// was, it returns [ErrChanged]. A crash leaves either the old or the new content.
// The note's permissions are preserved, and its owner if the user may give files to others.
func (f *Folder) Replace(name string, was, now []byte) (err error) {
	if err := Writable(name); err != nil {
		return err
	}
	return f.alone(func() error { return f.replace(name, was, now) })
}

// Change gives the content of a note (nil if it does not exist) to edit and writes what edit returns.
// No other LifeHub process writes to the folder between; if another program changed the note, it
// returns [ErrChanged] or [fs.ErrExist].
func (f *Folder) Change(name string, edit func(was []byte) (now []byte, err error)) error {
	if err := Writable(name); err != nil {
		return err
	}
	return f.alone(func() error {
		was, _, err := f.Raw(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			was = nil
		case err != nil:
			return err
		case was == nil:
			was = []byte{}
		}
		now, err := edit(was)
		switch {
		case err != nil:
			return err
		case was == nil:
			return f.create(name, string(now))
		}
		return f.replace(name, was, now)
	})
}

// File returns the bytes of a note's file, of an Org file too, whose content as a note is Markdown.
func (f *Folder) File(name string) ([]byte, error) {
	r := Reader{Folder: f}
	defer r.Close()
	raw, _, err := r.promptly(name)
	if err == nil && raw == nil {
		raw = []byte{}
	}
	return raw, err
}

// Together calls write while no other LifeHub process writes to the folder. It may change the files of several notes.
func (f *Folder) Together(write func(Writing) error) error {
	return f.alone(func() error { return write(Writing{f}) })
}

// Writing changes files in a folder that no other LifeHub process writes to.
type Writing struct{ folder *Folder }

// Write changes the bytes of a note's file from was to now, as [Folder.Replace] does: it creates the file if was is
// nil, and removes it if now is. Unlike there, it may also be an Org or text file.
func (w Writing) Write(name string, was, now []byte) (err error) {
	f := w.folder
	switch {
	case !Movable(name):
		return fmt.Errorf("%s is of a kind that is not changed", name)
	case was == nil:
		return f.create(name, string(now))
	case now != nil:
		return f.replace(name, was, now)
	}
	defer files.Wrap(&err, "remove note")
	if _, err := f.unchanged(name, was); err != nil {
		return err
	}
	if err := f.root().Remove(name); err != nil {
		return reason(name, err)
	}
	f.forget(name)
	return syncDir(f.root(), path.Dir(name))
}

// Movable reports whether a note of this name can be moved, and have its links changed: it is a text.
func Movable(name string) bool {
	return slices.Contains([]kind{markdown, orgMode, plainText}, kindOf(name))
}

// Keep gives a file the permissions and the time of change of another, as far as the system allows it.
func (w Writing) Keep(name, of string) {
	if info, err := w.folder.root().Stat(of); err == nil {
		_ = errors.Join(w.folder.root().Chmod(name, info.Mode().Perm()),
			w.folder.root().Chtimes(name, time.Time{}, info.ModTime()))
	}
}

// replace is Replace for a caller that holds the lock.
func (f *Folder) replace(name string, was, now []byte) (err error) {
	defer files.Wrap(&err, "change note")
	if err := errors.Join(Changeable(was), fits(name, now)); err != nil {
		return err
	}
	info, err := f.unchanged(name, was)
	if err != nil {
		return err
	}
	temp, err := f.temp(name, now, 0o600)
	if err != nil {
		return reason(name, err)
	}
	defer f.root().Remove(temp) // fails if the rename succeeded
	keepOwner(f.root(), temp, info)
	if err := f.root().Chmod(temp, info.Mode().Perm()); err != nil {
		return reason(name, err)
	}
	// Writing and syncing take milliseconds, in which an editor may have saved
	// the note.
	if _, err := f.unchanged(name, was); err != nil {
		return err
	}
	if err := f.root().Rename(temp, name); err != nil {
		return reason(name, err)
	}
	return syncDir(f.root(), path.Dir(name))
}

// alone calls write while no other goroutine and no other LifeHub process writes to the folder. This
// prevents changes between the check of a note and the rename over it. It waits for them at most
// [files.Patience].
func (f *Folder) alone(write func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), files.Patience)
	defer cancel()
	locked := make(chan func())
	go func() {
		f.writing.Lock()
		unlock := lockDir(f.root())
		release := func() {
			unlock()
			f.writing.Unlock()
		}
		select {
		case locked <- release:
		case <-ctx.Done():
			release()
		}
	}()
	select {
	case release := <-locked:
		defer release()
		return write()
	case <-ctx.Done():
		return fmt.Errorf("another program has been writing to %s for %v; try again when it is done", f.dir,
			files.Patience)
	}
}

// Protected returns an error, [fs.ErrPermission], if the file of a note exists and may not be written by this user.
func (f *Folder) Protected(name string) error {
	if err := files.ProtectedIn(f.root(), name); err != nil {
		return reason(name, err)
	}
	return nil
}

// unchanged returns an error if the note's content is not was, or may not be changed.
func (f *Folder) unchanged(name string, was []byte) (fs.FileInfo, error) {
	r := Reader{Folder: f}
	defer r.Close()
	is, info, err := r.promptly(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is gone: %w", name, ErrChanged)
	}
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(is, was) {
		return nil, reason(name, ErrChanged)
	}
	return info, f.Protected(name)
}

// temp writes text to a new hidden file next to name and syncs it.
func (f *Folder) temp(name string, text []byte, perm fs.FileMode) (string, error) {
	temp := path.Join(path.Dir(name), ".lifehub-"+rand.Text()+".tmp")
	file, err := f.root().OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		f.root().Remove(temp)
		return "", err
	}
	return temp, nil
}

// Writable returns an error if a note may not be created or changed, because of
// its name.
func Writable(name string) error {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%q has a control character in its name: choose another name", name)
	}
	if kindOf(name) != markdown {
		return fmt.Errorf("%s is read only: LifeHub changes .md and .markdown files only; write to one of those", name)
	}
	return nil
}

func fits[T ~string | ~[]byte](name string, text T) error {
	if len(text) > MaxSize {
		return fmt.Errorf("%s would be longer than %d MiB", name, MaxSize>>20)
	}
	return nil
}
