package notes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// Folder is an open folder of notes, a vault. It is safe for concurrent use.
type Folder struct {
	dir     string
	current atomic.Pointer[os.Root]
	mu      sync.Mutex // guards old
	old     []*os.Root // of folders that were deleted and put back since; somebody may be reading in one
	writing sync.Mutex // one writer at a time, so that no change of ours is lost to another of ours
	leftOut []string   // folders below it that are no part of it, with slashes
	pages   pages      // of the PDFs read last
}

// Open opens the folder dir. Close it when done.
func Open(dir string) (*Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open notes folder %s: %w", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open notes folder %s: there is no such folder: %w", abs, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("open notes folder: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("open notes folder %s: it is a file, not a folder", abs)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open notes folder: %w", err)
	}
	f := &Folder{dir: abs}
	f.current.Store(root)
	return f, nil
}

// LeaveOut makes folders that are below it no part of it: nothing in them is
// listed, read or written. Call it before anything else.
func (f *Folder) LeaveOut(dirs ...string) {
	for _, dir := range dirs {
		if below, err := filepath.Rel(f.dir, dir); err == nil && filepath.IsLocal(below) && below != "." {
			f.leftOut = append(f.leftOut, filepath.ToSlash(below))
		}
	}
}

// Dir is the folder's absolute path.
func (f *Folder) Dir() string { return f.dir }

// Close lets go of the folder.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.root().Close()
	for _, root := range f.old {
		err = errors.Join(err, root.Close())
	}
	return err
}

// root is the folder as it was last seen.
func (f *Folder) root() *os.Root { return f.current.Load() }

// see makes sure that root is what now is at the folder's path: a folder
// that was deleted and put back is another one. The error says that there is
// none.
func (f *Folder) see() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := os.Stat(f.dir)
	if err != nil {
		return fmt.Errorf("the notes folder %s is gone: %w", f.dir, cause(err))
	}
	if was, err := f.root().Stat("."); err == nil && os.SameFile(was, now) {
		return nil
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return fmt.Errorf("open the notes folder %s again: %w", f.dir, cause(err))
	}
	f.old = append(f.old, f.root())
	f.current.Store(root)
	return nil
}

// List finds every note, sorted by path, and what looks like a note but
// cannot be one. It costs one stat a file and reads no note. The error is
// that of the folder itself, fs.ErrNotExist while it is gone, or of ctx.
func (f *Folder) List(ctx context.Context) ([]Entry, []Problem, error) {
	entries, problems, _, err := f.Survey(ctx)
	return entries, problems, err
}

// Survey lists as List does, and counts the files that are no notes.
func (f *Folder) Survey(ctx context.Context) ([]Entry, []Problem, LeftOut, error) {
	if err := f.see(); err != nil {
		return nil, nil, nil, err
	}
	w := walk{ctx: ctx, root: f.root(), leftOut: f.leftOut, places: make(chan struct{}, runtime.GOMAXPROCS(0)-1), others: LeftOut{}}
	if err := w.all(); err != nil {
		return nil, nil, nil, fmt.Errorf("list notes in %s: %w", f.dir, err)
	}
	slices.SortFunc(w.entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(w.problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return w.entries, w.problems, w.others, nil
}

// Raw reads a note's bytes as they are on disk; of a file that is no markdown, and
// so read only, what is read in it.
func (f *Folder) Raw(name string) ([]byte, Entry, error) { return f.Load(context.Background(), name) }

// Load is Raw with an end: a PDF may take seconds.
func (f *Folder) Load(ctx context.Context, name string) ([]byte, Entry, error) {
	r := Reader{Folder: f}
	defer r.Close()
	return r.Load(ctx, name)
}

// Has reports whether there is a note at a path, without reading it.
func (f *Folder) Has(name string) bool {
	if f.check(name) != nil {
		return false
	}
	info, err := f.root().Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// Read reads and parses a note.
func (f *Folder) Read(name string) (Note, error) {
	raw, entry, err := f.Raw(name)
	if err != nil {
		return Note{}, err
	}
	return Parse(entry, raw), nil
}

// check refuses every path that List would not give: outside the folder, not
// a note by its name, hidden, ignored, or reached through a link.
func (f *Folder) check(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	rules, err := f.checkWay(name)
	if err != nil {
		return err
	}
	return f.checkPart(f.root(), name, name, name, rules)
}

func checkName(name string) error {
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\x00\\") {
		return fmt.Errorf("%q is not a path inside the notes folder", name)
	}
	if !IsNote(name) {
		return fmt.Errorf("%s is not a note: only .md, .markdown, .txt, .org and .pdf files are", name)
	}
	return nil
}

// checkWay checks the folders on the way to a note, and returns the rules in force
// in its own.
func (f *Folder) checkWay(name string) (rules ignoreRules, err error) {
	if err := f.see(); err != nil {
		return nil, err
	}
	if rules, err = rules.with(f.root(), "."); err != nil {
		return nil, err
	}
	for i, r := range name {
		if r == '/' {
			if err := f.checkPart(f.root(), name[:i], name, name[:i], rules); err != nil {
				return nil, err
			}
			if rules, err = rules.with(f.root(), name[:i]); err != nil {
				return nil, err
			}
		}
	}
	return rules, nil
}

// checkPart checks a folder on the way to a note, or the note: at is where it is
// in root, part where in f.
func (f *Folder) checkPart(root *os.Root, at, name, part string, rules ignoreRules) error {
	info, err := root.Lstat(at)
	switch {
	case strings.HasPrefix(path.Base(part), "."):
		return fmt.Errorf("%s is hidden: names that begin with a dot are left alone", name)
	case rules.ignore(part, part != name):
		return fmt.Errorf("%s is ignored by %s", name, ignoreName)
	case slices.ContainsFunc(f.leftOut, func(out string) bool { return strings.EqualFold(out, part) }):
		return fmt.Errorf("%s is in a folder that belongs to LifeHub itself", name)
	case errors.Is(err, fs.ErrNotExist):
		return nil // the caller's open or create says so
	case err != nil:
		return reason(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s goes through a link, and links are not followed", name)
	}
	return nil
}

// CannotRead reports whether an error is the system's, and not for want of the
// file: it says nothing about the file, and may pass.
func CannotRead(err error) bool {
	var system syscall.Errno
	return errors.As(err, &system) && !errors.Is(err, fs.ErrNotExist)
}

// unreadable says why a file cannot be read as a note; "": it can.
func unreadable(name string, mode fs.FileMode, size int64) string {
	switch longest := kindOf(name).maxSize(); {
	case !mode.IsRegular():
		return "is not a regular file"
	case size > longest && IsPDF(name):
		return fmt.Sprintf("is too long: %d MiB, and PDFs are read up to %d MiB", size>>20, longest>>20)
	case size > longest:
		return fmt.Sprintf("is too long: %d MiB, and notes are read up to %d MiB", size>>20, longest>>20)
	}
	return ""
}

// reason names the note and the bare cause; the system call is of no use to the user.
func reason(name string, err error) error { return fmt.Errorf("%s: %w", name, cause(err)) }

func cause(err error) error {
	if wrapped := (*fs.PathError)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
