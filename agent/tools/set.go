package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/notes"
)

// set are pending changes of several notes that are made as one: all, or none, also if LifeHub is killed meanwhile.
// See docs/design/notes.md.
type set struct {
	changes  []change
	path, to string // the note that the user named, and its path afterwards; "" if it is none
	says     string // what happens, above the diffs
	report   string // message reported when it is done
	disowned []string
}

// sets stores sets of changes. *store.Store implements it.
type sets interface {
	ChangingSet(ctx context.Context, turn string, list []agent.NoteChange) (set int64, err error)
	CloseSet(ctx context.Context, set int64, made bool) error
	OpenSets(ctx context.Context) ([]agent.ChangeSet, error)
}

// setWriter is what the tools have in common that change several notes.
type setWriter[Args any] struct {
	noteWriter
	sets sets
	work setPlanner[Args]
}

// setPlanner computes what a call changes, without writing anything. mover,
// merger and retagger are the real ones.
type setPlanner[Args any] interface {
	plan(ctx context.Context, args Args) (set, error)
	places(ctx context.Context, args Args) map[string]string // the notes that the arguments name; nil: none
}

// Places returns the notes that the arguments name.
func (w setWriter[Args]) Places(ctx context.Context, args Args) map[string]string {
	return w.work.places(ctx, args)
}

func (w setWriter[Args]) Prepare(ctx context.Context, args Args) (agent.Change, error) {
	if w.sets == nil {
		return nil, errors.New("several notes are changed as one only in a conversation that is saved: ask again " +
			"without --no-save")
	}
	if err := printable(args); err != nil {
		return nil, err
	}
	s, err := w.work.plan(ctx, args)
	if err != nil {
		return nil, err
	}
	for _, c := range s.changes {
		if err := c.folder.Protected(c.path); err != nil {
			return nil, err
		}
	}
	return preparedSet{w.noteWriter, w.sets, s}, nil
}

// Check compares the notes with their hashes before and after the call.
func (w setWriter[Args]) Check(_ context.Context, raw json.RawMessage) (agent.Happened, []agent.Effect, error) {
	return w.checkAll(raw)
}

// checkAll reports whether all marked changes were made, or none.
func (d noteWriter) checkAll(raw json.RawMessage) (agent.Happened, []agent.Effect, error) {
	var marks []mark
	if err := json.Unmarshal(raw, &marks); err != nil {
		return agent.MayHaveHappened, nil, fmt.Errorf("read what the notes were like: %w", err)
	}
	var effects []agent.Effect
	counts := map[agent.Happened]int{}
	for _, m := range marks {
		happened, err := d.check(m)
		if err != nil {
			return agent.MayHaveHappened, nil, err
		}
		counts[happened]++
		if m.Effect.Kind != "" {
			effects = append(effects, m.Effect)
		}
	}
	for _, happened := range []agent.Happened{agent.HasHappened, agent.HasNotHappened} {
		if counts[happened] == len(marks) {
			return happened, effects, nil
		}
	}
	return agent.MayHaveHappened, effects, nil
}

// preparedSet is the immutable set of one call.
type preparedSet struct {
	noteWriter
	sets  sets
	shown set
}

func (p preparedSet) Preview() agent.Preview {
	preview := agent.Preview{Path: p.shown.path, To: p.shown.to, Text: p.shown.says, Disowned: p.shown.disowned}
	for _, c := range p.shown.changes {
		if c.now != nil { // what happens to a note that is removed is said above the diffs
			preview.Diff += c.diff()
		}
	}
	return preview
}

func (p preparedSet) Mark(context.Context) (json.RawMessage, error) {
	var marks []mark
	for _, c := range p.shown.changes {
		marks = append(marks, p.mark(c))
	}
	return json.Marshal(marks)
}

// Apply makes the changes as shown. If one of the notes was changed since, none is made.
func (p preparedSet) Apply(ctx context.Context) (agent.Result, error) {
	var folders []*notes.Folder
	for _, c := range p.shown.changes {
		folders = append(folders, c.folder)
	}
	err := together(folders, func(writing map[*notes.Folder]notes.Writing) error {
		for _, c := range p.shown.changes {
			if now, err := c.onDisk(); err != nil || !same(now, c.was) {
				return agent.NothingDone{Err: cmp.Or(err, fmt.Errorf("%s was changed after this was shown; nothing "+
					"was written", c.path))}
			}
		}
		return p.write(context.WithoutCancel(ctx), writing)
	})
	if err != nil {
		return agent.Result{}, err
	}
	for _, c := range p.shown.changes {
		if e := p.effect(c); e.Kind != "" {
			agent.HostFrom(ctx).Did(e)
		}
	}
	return agent.Result{Text: p.shown.report}, nil
}

// write makes the changes, or takes those made back.
func (p preparedSet) write(ctx context.Context, writing map[*notes.Folder]notes.Writing) error {
	var list []agent.NoteChange
	for _, c := range p.shown.changes {
		list = append(list, agent.NoteChange{Vault: c.folder.Dir(), Path: c.path, Before: c.was, After: sumOf(c.now)})
	}
	id, err := p.sets.ChangingSet(ctx, agent.CallerOf(ctx).Turn, list)
	if err != nil {
		return agent.NothingDone{Err: err}
	}
	for i, c := range p.shown.changes {
		if err = writing[c.folder].Write(c.path, c.was, c.now); err != nil {
			_, left := takeSetBack(writing, agent.ChangeSet{ID: id, Changes: list[:i+1]}, false)
			if len(left) > 0 {
				return fmt.Errorf("%w; these notes could not be restored: %s", err, strings.Join(left, ", "))
			}
			return agent.NothingDone{Err: errors.Join(err, p.sets.CloseSet(ctx, id, false))}
		}
		if c.keeps != "" {
			writing[c.folder].Keep(c.path, c.keeps)
		}
	}
	_ = p.sets.CloseSet(ctx, id, true) // else the next start finds that all was made
	return nil
}

// together locks folders, in the order of their paths.
func together(folders []*notes.Folder, write func(map[*notes.Folder]notes.Writing) error) error {
	folders = slices.Clone(folders)
	slices.SortFunc(folders, func(a, b *notes.Folder) int { return strings.Compare(a.Dir(), b.Dir()) })
	writing := map[*notes.Folder]notes.Writing{}
	var lock func(rest []*notes.Folder) error
	lock = func(rest []*notes.Folder) error {
		if len(rest) == 0 {
			return write(writing)
		}
		return rest[0].Together(func(w notes.Writing) error {
			writing[rest[0]] = w
			return lock(rest[1:])
		})
	}
	return lock(slices.Compact(folders))
}

// onDisk returns the bytes of the note's file; nil if there is none.
func (c change) onDisk() ([]byte, error) {
	now, err := c.folder.File(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return now, err
}

// FinishSets ends the sets of changes that were interrupted when LifeHub was killed: one of which every change was made
// stays, any other is taken back. A note that was changed since is left as it is; left names those. A set of folders
// that are not open waits for them.
func FinishSets(ctx context.Context, folders []*notes.Folder, kept sets) (left []string, err error) {
	open, err := kept.OpenSets(ctx)
	for _, s := range open {
		var of []*notes.Folder
		for _, c := range s.Changes {
			at := slices.IndexFunc(folders, func(f *notes.Folder) bool { return f.Dir() == c.Vault })
			if at < 0 {
				of = nil
				break
			}
			of = append(of, folders[at])
		}
		if of == nil {
			continue
		}
		err = errors.Join(err, together(of, func(writing map[*notes.Folder]notes.Writing) error {
			// Whoever makes a set holds the lock until it is closed.
			now, err := kept.OpenSets(ctx)
			if err != nil || !slices.ContainsFunc(now, func(other agent.ChangeSet) bool { return other.ID == s.ID }) {
				return err
			}
			made, lost := takeSetBack(writing, s, true)
			left = append(left, lost...)
			return kept.CloseSet(context.WithoutCancel(ctx), s.ID, made || len(lost) > 0)
		}))
	}
	return left, err
}

// takeSetBack restores the notes of a set, the last changed first; with keep, a set of which every change was made
// stays. A note is only written if its bytes are those that the set wrote; left are those with other bytes, and those
// that could not be written.
func takeSetBack(writing map[*notes.Folder]notes.Writing, s agent.ChangeSet, keep bool) (made bool, left []string) {
	var back []change
	made = keep
	for _, c := range s.Changes {
		for folder := range writing {
			if folder.Dir() != c.Vault {
				continue
			}
			b := change{folder: folder, path: c.Path, now: c.Before}
			var err error
			b.was, err = b.onDisk()
			made = made && err == nil && sumOf(b.was) == c.After
			switch {
			case err != nil, sumOf(b.was) != c.After && !same(b.was, b.now):
				left = append(left, c.Path)
			case !same(b.was, b.now):
				back = append(back, b)
			}
		}
	}
	if made {
		return true, nil
	}
	for _, b := range slices.Backward(back) {
		if err := writing[b.folder].Write(b.path, b.was, b.now); err != nil {
			left = append(left, b.path)
		}
	}
	return false, left
}
