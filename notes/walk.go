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

	"lifehub/notes/pdf"
)

// walk collects the notes below one root. Folders are read side by side, as
// many as there are processors: looking at each file is what a list costs.
type walk struct {
	ctx     context.Context // for the length of one List
	root    *os.Root
	leftOut []string      // folders that are passed over
	places  chan struct{} // a place for each goroutine besides the caller's

	running  sync.WaitGroup
	mu       sync.Mutex // guards what follows
	entries  []Entry
	problems []Problem
	others   LeftOut
	fault    error // a folder's goroutine broke
}

// child is an entry of a folder, links not followed.
type child struct {
	name    string
	mode    fs.FileMode
	size    int64
	modTime time.Time
	err     error // it could not be looked at
}

// all walks everything. The error is that of the outermost folder, or of ctx.
func (w *walk) all() error {
	err := w.folder(".", nil)
	w.running.Wait()
	return errors.Join(err, w.fault, w.ctx.Err())
}

// folder walks one folder and those below it, which may go on after it
// returns, until running ends.
func (w *walk) folder(dir string, rules ignoreRules) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	children, err := readFolder(w.root, dir)
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
		if strings.HasPrefix(c.name, ".") {
			continue
		}
		name := prefix + c.name
		switch {
		case rules.ignore(name, c.mode.IsDir()) || slices.Contains(w.leftOut, name):
		case c.err != nil: // it may be a folder
			w.problem(Problem{Path: name, Reason: "cannot be looked at now: " + c.err.Error(), Unknown: true})
		case c.mode.IsDir():
			w.below(name, rules)
		case c.mode&fs.ModeSymlink != 0:
			w.link(name)
		case IsNote(c.name):
			if why := c.unreadable(); why != "" {
				w.problem(Problem{Path: name, Reason: why})
			} else {
				entries = append(entries, Entry{Path: name, Size: c.size, ModTime: c.modTime})
			}
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

// below walks a folder in its own goroutine if there is a place for one.
func (w *walk) below(dir string, rules ignoreRules) {
	walk := func() {
		err := w.folder(dir, rules)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && w.ctx.Err() == nil { // else it was deleted while we looked
			w.problem(Problem{Path: dir, Reason: "cannot be listed: " + cause(err).Error(), Unknown: true})
		}
	}
	select {
	case w.places <- struct{}{}:
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
			<-w.places
		}()
		walk()
	})
}

// unreadable says why a file cannot be read as a note; "": it can.
func (c child) unreadable() string {
	if !utf8.ValidString(c.name) {
		return "has a name that is not UTF-8"
	}
	return unreadable(c.name, c.mode, c.size)
}

// link reports a link that seems to stand for notes and leads nowhere we go.
// One that stays in the folder is passed over: its target is listed by its
// own name.
func (w *walk) link(name string) {
	if !IsNote(name) && path.Ext(name) != "" {
		return
	}
	if _, err := w.root.Stat(name); err != nil {
		w.problem(Problem{Path: name, Reason: "is a link that leads out of the notes folder or nowhere; links are not followed"})
	}
}

func (w *walk) problem(p Problem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.Path = strings.ToValidUTF8(p.Path, "\uFFFD")
	w.problems = append(w.problems, p)
}

// Sum is the same for the same files, by name, size and time, and the same time
// limit for reading a PDF, and for no others: comparing it with that of the last
// sync saves reading what is known of each.
func Sum(entries []Entry) string {
	sum := sha256.New()
	io.WriteString(sum, pdf.TimeLimit().String())
	var line []byte
	for _, e := range entries {
		line = append(line[:0], e.Path...)
		line = append(line, 0)
		line = binary.LittleEndian.AppendUint64(line, uint64(e.Size))
		line = binary.LittleEndian.AppendUint64(line, uint64(e.ModTime.UnixNano()))
		sum.Write(line)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
