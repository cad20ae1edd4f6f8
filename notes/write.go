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
	"strings"
	"unicode"

	"lifehub/internal/files"
	"lifehub/internal/wrap"
)

// Create writes a new note and the folders above it. The note appears atomically.
// If a note of that name exists, it returns [fs.ErrExist].
func (f *Folder) Create(name, text string) (err error) {
	return f.alone(func() error { return f.create(name, text) })
}

// create is Create for a caller that holds the lock.
func (f *Folder) create(name, text string) (err error) {
	defer wrap.Error(&err, "create note")
	if err := errors.Join(f.check(name), Writable(name), fits(name, text)); err != nil {
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
// The note's permissions are preserved.
func (f *Folder) Replace(name string, was, now []byte) (err error) {
	return f.alone(func() error { return f.replace(name, was, now) })
}

// Change gives the content of a note (nil if it does not exist) to edit and writes what edit returns.
// No other LifeHub process writes to the folder between; if another program changed the note, it
// returns [ErrChanged] or [fs.ErrExist].
func (f *Folder) Change(name string, edit func(was []byte) (now []byte, err error)) error {
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

// replace is Replace for a caller that holds the lock.
func (f *Folder) replace(name string, was, now []byte) (err error) {
	defer wrap.Error(&err, "change note")
	if err := errors.Join(Writable(name), Changeable(was), fits(name, now)); err != nil {
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
		return fmt.Errorf("another program has been writing to %s for %v; try again when it is done", f.dir, files.Patience)
	}
}

// unchanged returns an error if the note's content is not was.
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
	return info, nil
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
