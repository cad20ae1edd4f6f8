package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/notes"
	"lifehub/notes/pdf"
	"lifehub/rag"
	"lifehub/tui/draw"
)

// Vault is a folder of notes and its index.
type Vault struct {
	Folder  *notes.Folder
	Index   *rag.Index  // nil if not opened
	Watched bool        // a watcher keeps the index in sync with the folder
	Behind  atomic.Bool // a sync was requested and has not finished
	// unchecked means that its notes were not compared with their files before the question.
	unchecked bool
	lost      atomic.Bool // it was not there when it was opened, so that only its index is of use
}

// Lost reports whether the folder was not there when it was opened, and is not now.
func (v *Vault) Lost() bool {
	if v.lost.Load() && v.Folder.Check() == nil {
		v.lost.Store(false)
	}
	return v.lost.Load()
}

// dirs returns the named folders or, if none is named, those of the settings.
func (a *App) dirs(named []string) []string {
	if len(named) > 0 {
		return named
	}
	return a.Settings.Notes
}

// findVaults returns the paths of the folders of the run, each once. A remembered folder that is
// missing, or does not answer, is a notice, not an error.
func (a *App) findVaults(named []string) (dirs []string, err error) {
	names := a.dirs(named)
	found, errs := make([]string, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names { // at once, since each may take seconds not to answer
		all.Go(func() { found[i], errs[i] = settings.VaultDir(AtHome(name)) }) // the settings may have it with ~/
	}
	all.Wait()
	for i, dir := range found {
		switch {
		case errs[i] != nil && len(named) > 0:
			return nil, settings.UsageError{Err: errs[i]}
		case errs[i] != nil:
			a.missVault(names[i], errs[i])
		case len(named) == 0 && a.leadsElsewhere(names[i], dir):
			a.missVault(names[i], fmt.Errorf("it is a link to %s now; `lifehub index %s` adds that folder", dir, dir))
		case !slices.Contains(dirs, dir):
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// leadsElsewhere reports whether a remembered folder, which has an index, was replaced by a link.
func (a *App) leadsElsewhere(name, dir string) bool {
	abs, err := filepath.Abs(AtHome(name))
	if err != nil || abs == dir {
		return false
	}
	return rag.Exists(a.Paths.Index(abs))
}

func (a *App) missVault(name string, err error) {
	slog.Warn("remembered notes", "folder", name, "error", err)
	a.MissingVaults = append(a.MissingVaults, fmt.Sprintf("the notes in %s: %v", name, err))
}

// openVaults opens the folders of the run. One that cannot be opened is an error if it was named.
func (a *App) openVaults(dirs []string, flags RunFlags) error {
	for _, dir := range dirs {
		err := a.openVault(dir, !flags.NoIndex)
		if err != nil && len(flags.Notes) > 0 {
			return settings.UsageError{Err: err}
		}
		if err != nil {
			a.missVault(dir, err)
		}
	}
	return nil
}

func (a *App) OpenVault(dir string) error { return a.openVault(dir, true) }

func (a *App) openVault(dir string, indexed bool) error {
	if below, err := filepath.Rel(a.Paths.Config, dir); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("open notes folder %s: it contains LifeHub's own settings, which no tool may change", dir)
	}
	folder, err := notes.Open(dir)
	if err != nil {
		return err
	}
	own := []string{a.Paths.Config, a.Paths.Data, a.Paths.State}
	folder.LeaveOut(own...)
	rag.Expect(folder, a.Paths.Index(dir))
	reader := pdf.Reader{Tesseract: a.Tesseract(), Cache: a.Paths.Compiled()}
	folder.ReadWith(reader)
	var index *rag.Index
	if indexed {
		index, err = rag.Open(a.Paths.Index(dir), rag.Options{
			Vault: dir, LeaveOut: own,
			Chroma: OpenChroma(a.Settings), PDF: reader,
		})
	}
	if err != nil {
		folder.Close()
		return err
	}
	v := &Vault{Folder: folder, Index: index}
	if err := folder.Check(); errors.Is(err, notes.ErrNotThere) {
		v.lost.Store(true)
		a.unread = append(a.unread, err.Error())
	}
	a.mu.Lock()
	a.Vaults = append(a.Vaults, v)
	a.mu.Unlock()
	a.Servers.RootsChanged() // servers that are still starting ask for the roots themselves
	return nil
}

// Tesseract returns the path of the program that reads scanned PDFs and images, or "" if it is not
// installed or the settings switch it off.
func (a *App) Tesseract() string {
	if a.Settings.OCR == "off" {
		return ""
	}
	path, err := exec.LookPath("tesseract")
	if err != nil {
		return ""
	}
	return path
}

// OpenVaults returns the vaults open now.
func (a *App) OpenVaults() []*Vault {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Clone(a.Vaults)
}

// Library returns a library that searches all open vaults.
func (a *App) Library() rag.Library {
	var l rag.Library
	for _, v := range a.OpenVaults() {
		l.Indexes = append(l.Indexes, v.Index)
	}
	return l
}

// Search finds passages in all open vaults. Notes that are found and were not compared with their files are, and if
// they have changed, it searches again.
func (a *App) Search(ctx context.Context, q rag.Query) (rag.Found, error) {
	found, err := a.Library().Search(ctx, q)
	if err != nil {
		return found, err
	}
	changed := false
	for _, v := range a.OpenVaults() {
		if !v.unchecked {
			continue
		}
		var paths []string
		for _, p := range found.Passages {
			if p.Vault == v.Folder.Dir() && !slices.Contains(paths, p.Path) {
				paths = append(paths, p.Path)
			}
		}
		changes, err := v.Index.SyncPaths(ctx, v.Folder, a.Embedder(ctx), paths)
		changed = changed || err == nil && len(changes.Notes) > 0
	}
	if !changed {
		return found, nil
	}
	return a.Library().Search(ctx, q)
}

// Related returns the notes related to a note, which is given by path, file name or title.
func (a *App) Related(ctx context.Context, name string, limit int) (rag.Related, error) {
	byRules := gate.Hiding(ctx, a.Rules.List(), nil)
	folder, path, err := tools.FindNote(byRules, a.Folders(), name)
	if err != nil {
		return rag.Related{}, err
	}
	for _, v := range a.OpenVaults() {
		if v.Folder != folder {
			continue
		}
		found := limit
		if agent.HidesNotes(byRules) || agent.HidesNotes(ctx) { // some results may be hidden below, so ask for all
			found = math.MaxInt
		}
		without, err := tools.Hidden(byRules, a.Folders)
		if err != nil {
			return rag.Related{}, err
		}
		r, err := v.Index.Related(ctx, path, found, without[folder.Dir()]...)
		all := r.Notes
		r.Notes = all[:0]
		for _, n := range all {
			if full := tools.PathOf(a.Folders, folder, n.Path); len(r.Notes) < limit &&
				!agent.HidesNote(byRules, full) && !agent.HidesNote(ctx, full) {
				r.Notes = append(r.Notes, n)
			}
		}
		return r, err
	}
	return rag.Related{}, fmt.Errorf("%s: its folder was closed", path)
}

// Hides reports whether a rule hides a note. A hidden note cannot be opened by name or link either.
func (a *App) Hides(folder *notes.Folder, below string) bool {
	ctx := gate.Hiding(context.Background(), a.Rules.List(), nil)
	return agent.HidesNotes(ctx) && agent.HidesNote(ctx, tools.PathOf(a.Folders, folder, below))
}

// ReadNote reads the note with a path, file name, title or alias, resolved like a link in the file
// from unless that is "". It returns the note's file and the line of the heading or block after #, the
// number after :, or 0 if there is none.
func (a *App) ReadNote(ctx context.Context, name, from string) (note notes.Note, file string, line int, err error) {
	note, file, line, err = a.readNote(ctx, name, from)
	if at := numbered.FindStringSubmatch(name); errors.Is(err, fs.ErrNotExist) && at != nil {
		note, file, _, err = a.readNote(ctx, at[1], from)
		line, _ = strconv.Atoi(at[2]) // at most nine digits, so it cannot fail
	}
	return note, file, line, err
}

// numbered matches a name with a line number or a PDF page, as sources are named.
var numbered = regexp.MustCompile(`^(.+?)(?::| p\. ?)([1-9]\d{0,8})$`)

func (a *App) readNote(ctx context.Context, name, from string) (note notes.Note, file string, line int, err error) {
	ctx = gate.Hiding(ctx, a.Rules.List(), nil)
	name, place, _ := strings.Cut(name, "#")
	if name == "" {
		name = from
	}
	var folder *notes.Folder
	var found string
	if from != "" {
		folder, found, err = tools.FindNote(ctx, a.Folders(),
			filepath.Join(filepath.Dir(from), filepath.FromSlash(name)))
	}
	switch {
	case from == "":
		folder, found, err = tools.FindTyped(ctx, a.Folders(), name)
	case errors.Is(err, fs.ErrNotExist):
		folder, found, err = tools.FindNote(ctx, a.Folders(), name)
	}
	if err == nil {
		note, err = folder.Read(found)
	}
	if err != nil {
		return note, "", 0, err
	}
	for _, h := range note.Headings {
		if line == 0 && place != "" && text.Key(h.Text) == text.Key(strings.TrimSpace(place[strings.LastIndex(place,
			"#")+1:])) {
			line = h.Line
		}
	}
	if block, ok := strings.CutPrefix(place, "^"); ok {
		line = 1 + slices.IndexFunc(strings.Split(note.Text, "\n"),
			func(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), "^"+block) })
	}
	return note, filepath.Join(folder.Dir(), filepath.FromSlash(found)), line, nil
}

// RelatedHead returns the heading of a list of related notes, to be followed by the note's path.
func RelatedHead(r rag.Related) string {
	head := draw.Count(len(r.Notes), "note")
	if r.Why != "" {
		head += ", by keyword only (" + r.Why + "),"
	}
	return head + " related to"
}

// noteFolders returns the directories of the open vaults.
func (a *App) noteFolders() []string {
	var dirs []string
	for _, folder := range a.Folders() {
		dirs = append(dirs, folder.Dir())
	}
	return dirs
}

// Folders returns the open folders that are there.
func (a *App) Folders() (folders []*notes.Folder) {
	for _, v := range a.OpenVaults() {
		if !v.Lost() {
			folders = append(folders, v.Folder)
		}
	}
	return folders
}

// NeedsNotes returns an error if there is no folder of notes to work on.
func (a *App) NeedsNotes() error {
	switch {
	case len(a.OpenVaults()) > 0:
		return nil
	case len(a.MissingVaults) > 0:
		return errors.New(strings.Join(a.MissingVaults, "; "))
	}
	return settings.UsageError{Err: ErrNoNotes}
}

// ErrNoNotes is the error of a command that needs notes.
var ErrNoNotes = errors.New("no notes yet; `lifehub index DIR` adds a folder, --notes DIR uses one for this run")

// Sync updates the index of one vault.
func (a *App) Sync(ctx context.Context, v *Vault, progress func(rag.Progress)) (rag.Changes, error) {
	return v.Index.Sync(ctx, v.Folder, a.Embedder(ctx), progress)
}

// Reread returns the lines of a source as they are on disk now. A source without a vault is looked
// up in all of them.
func (a *App) Reread(s agent.Source) (string, bool) {
	if text, ok := a.rereadFact(s); ok {
		return text, true
	}
	for _, v := range a.OpenVaults() {
		folder := v.Folder
		if s.Vault != "" && folder.Dir() != s.Vault {
			continue
		}
		note, err := folder.Read(s.Path)
		if err != nil {
			continue
		}
		lines := strings.Split(note.Text, "\n")
		if s.Line >= 1 && s.Line <= len(lines) {
			return strings.Join(lines[s.Line-1:min(s.EndLine, len(lines))], "\n"), true
		}
	}
	return "", false
}

// Whole implements [turn.Library], for a model on this machine.
func (w library) Whole(ctx context.Context, most int64) ([]agent.Source, error) {
	folders := w.app.Folders()
	if s := w.app.Provider.State(); s.Model == "" || s.Remote != "" || len(folders) == 0 ||
		len(folders) < len(w.app.OpenVaults()) {
		return nil, nil
	}
	const bytesPerNote = 64 // at least, with its number and path
	if c, err := w.app.Library().Coverage(ctx); err != nil || int64(c.Indexed) > most/bytesPerNote {
		return nil, err // a large vault is not listed for each message
	}
	return tools.Whole(ctx, w.app.Folders, most)
}
