package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"lifehub/agent"
	"lifehub/agent/tools/web"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/notes"
)

// change is a pending change of one note. It is computed once, shown, and then
// written unchanged. See docs/design/notes.md.
type change struct {
	folder *notes.Folder
	path   string
	was    []byte // nil if the note does not exist yet
	now    []byte // nil if the note is removed
	report string // message reported when it is done
	line   int    // first line of what was added; 0: not set
	memory bool   // the note is the memory file
	keeps  string // the new note's path before; "": it had none
	held   []byte // what it held there
	moved  bool   // the note is elsewhere afterwards, and that change reports it
}

// before returns what the note held before, at this or another path.
func (c change) before() []byte {
	if c.keeps != "" {
		return c.held
	}
	return c.was
}

func (c change) diff() string {
	from, to := c.path, c.path
	switch {
	case c.keeps != "":
		from = c.keeps
	case c.was == nil:
		from = agent.NoFile
	}
	if c.now == nil {
		to = agent.NoFile
	}
	before := string(c.before())
	// It cannot fail: the edits were computed from the text.
	diff, _ := udiff.ToUnified(from, to, before, udiff.Lines(before, string(c.now)), 1)
	return diff
}

// noteWriter is what the writing tools have in common.
type noteWriter struct {
	vaults
	changes changes // nil: changes cannot be undone
	own     *ownChanges
}

// changes stores the content of notes before they are changed. *store.Store
// implements it.
type changes interface {
	Changing(ctx context.Context, turn string, c agent.NoteChange) error
	// NoteChanges returns the changes of a turn, in order.
	NoteChanges(ctx context.Context, turn string) ([]agent.NoteChange, error)
	// Exchanges returns the turns of a conversation's current path, oldest first.
	Exchanges(ctx context.Context, conversation string) ([]agent.Exchange, error)
}

// announce saves how to undo a change.
func (d noteWriter) announce(ctx context.Context, c change) error {
	turn := agent.CallerOf(ctx).Turn
	if turn == "" || d.changes == nil {
		return nil
	}
	return d.changes.Changing(ctx, turn, agent.NoteChange{
		Vault: c.folder.Dir(), Path: c.path, Before: c.was, After: sumOf(c.now),
	})
}

func (c change) write() error {
	return c.folder.Together(func(w notes.Writing) error { return w.Write(c.path, c.was, c.now) })
}

// sameLines reports whether two changes remove and add the same lines under the
// same headings, possibly at other line numbers.
func (c change) sameLines(other change) bool {
	return c.folder == other.folder && c.path == other.path && c.lines() == other.lines()
}

// lines lists the removed and added lines, each with the headings above it.
func (c change) lines() string {
	headings := notes.Parse(notes.Entry{Path: c.path}, c.was).Headings
	var list strings.Builder
	for _, edit := range udiff.Lines(string(c.was), string(c.now)) {
		at := 1 + bytes.Count(c.was[:edit.Start], []byte("\n"))
		above := web.HeadingAt(headings, at)
		for line := range strings.Lines(string(c.was[edit.Start:edit.End])) {
			fmt.Fprintf(&list, "%q -%q\n", above, line)
		}
		for line := range strings.Lines(edit.New) {
			fmt.Fprintf(&list, "%q +%q\n", above, line)
		}
	}
	return list.String()
}

// planner computes what a call changes, without writing anything.
type planner[Args any] func(context.Context, Args) (change, error)

// newWriter returns a tool that changes one note; bounds are the arguments that
// determine which note.
func newWriter[Args any](d noteWriter, spec llm.ToolSpec, plan planner[Args], bounds ...string) agent.Tool {
	return agent.NewWriter(spec, writer[Args]{d, plan}, bounds...)
}

type writer[Args any] struct {
	noteWriter
	plan planner[Args]
}

// Prepare computes what a call changes.
func (w writer[Args]) Prepare(ctx context.Context, args Args) (agent.Change, error) {
	if err := printable(args); err != nil {
		return nil, err
	}
	call := &planned[Args]{w.plan, args}
	c, err := call.compute(ctx)
	if err != nil {
		return nil, err
	}
	return prepared{w.noteWriter, c, call}, nil
}

// planned is a call with its arguments.
type planned[Args any] struct {
	plan planner[Args]
	args Args
}

func (p *planned[Args]) compute(ctx context.Context) (change, error) {
	c, err := p.plan(ctx, p.args)
	if err == nil {
		err = cmp.Or(notes.Writable(c.path), c.folder.Protected(c.path))
	}
	return c, err
}

// printable returns an error if a text argument adds control characters, see
// [text.Controls]. What old_text holds was in the note before; it is itself not
// written, and may be what is to be removed.
func printable[Args any](args Args) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	var texts map[string]string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return fmt.Errorf("read the arguments: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if name == "old_text" {
			continue
		}
		if err := addsControls(name, texts[name], texts["old_text"]); err != nil {
			return err
		}
	}
	return nil
}

// addsControls returns an error if a text has control characters that the text
// it replaces has not.
func addsControls(name, fresh, old string) error {
	was := text.Controls(old)
	for _, r := range text.Controls(fresh) {
		at := slices.Index(was, r)
		if at < 0 {
			return fmt.Errorf("%s holds the control character U+%04X, which is not written: leave it out", name, r)
		}
		was = slices.Delete(was, at, at+1)
	}
	return nil
}

// prepared is the immutable change of one call.
type prepared struct {
	noteWriter
	shown change
	call  computer
}

// computer computes what a call changes in the current note. *planned is the real one.
type computer interface {
	compute(ctx context.Context) (change, error)
}

func (p prepared) Preview() agent.Preview {
	path := PathOf(p.vaults, p.shown.folder, p.shown.path)
	return agent.Preview{Path: path, Diff: p.shown.diff(), Disowned: p.shown.disowned()}
}

// disowned returns the lines of a note that named its source and no longer does.
func (c change) disowned() []string {
	note := notes.Entry{Path: c.path}
	if !notes.Parse(note, c.was).Untrusted || notes.Parse(note, c.now).Untrusted {
		return nil
	}
	return strings.Split(string(c.now), "\n")
}

// due returns the change as it can be made to a note that contains now: the one
// computed before, if the note is unchanged. If the user did not see that one, it
// is recomputed. So it is if only LifeHub's own permitted changes happened in
// between, and then must change the same lines under the same headings.
func (p prepared) due(ctx context.Context, now []byte) (change, error) {
	if same(now, p.shown.was) {
		return p.shown, nil
	}
	if unseen := agent.IsUnseen(ctx); unseen || p.own.leads(p.shown, now) {
		c, err := p.call.compute(ctx)
		ofThisNote := c.folder == p.shown.folder && c.path == p.shown.path && same(c.was, now)
		switch {
		case err == nil && ofThisNote && (unseen || c.sameLines(p.shown)):
			return c, nil
		case err != nil && unseen:
			return p.shown, agent.NothingDone{Err: err}
		}
	}
	return p.shown, agent.NothingDone{Err: fmt.Errorf(
		"%s was changed after this was shown; nothing was written: read the note again", p.shown.path)}
}

// content returns the current content of the note; nil if it does not exist.
func (c change) content() ([]byte, error) {
	now, _, err := c.folder.Raw(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && now == nil:
		now = []byte{}
	}
	return now, err
}

// ownChanges records the changes of notes that this process made or attempted,
// as the hash of the new content by that of the old. It is safe for concurrent
// use.
type ownChanges struct {
	mu    sync.Mutex
	after map[ownChange]string
}

// ownChange is a note and the SHA-256 of its content; "" if it did not exist.
type ownChange struct {
	folder     *notes.Folder
	path, held string
}

// maxOwn bounds the number of recorded changes.
const maxOwn = 4096

func (o *ownChanges) made(c change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.after == nil || len(o.after) >= maxOwn {
		o.after = map[ownChange]string{}
	}
	o.after[ownChange{c.folder, c.path, sumOf(c.was)}] = sum(c.now)
}

// leads reports whether LifeHub's own changes alone lead from the content at
// the time a change was shown to now.
func (o *ownChanges) leads(shown change, now []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := ownChange{shown.folder, shown.path, sumOf(shown.was)}
	for range len(o.after) {
		var ok bool
		if at.held, ok = o.after[at]; !ok || at.held == sumOf(now) {
			return ok
		}
	}
	return false
}

// sumOf returns the hash of a note; "" if it does not exist.
func sumOf(text []byte) string {
	if text == nil {
		return ""
	}
	return sum(text)
}

// mark is used after a crash to determine whether a change was made.
type mark struct {
	Vault  string `json:"vault"` // absolute path
	Path   string `json:"path"`
	Before string `json:"before,omitempty"` // SHA-256 of the note, in hex; "" if it did not exist
	After  string `json:"after"`

	Effect agent.Effect `json:"effect"` // of the change, if it was made
}

// Mark returns the hashes of the note before and after the change.
func (p prepared) Mark(ctx context.Context) (json.RawMessage, error) {
	c := p.shown
	if now, err := c.content(); err == nil { // otherwise Apply returns the error, as it does that of due
		c, _ = p.due(ctx, now)
	}
	return json.Marshal(p.mark(c))
}

func (d noteWriter) mark(c change) mark {
	return mark{Vault: c.folder.Dir(), Path: c.path, Before: sumOf(c.was), After: sumOf(c.now), Effect: d.effect(c)}
}

// Check compares the note with its hashes before and after the call. If it was
// changed since, the outcome is unknown.
func (w writer[Args]) Check(_ context.Context, raw json.RawMessage) (agent.Happened, []agent.Effect, error) {
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
		text, err := folder.File(m.Path)
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

// writeTries bounds how often a change is retried while other programs write to
// the same note.
const writeTries = 10

// Apply makes the change that was shown, or that is due if none was.
func (p prepared) Apply(ctx context.Context) (agent.Result, error) {
	c, reached := p.shown, false
	for try := 0; ; try++ {
		err := c.folder.Change(c.path, func(was []byte) (now []byte, err error) {
			reached = true
			if c, err = p.due(ctx, was); err != nil {
				return nil, err
			}
			p.own.made(c)
			return c.now, p.announce(ctx, c)
		})
		switch {
		case err == nil:
			agent.HostFrom(ctx).Did(p.effect(c))
			return agent.Result{Text: c.report}, nil
		case try < writeTries && (errors.Is(err, notes.ErrChanged) || errors.Is(err, fs.ErrExist)):
			continue
		}
		if happened, failed := p.check(p.mark(c)); !reached || failed == nil && happened == agent.HasNotHappened {
			err = agent.NothingDone{Err: err}
		}
		return agent.Result{}, err
	}
}

// effect returns the effect of a change, with the lines of its diff counted unless the note is removed.
func (d noteWriter) effect(c change) agent.Effect {
	if c.moved {
		return agent.Effect{}
	}
	e := agent.Effect{
		Kind: agent.NoteChanged, Path: PathOf(d.vaults, c.folder, c.path),
		Line: c.line, Lines: &agent.Lines{},
	}
	switch {
	case c.memory:
		e.Kind = agent.MemoryChanged
	case c.now == nil:
		return agent.Effect{Kind: agent.NoteRemoved, Path: e.Path}
	}
	for _, edit := range udiff.Lines(string(c.before()), string(c.now)) {
		e.Removed += len(slices.Collect(strings.Lines(string(c.before()[edit.Start:edit.End]))))
		e.Added += len(slices.Collect(strings.Lines(edit.New)))
	}
	return e
}
