package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"lifehub/agent"
	"lifehub/agent/tools/excerpt"
	"lifehub/llm"
	"lifehub/notes"
)

// change is what a writing tool is about to do to one note. It is worked out
// once, shown, and then written just as it is.
// Why: docs/design/notes.md.
type change struct {
	folder *notes.Folder
	path   string
	was    []byte // nil: there is no such note yet
	now    []byte
	said   string // what is told when it is done
	memory bool   // the note is the memory file
}

func (c change) diff() string {
	from := c.path
	if c.was == nil {
		from = "/dev/null"
	}
	diff, _ := udiff.ToUnified(from, c.path, string(c.was), udiff.Lines(string(c.was), string(c.now)), 1) // edits made of a text fit it
	return diff
}

// noteWriter is what a writing tool works at.
type noteWriter struct {
	vaults
	changes changes // nil: a change can't be taken back
}

// changes keeps what notes held before they are changed. *store.Store is the
// real one.
type changes interface {
	Changing(ctx context.Context, turn string, c agent.NoteChange) error
}

// write makes a change, once it is kept how to take it back.
func (d noteWriter) write(ctx context.Context, c change) error {
	if turn := agent.OriginOf(ctx).Turn; turn != "" && d.changes != nil {
		if err := d.changes.Changing(ctx, turn, agent.NoteChange{Vault: c.folder.Dir(), Path: c.path, Before: c.was, After: sum(c.now)}); err != nil {
			return err
		}
	}
	return c.write()
}

func (c change) write() error {
	if c.was == nil {
		return c.folder.Create(c.path, string(c.now))
	}
	return c.folder.Replace(c.path, c.was, c.now)
}

// sameLines reports whether two changes take away and add the same lines under
// the same headings, be it further up or down.
func (c change) sameLines(other change) bool {
	return c.folder == other.folder && c.path == other.path && c.lines() == other.lines()
}

// lines lists what is taken away and added, each line with the headings above it.
func (c change) lines() string {
	headings := notes.Parse(notes.Entry{Path: c.path}, c.was).Headings
	var list strings.Builder
	for _, edit := range udiff.Lines(string(c.was), string(c.now)) {
		at := 1 + bytes.Count(c.was[:edit.Start], []byte("\n"))
		above := excerpt.HeadingAt(headings, at)
		for line := range strings.Lines(string(c.was[edit.Start:edit.End])) {
			fmt.Fprintf(&list, "%q -%q\n", above, line)
		}
		for line := range strings.Lines(edit.New) {
			fmt.Fprintf(&list, "%q +%q\n", above, line)
		}
	}
	return list.String()
}

// newWriter makes a tool that changes one note. plan works the change out and
// writes nothing; bounds are the arguments that say which note.
func newWriter[Args comparable](v noteWriter, spec llm.ToolSpec, plan func(context.Context, Args) (change, error), bounds ...string) agent.Tool {
	writable := func(ctx context.Context, args Args) (change, error) {
		c, err := plan(ctx, args)
		if err == nil {
			err = notes.Writable(c.path)
		}
		return c, err
	}
	return agent.NewWriter(spec, &writer[Args]{noteWriter: v, plan: writable, shown: map[Args]change{}}, bounds...)
}

// writer remembers what it showed, so that it writes that and nothing else.
type writer[Args comparable] struct {
	noteWriter
	plan  func(context.Context, Args) (change, error)
	mu    sync.Mutex
	shown map[Args]change // those that wait to be made
}

// maxShown bounds the changes that were shown and then never made.
const maxShown = 64

// Preview works out what a call would change, and shows it.
func (w *writer[Args]) Preview(ctx context.Context, args Args) (agent.Preview, error) {
	c, err := w.plan(ctx, args)
	if err != nil {
		return agent.Preview{}, err
	}
	w.remember(args, c)
	return agent.Preview{Path: PathOf(w.vaults, c.folder, c.path), Diff: c.diff()}, nil
}

// Place is the note that a call would change.
func (w *writer[Args]) Place(ctx context.Context, args Args) (string, bool) {
	c, err := w.plan(ctx, args)
	if err != nil {
		return "", false
	}
	w.remember(args, c) // what the rules judge is what is written
	return PathOf(w.vaults, c.folder, c.path), true
}

func (w *writer[Args]) remember(args Args, c change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.shown) >= maxShown {
		clear(w.shown)
	}
	w.shown[args] = c
}

// mark is what tells after a crash whether a change was made.
type mark struct {
	Vault  string `json:"vault"` // absolute folder
	Path   string `json:"path"`
	Before string `json:"before,omitempty"` // SHA-256 of the note, in hex; "": there was none
	After  string `json:"after"`

	Effect agent.Effect `json:"effect"` // if it was made
}

// Mark keeps what the note holds before a call and what it will hold after.
func (w *writer[Args]) Mark(ctx context.Context, args Args) (json.RawMessage, error) {
	w.mu.Lock()
	c, shown := w.shown[args]
	w.mu.Unlock()
	// An earlier step of the plan may have changed the note since this was
	// shown; then the same lines go to another place.
	fresh, err := w.plan(ctx, args)
	switch {
	case err == nil && (!shown || fresh.sameLines(c)):
		c = fresh
		w.remember(args, c)
	case !shown:
		return nil, err
	}
	return json.Marshal(w.mark(c))
}

func (d noteWriter) mark(c change) mark {
	m := mark{Vault: c.folder.Dir(), Path: c.path, After: sum(c.now), Effect: d.effect(c)}
	if c.was != nil {
		m.Before = sum(c.was)
	}
	return m
}

// Check compares the note with what it held before the call and should hold
// after. A note that was changed since tells nothing.
func (w *writer[Args]) Check(_ context.Context, raw json.RawMessage) (agent.Happened, []agent.Effect, error) {
	var m mark
	if err := json.Unmarshal(raw, &m); err != nil {
		return agent.MayHaveHappened, nil, fmt.Errorf("read what the note was like: %w", err)
	}
	happened, err := w.check(m)
	return happened, []agent.Effect{m.Effect}, err
}

func (d noteWriter) check(m mark) (agent.Happened, error) {
	for _, folder := range d.vaults() {
		if folder.Dir() != m.Vault {
			continue
		}
		is := ""
		text, _, err := folder.Raw(m.Path)
		if err == nil {
			is = sum(text)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return agent.MayHaveHappened, err
		}
		switch is {
		case m.After:
			return agent.HasHappened, nil
		case m.Before:
			return agent.HasNotHappened, nil
		}
	}
	return agent.MayHaveHappened, nil
}

func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// writeTries bounds how often a change is tried while others write the same note.
const writeTries = 10

// Run makes the change that was shown.
func (w *writer[Args]) Run(ctx context.Context, args Args) (agent.Result, error) {
	w.mu.Lock()
	c, shown := w.shown[args]
	delete(w.shown, args)
	w.mu.Unlock()
	if !shown {
		var err error
		if c, err = w.plan(ctx, args); err != nil {
			return agent.Result{}, agent.NothingDone{Err: err}
		}
	}
	was := c
	err := w.write(ctx, c)
	for try := 1; shown && try < writeTries && (errors.Is(err, notes.ErrChanged) || errors.Is(err, fs.ErrExist)); try++ {
		c, err = w.again(ctx, args, was)
	}
	if err != nil {
		if happened, failed := w.check(w.mark(c)); failed == nil && happened == agent.HasNotHappened {
			err = agent.NothingDone{Err: err}
		}
		return agent.Result{}, err
	}
	agent.HostFrom(ctx).Did(w.effect(c))
	return agent.Result{Text: c.said}, nil
}

// again writes a change to a note that was changed since it was shown, if it
// still takes away and adds just the lines that were shown, under the headings
// they were shown under. Nothing of what was written in between is lost.
func (w *writer[Args]) again(ctx context.Context, args Args, was change) (change, error) {
	c, err := w.plan(ctx, args)
	if err == nil && c.was != nil && !bytes.Equal(c.was, was.was) && c.sameLines(was) {
		return c, w.write(ctx, c)
	}
	return was, agent.NothingDone{Err: fmt.Errorf("%s was changed after this was shown, and it would no longer change the same lines under the same headings; nothing was written: read the note again", was.path)}
}

// effect is what a change does, by the lines of its diff.
func (d noteWriter) effect(c change) agent.Effect {
	e := agent.Effect{Kind: agent.NoteChanged, Path: PathOf(d.vaults, c.folder, c.path), Lines: &agent.Lines{}}
	if c.memory {
		e.Kind = agent.MemoryChanged
	}
	for _, edit := range udiff.Lines(string(c.was), string(c.now)) {
		e.Removed += len(slices.Collect(strings.Lines(string(c.was[edit.Start:edit.End]))))
		e.Added += len(slices.Collect(strings.Lines(edit.New)))
	}
	return e
}
