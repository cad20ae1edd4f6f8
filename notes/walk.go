package notes

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// walk collects the notes below a root. It reads as many folders concurrently as
// there are CPUs, since the cost of a list is the stat of each file.
type walk struct {
	ctx    context.Context // valid during one List
	folder *Folder
	root   *os.Root
	slots  chan struct{} // one slot for each additional goroutine

	running  sync.WaitGroup
	mu       sync.Mutex // guards the fields below
	entries  []Entry
	problems []Problem
	others   LeftOut
	fault    error // a panic in the goroutine of a folder
}

// child is an entry of a folder; links are not followed.
type child struct {
	name    string
	mode    fs.FileMode
	size    int64
	modTime time.Time
	err     error // error of its stat
}

// all walks the whole tree. It returns errors of the root folder and of ctx.
func (w *walk) all() error {
	err := w.enter(".", nil)
	w.running.Wait()
	return errors.Join(err, w.fault, w.ctx.Err())
}

// enter walks a folder and those below it. Subfolders may still be walked when
// it returns, until running is done.
func (w *walk) enter(dir string, rules ignoreRules) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	children, err := promptly(w.folder, dir, func(beat func()) ([]child,
		error,
	) {
		return readFolder(w.root, dir, beat)
	})
	if err == nil && slices.ContainsFunc(children, func(c child) bool { return c.name == ignoreName }) {
		rules, err = rules.with(w.root, dir)
	}
	if err != nil {
		return err
	}
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	entries, others := make([]Entry, 0, len(children)), LeftOut{}
	for _, c := range children {
		if note := placeholderOf(c.name); note != "" && !rules.ignore(prefix+note, false) {
			others[cloudNote]++
			w.problem(Problem{Path: prefix + note, Reason: inCloud, Unknown: true})
			continue
		}
		if strings.HasPrefix(c.name, ".") {
			continue
		}
		name := prefix + c.name
		switch {
		case rules.ignore(name, c.mode.IsDir()) || slices.Contains(w.folder.leftOut, name):
		case c.err != nil: // it may be a folder
			w.problem(Problem{Path: name, Reason: "cannot be read now: " + c.err.Error(), Unknown: true})
		case c.mode.IsDir():
			w.below(name, rules)
		case c.mode&fs.ModeSymlink != 0:
			w.link(name)
		case (IsNote(c.name) || w.folder.ReadsPictures() && IsPicture(c.name)) && c.unreadable() == "":
			entries = append(entries, Entry{Path: name, Size: c.size, ModTime: c.modTime})
		case IsNote(c.name):
			w.problem(Problem{Path: name, Reason: c.unreadable()})
		default:
			others.addOther(c.name)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries = append(w.entries, entries...)
	for kind, n := range others {
		w.others[kind] += n
	}
	return nil
}

// below walks a folder in another goroutine if a slot is free.
func (w *walk) below(dir string, rules ignoreRules) {
	walk := func() {
		err := w.enter(dir, rules)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && w.ctx.Err() == nil { // otherwise it was deleted meanwhile
			w.problem(Problem{Path: dir, Reason: "cannot be listed: " + cause(err).Error(), Unknown: true})
		}
	}
	select {
	case w.slots <- struct{}{}:
	default:
		walk()
		return
	}
	w.running.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.fault = fmt.Errorf("folder %s: %v\n%s", dir, fault, debug.Stack())
			}
			<-w.slots
		}()
		walk()
	})
}

// unreadable returns why a file cannot be read as a note, or "".
func (c child) unreadable() string {
	if !utf8.ValidString(c.name) {
		return "has a name that is not UTF-8"
	}
	return unreadable(c.name, c.mode, c.size)
}

// link reports a symbolic link that seems to be a note or folder of notes but
// leads outside or nowhere. A link within the folder is ignored: its target is
// listed under its own name.
func (w *walk) link(name string) {
	if !IsNote(name) && path.Ext(name) != "" {
		return
	}
	if _, err := promptly(w.folder, name, func(func()) (fs.FileInfo, error) { return w.root.Stat(name) }); err != nil {
		w.problem(Problem{Path: name, Reason: "is a link out of the notes folder or to nothing; links are not followed"})
	}
}

func (w *walk) problem(p Problem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.Path = strings.ToValidUTF8(p.Path, "\uFFFD")
	w.problems = append(w.problems, p)
}

// Sum returns a checksum of the files' names, sizes and times, and of how PDFs and
// images are read. If it equals that of the last sync, nothing has changed
// and no metadata needs to be compared.
func (f *Folder) Sum(entries []Entry) string {
	sum := sha256.New()
	io.WriteString(sum, f.pages.reader.Tesseract)
	var line []byte
	for _, e := range entries {
		line = append(line[:0], e.Path...)
		line = append(line, 0)
		line = binary.LittleEndian.AppendUint64(line, uint64(e.Size))
		line = binary.LittleEndian.AppendUint64(line, uint64(e.ModTime.UnixNano()))
		sum.Write(append(line, e.CopyOf...))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
