package notes

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"lifehub/internal/wrap"
)

// Create writes a new note and the folders above it. It is there as a whole
// or not at all; when there is one of that name already the error is
// [fs.ErrExist].
func (f *Folder) Create(name, text string) (err error) {
	defer wrap.Error(&err, "create note")
	if err := errors.Join(f.check(name), Writable(name), fits(name, text)); err != nil {
		return err
	}
	defer f.alone()()
	if _, err := f.root().Lstat(name); err == nil {
		return reason(name, fs.ErrExist)
	}
	if err := f.root().MkdirAll(path.Dir(name), 0o777); err != nil {
		return reason(name, err)
	}
	temp, err := f.temp(name, []byte(text), 0o666)
	if err != nil {
		return reason(name, err)
	}
	// A link, unlike a rename, never takes the place of a note that somebody
	// else made just now.
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

// claim puts temp in its place where the file system knows no hard links:
// the name is taken first, then renamed over.
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

// Replace gives a note new bytes, provided that it still holds the bytes was;
// else the error is [ErrChanged]. A crash leaves the old note or the new one,
// never a mixture. The note keeps its permissions.
func (f *Folder) Replace(name string, was, now []byte) (err error) {
	defer wrap.Error(&err, "change note")
	if err := errors.Join(Writable(name), fits(name, now)); err != nil {
		return err
	}
	defer f.alone()()
	info, err := f.unchanged(name, was)
	if err != nil {
		return err
	}
	temp, err := f.temp(name, now, 0o600)
	if err != nil {
		return reason(name, err)
	}
	defer f.root().Remove(temp) // gone already when all went well
	if err := f.root().Chmod(temp, info.Mode().Perm()); err != nil {
		return reason(name, err)
	}
	// Writing and syncing took milliseconds: an editor may have saved since.
	if _, err := f.unchanged(name, was); err != nil {
		return err
	}
	if err := f.root().Rename(temp, name); err != nil {
		return reason(name, err)
	}
	return syncDir(f.root(), path.Dir(name))
}

// alone waits until no other writer is at the folder, of this process or of
// another LifeHub, and returns how to let the next one in: between the look at
// a note and the rename over it nobody of ours may change it.
func (f *Folder) alone() (release func()) {
	f.writing.Lock()
	unlock := lockDir(f.root())
	return func() {
		unlock()
		f.writing.Unlock()
	}
}

// unchanged makes sure that the note still holds the bytes was.
func (f *Folder) unchanged(name string, was []byte) (fs.FileInfo, error) {
	r := Reader{Folder: f}
	defer r.Close()
	is, info, err := r.raw(name)
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

// temp writes text to a new hidden file next to name, synced to disk.
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

// Writable says why a note cannot be made or changed; nil: it can.
func Writable(name string) error {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%q has a control character in its name: LifeHub makes and changes no such note; give it another name", name)
	}
	if kindOf(name) != markdown {
		return fmt.Errorf("%s is read only: LifeHub changes .md and .markdown files and no others; put what is to be written into one of those", name)
	}
	return nil
}

func fits[T ~string | ~[]byte](name string, text T) error {
	if len(text) > MaxSize {
		return fmt.Errorf("%s would be longer than %d MiB", name, MaxSize>>20)
	}
	return nil
}
