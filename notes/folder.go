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

	"lifehub/internal/files"
	"lifehub/notes/pdf"
)

// Folder is an open folder of notes, also called a vault. It is safe for
// concurrent use.
type Folder struct {
	dir     string
	current atomic.Pointer[os.Root]
	mu      sync.Mutex // guards old
	old     []*os.Root // handles of folders that were deleted and recreated; a reader may still use one
	writing sync.Mutex // held while writing, so that our own writers do not overwrite each other's changes
	leftOut []string   // excluded subfolders, with slashes
	seen    atomic.Pointer[Seen]
	silent  sync.Map      // errors of the folders in it that did not answer, by path
	sure    atomic.Bool   // the folder is the one that was seen
	pages   pages         // cached text of recently read PDFs
	copied  sync.Mutex    // guards copies
	copies  map[pair]bool // files that were compared at the last list
}

// Open opens the folder dir. The caller must close it.
func Open(dir string) (*Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open notes folder %s: %w", dir, err)
	}
	root, err := files.Promptly(func(func()) (*os.Root, error) {
		info, err := os.Stat(abs)
		if err == nil && !info.IsDir() {
			return nil, errors.New("it is a file, not a folder")
		}
		return os.OpenRoot(abs)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open notes folder %s: no such folder: %w", abs, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("open notes folder %s: %w", abs, cause(err))
	}
	f := &Folder{dir: abs}
	f.current.Store(root)
	return f, nil
}

// LeaveOut excludes subfolders: nothing in them is listed, read or written. It
// must be called before any other method.
func (f *Folder) LeaveOut(dirs ...string) {
	for _, dir := range dirs {
		if below, err := filepath.Rel(f.dir, dir); err == nil && filepath.IsLocal(below) && below != "." {
			f.leftOut = append(f.leftOut, filepath.ToSlash(below))
		}
	}
}

// ReadWith has PDFs and images read by reader. It must be called before any other
// method.
func (f *Folder) ReadWith(reader pdf.Reader) { f.pages.reader = reader }

// ReadsPictures reports whether images are notes of this folder: List returns them.
func (f *Folder) ReadsPictures() bool { return f.pages.reader.Tesseract != "" }

// Check returns an error if the folder does not exist, does not answer, or is not
// there now.
func (f *Folder) Check() error { return f.see() }

// Dir returns the folder's absolute path.
func (f *Folder) Dir() string { return f.dir }

// Close closes the folder, unless it does not answer.
func (f *Folder) Close() error {
	if err, ok := f.silent.Load("."); ok && files.StillSilent(err.(error)) {
		return nil // the end of the process closes it
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.root().Close()
	for _, root := range f.old {
		err = errors.Join(err, root.Close())
	}
	return err
}

// root returns the handle of the folder.
func (f *Folder) root() *os.Root { return f.current.Load() }

// see updates the handle if the folder was deleted and recreated. It returns an
// error if the folder does not exist, does not answer, or is not there now.
func (f *Folder) see() error {
	_, err := promptly(f, ".", func(func()) (struct{}, error) { return struct{}{}, f.look() })
	if err == nil && !f.sure.Load() {
		err = f.recognise()
	}
	return err
}

// promptly runs a call about a folder in f, unless the folder has left an earlier one
// unanswered. See [files.Promptly].
func promptly[T any](f *Folder, dir string, call func(beat func()) (T, error)) (value T, err error) {
	if was, ok := f.silent.Load(dir); ok && files.StillSilent(was.(error)) {
		return value, was.(error)
	}
	if value, err = files.Promptly(call); errors.Is(err, files.ErrSilent) {
		err = fmt.Errorf("%s: %w", filepath.Join(f.dir, filepath.FromSlash(dir)), err)
		f.silent.Store(dir, err)
	}
	return value, err
}

// look is see without a time limit.
func (f *Folder) look() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	opened, err := os.Open(f.dir)
	if err != nil {
		return fmt.Errorf("the notes folder %s is gone: %w", f.dir, cause(err))
	}
	defer opened.Close()
	now, err := opened.Stat()
	if err != nil {
		return fmt.Errorf("the notes folder %s is gone: %w", f.dir, cause(err))
	}
	if was, err := f.root().Stat("."); err != nil || !os.SameFile(was, now) {
		root, err := os.OpenRoot(f.dir)
		if err != nil {
			return fmt.Errorf("open the notes folder %s again: %w", f.dir, cause(err))
		}
		f.old = append(f.old, f.root())
		f.current.Store(root)
		f.sure.Store(false)
	}
	return nil
}

// List finds all notes, sorted by path, and files that look like notes but cannot
// be read as such. It needs one stat per file and reads no note. It returns only
// errors of the folder itself, which is fs.ErrNotExist if the folder is missing,
// and of ctx.
func (f *Folder) List(ctx context.Context) ([]Entry, []Problem, error) {
	entries, problems, _, err := f.Survey(ctx)
	return entries, problems, err
}

// Survey is like List, and also counts files that are not notes.
func (f *Folder) Survey(ctx context.Context) ([]Entry, []Problem, LeftOut, error) {
	if err := f.see(); err != nil {
		return nil, nil, nil, err
	}
	w := walk{
		ctx: ctx, folder: f, root: f.root(), slots: make(chan struct{}, runtime.GOMAXPROCS(0)-1),
		others: LeftOut{},
	}
	if err := w.all(); err != nil {
		return nil, nil, nil, fmt.Errorf("list notes in %s: %w", f.dir, err)
	}
	if len(w.entries) == 0 {
		if err := f.recognise(); err != nil {
			return nil, nil, nil, err
		}
	}
	slices.SortFunc(w.entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	f.markCopies(w.entries)
	slices.SortFunc(w.problems, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return w.entries, w.problems, w.others, nil
}

// Raw reads a note's bytes. For a file that is not Markdown, and therefore
// read-only, it returns the text extracted from it.
func (f *Folder) Raw(name string) ([]byte, Entry, error) { return f.Load(context.Background(), name) }

// Load is Raw with a context, because a PDF may take seconds.
func (f *Folder) Load(ctx context.Context, name string) ([]byte, Entry, error) {
	r := Reader{Folder: f}
	defer r.Close()
	return r.Load(ctx, name)
}

// Has reports whether there is a note at a path, or an image even if this folder
// does not read images. It reads no file.
func (f *Folder) Has(name string) bool {
	if f.check(name) != nil {
		return false
	}
	info, err := f.root().Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// Exists reports whether there is a file at a path in the folder, of any kind.
func (f *Folder) Exists(name string) bool {
	info, err := f.root().Lstat(name)
	return checkName(name) == nil && err == nil && info.Mode().IsRegular()
}

// HasFolder reports whether there is a folder at a path in the folder.
func (f *Folder) HasFolder(name string) bool {
	info, err := f.root().Lstat(name)
	return checkName(name) == nil && name != "." && err == nil && info.IsDir()
}

// Read reads and parses a note.
func (f *Folder) Read(name string) (Note, error) {
	raw, entry, err := f.Raw(name)
	if err != nil {
		return Note{}, err
	}
	return Parse(entry, raw), nil
}

// check rejects every path that List would not return: paths outside the folder,
// without the extension of a note, hidden, ignored, or reached through a symbolic
// link.
func (f *Folder) check(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	_, err := promptly(f, path.Dir(name), func(func()) (struct{}, error) {
		rules, err := f.checkWay(name)
		if err == nil {
			err = f.checkPart(f.root(), name, name, name, rules)
		}
		return struct{}{}, err
	})
	return err
}

func checkName(name string) error {
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\x00\\") {
		return fmt.Errorf("%q is not a path inside the notes folder", name)
	}
	if !IsNote(name) && !IsPicture(name) {
		return fmt.Errorf("%s is not a note: only .md, .markdown, .txt, .org, .canvas, .pdf, .png, .jpg, .jpeg and "+
			".gif files are", name)
	}
	return nil
}

// checkWay checks the folders on the path to a note, and returns the ignore rules
// that apply in the last one.
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

// checkPart checks one folder on the path to a note, or the note itself. at is
// its path in root, part its path in f.
func (f *Folder) checkPart(root *os.Root, at, name, part string, rules ignoreRules) error {
	info, err := root.Lstat(at)
	switch {
	case strings.HasPrefix(path.Base(part), "."):
		return fmt.Errorf("%s is hidden: files and folders that begin with a dot are skipped", name)
	case rules.ignore(part, part != name):
		return fmt.Errorf("%s is ignored by %s", name, ignoreName)
	case slices.ContainsFunc(f.leftOut, func(out string) bool { return strings.EqualFold(out, part) }):
		return fmt.Errorf("%s is in a folder that belongs to LifeHub itself", name)
	case errors.Is(err, fs.ErrNotExist):
		return nil // opening or creating the file reports it
	case err != nil:
		return reason(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s goes through a link, and links are not followed", name)
	}
	return nil
}

// CannotRead reports whether an error is one of the system, other than a missing
// file. It may be temporary and says nothing about the file's content.
func CannotRead(err error) bool {
	var system syscall.Errno
	return errors.As(err, &system) && !errors.Is(err, fs.ErrNotExist)
}

// unreadable returns why a file cannot be read as a note, or "".
func unreadable(name string, mode fs.FileMode, size int64) string {
	what, longest := "notes", kindOf(name).maxSize()
	switch kindOf(name) {
	case paged:
		what = "PDFs"
	case picture:
		what = "images"
	}
	switch {
	case !mode.IsRegular():
		return "is not a regular file"
	case size > longest:
		return fmt.Sprintf("is too long: %d MiB, and %s are read up to %d MiB", size>>20, what, longest>>20)
	}
	return ""
}

// reason adds the note's name to the cause of an error, without the system call,
// which does not help the user.
func reason(name string, err error) error { return fmt.Errorf("%s: %w", name, cause(err)) }

func cause(err error) error {
	if wrapped := (*fs.PathError)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
