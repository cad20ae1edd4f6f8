package notes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// Reader reads notes in sequence, each like [Folder.Load]. It checks the folders
// on the path only when the folder changes, since this takes longer than reading
// a note. It is not safe for concurrent use. The caller must close it.
type Reader struct {
	Folder *Folder
	dir    string
	root   *os.Root    // handle of dir; nil before the first note
	rules  ignoreRules // rules that apply in dir
}

// Close closes the current folder.
func (r *Reader) Close() {
	if r.root != nil {
		r.root.Close() //nolint:errcheck // opened for reading only
	}
	r.root = nil
}

// Load reads a note like [Folder.Load].
func (r *Reader) Load(ctx context.Context, name string) ([]byte, Entry, error) {
	if IsPicture(name) && !r.Folder.ReadsPictures() {
		return nil, Entry{}, fmt.Errorf("read note: %s is an image: to have images read, install tesseract and set "+
			"`ocr: auto`", name)
	}
	raw, info, err := r.promptly(name)
	if err != nil {
		return nil, Entry{}, fmt.Errorf("read note: %w", err)
	}
	entry := Entry{Path: name, Size: info.Size(), ModTime: info.ModTime()}
	if raw, err = r.Folder.pages.read(ctx, name, raw); err != nil {
		return nil, entry, fmt.Errorf("read note: %s: %w", name, err)
	}
	return raw, entry, nil
}

// promptly is raw for a folder that may not answer.
func (r *Reader) promptly(name string) ([]byte, fs.FileInfo, error) {
	type read struct {
		by   Reader // as it is after reading
		raw  []byte
		info fs.FileInfo
	}
	own := *r // a read that is given up still uses its reader
	done, err := promptly(r.Folder, path.Dir(name), func(beat func()) (done read, err error) {
		done.by = own
		done.raw, done.info, err = done.by.raw(name, beat)
		return done, err
	})
	if done.by.Folder == nil { // it was given up, or broke
		done.by.Folder = r.Folder
	}
	*r = done.by
	return done.raw, done.info, err
}

// beating is a reader that says when it was answered.
type beating struct {
	from io.Reader
	beat func()
}

func (b beating) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.beat()
	return n, err
}

func (r *Reader) raw(name string, beat func()) ([]byte, fs.FileInfo, error) {
	if err := r.enter(name); err != nil {
		return nil, nil, err
	}
	base := path.Base(name)
	if err := r.Folder.checkPart(r.root, base, name, name, r.rules); err != nil {
		return nil, nil, err
	}
	// Without nonblock, opening a FIFO would wait for a writer forever.
	file, err := r.root.OpenFile(base, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, reason(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, reason(name, err)
	}
	if why := unreadable(name, info.Mode(), info.Size()); why != "" {
		return nil, nil, fmt.Errorf("%s %s", name, why)
	}
	longest := kindOf(name).maxSize()
	var raw bytes.Buffer
	raw.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := raw.ReadFrom(beating{io.LimitReader(file, longest+1), beat}); err != nil {
		return nil, nil, reason(name, err)
	}
	if int64(raw.Len()) > longest {
		return nil, nil, fmt.Errorf("%s grew beyond %d MiB while it was read", name, longest>>20)
	}
	return raw.Bytes(), info, nil
}

// enter opens the folder of a note, unless it is the current one.
func (r *Reader) enter(name string) (err error) {
	dir := path.Dir(name)
	if err = checkName(name); err != nil || r.root != nil && r.dir == dir {
		return err
	}
	r.Close()
	if r.rules, err = r.Folder.checkWay(name); err != nil {
		return err
	}
	if r.root, err = r.Folder.root().OpenRoot(dir); err != nil {
		return reason(name, err)
	}
	r.dir = dir
	return nil
}
