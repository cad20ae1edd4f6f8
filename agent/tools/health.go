package tools

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
)

// Finding is something in the notes that a person may want to repair.
type Finding struct {
	Kind FindingKind `json:"kind"`
	Path string      `json:"path"`
	Line int         `json:"line,omitempty"`
	Text string      `json:"text,omitempty"` // the link's target, the title, the task, or why a file cannot be read
	// Near are notes: the one that a dead link may mean, the others of the title, the one that is copied.
	Near []string `json:"near,omitempty"`
}

// FindingKind is what is wrong.
type FindingKind string

// The kinds of findings, in the order in which they are listed.
const (
	DeadLink   FindingKind = "dead_link"
	SameTitle  FindingKind = "same_title"
	Copy       FindingKind = "copy"    // of a sync program
	Overdue    FindingKind = "overdue" // a task, for longer than a month
	Orphan     FindingKind = "orphan"  // no link leads to or from it, where most notes are linked
	Unreadable FindingKind = "unreadable"
)

// FindingKinds are all kinds, in order.
var FindingKinds = []FindingKind{DeadLink, SameTitle, Copy, Overdue, Orphan, Unreadable}

// longOverdue is after how many days an overdue task is a finding.
const longOverdue = 30

// Health examines the notes of all folders, except those that are hidden. It reads every note and changes
// nothing.
func Health(ctx context.Context, folders func() []*notes.Folder, today when.Day) ([]Finding, error) {
	v := vaults(folders)
	places, err := v.list(ctx)
	if err != nil {
		return nil, err
	}
	all, err := v.all(ctx)
	if err != nil {
		return nil, err
	}
	found := []Finding{}
	for _, folder := range folders() {
		in := func(p place) bool { return p.folder != folder }
		e := examined{v: v, folder: folder, places: slices.DeleteFunc(slices.Clone(places), in)}
		for _, p := range all { // a link to a hidden note is not dead
			if p.folder == folder {
				e.names.Add(p.Entry.Path)
			}
		}
		if err := e.read(ctx); err != nil {
			return nil, err
		}
		_, problems, err := folder.List(ctx)
		if err != nil {
			return nil, err
		}
		found = slices.Concat(found, e.links(), e.titles(), e.copiesAndTasks(today), e.unread)
		for _, p := range problems {
			if !notes.IsImageReason(p.Reason) {
				found = append(found, Finding{Kind: Unreadable, Path: PathOf(v, folder, p.Path), Text: p.Reason})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(FindingKinds, a.Kind), slices.Index(FindingKinds, b.Kind)),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
		)
	})
	return found, nil
}

// examined is a folder being examined.
type examined struct {
	v      vaults
	folder *notes.Folder
	places []place
	names  notes.Names
	notes  []notes.Note // without text
	unread []Finding
}

func (e *examined) read(ctx context.Context) error {
	for _, p := range e.places {
		if err := ctx.Err(); err != nil {
			return err
		}
		if notes.IsPaged(p.Entry.Path) {
			continue
		}
		note, err := p.read(ctx)
		if err != nil {
			e.unread = append(e.unread, Finding{Kind: Unreadable, Path: e.at(p.Entry.Path), Text: notes.Reason(err)})
			continue
		}
		note.CopyOf = p.Entry.CopyOf
		e.names.Add(note.Path, slices.Concat(note.Titles(), note.IDs)...)
		note.Text = "" // a vault may be larger than memory
		e.notes = append(e.notes, note)
	}
	return nil
}

// at returns the path of a note as tools name it.
func (e *examined) at(note string) string { return PathOf(e.v, e.folder, note) }

// fileEnd matches the extension of a file that is no note.
var fileEnd = regexp.MustCompile(`^\.[A-Za-z][A-Za-z0-9]{1,4}$`)

// links finds links that lead nowhere, and notes without any.
func (e *examined) links() (found []Finding) {
	linked := map[string]bool{}
	for _, note := range e.notes {
		for _, link := range note.Links {
			to := e.names.Of(note.Path, link)
			ext := path.Ext(link.Target)
			_, isDay := notes.DateIn(link.Target)
			switch {
			case to != "" && to != note.Path:
				linked[to], linked[note.Path] = true, true
			case to != "", isDay, note.CopyOf != "":
			case fileEnd.MatchString(ext) && !notes.IsText("x"+ext): // a file that need not be a note
			default:
				f := Finding{Kind: DeadLink, Path: e.at(note.Path), Line: link.Line, Text: link.Target}
				if near := e.nearest(link.Target); near != "" {
					f.Near = []string{e.at(near)}
				}
				found = append(found, f)
			}
		}
	}
	if 2*len(linked) < len(e.notes) { // these notes are not linked, as a rule
		return found
	}
	for _, note := range e.notes {
		if !linked[note.Path] && note.Date.IsZero() && note.CopyOf == "" {
			found = append(found, Finding{Kind: Orphan, Path: e.at(note.Path), Text: note.Title})
		}
	}
	return found
}

// nearest returns the note whose name is most like the target of a link, "" if none is.
func (e *examined) nearest(target string) (best string) {
	_, alike := near(e.places, target)
	if len(alike) > 0 {
		return alike[0].Entry.Path
	}
	wanted := path.Base(notes.Key(target))
	least := 1 + len([]rune(wanted))/4 // a typo in four characters
	for _, note := range e.notes {
		for _, name := range append(note.Titles(), note.Path) {
			if d := text.Distance(path.Base(notes.Key(name)), wanted); d < least {
				best, least = note.Path, d
			}
		}
	}
	return best
}

// titles finds notes with the same title.
func (e *examined) titles() (found []Finding) {
	by := map[string][]notes.Note{}
	var order []string
	for _, note := range e.notes {
		if key := text.Key(note.Title); note.CopyOf == "" && note.Date.IsZero() && key != "" {
			if len(by[key]) == 0 {
				order = append(order, key)
			}
			by[key] = append(by[key], note)
		}
	}
	for _, key := range order {
		if len(by[key]) < 2 {
			continue
		}
		f := Finding{Kind: SameTitle, Path: e.at(by[key][0].Path), Text: by[key][0].Title}
		for _, other := range by[key][1:] {
			f.Near = append(f.Near, e.at(other.Path))
		}
		found = append(found, f)
	}
	return found
}

// copiesAndTasks finds copies of sync programs, and tasks that are long overdue.
func (e *examined) copiesAndTasks(today when.Day) (found []Finding) {
	for _, note := range e.notes {
		if note.CopyOf != "" {
			found = append(found, Finding{
				Kind: Copy, Path: e.at(note.Path), Text: note.Title,
				Near: []string{e.at(note.CopyOf)},
			})
			continue
		}
		for _, t := range note.Tasks {
			if day := t.Day(); t.Open() && !day.IsZero() && today.Since(day) > longOverdue {
				said := strings.TrimSpace(t.Text) + " (" + day.String() + ")"
				found = append(found, Finding{Kind: Overdue, Path: e.at(note.Path), Line: t.Line, Text: said})
			}
		}
	}
	return found
}
