package agent

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// EffectKind is the kind of effect that a call had, or that it failed to have.
type EffectKind string

// Kinds of effects, in display order.
const (
	Unchanged    EffectKind = "unchanged"     // Tool should have changed something, but nothing was changed
	WithoutNotes EffectKind = "without_notes" // no call was made, and a search of the notes found no match

	NoteChanged   EffectKind = "note"     // lines of the note at Path were changed
	NoteRemoved   EffectKind = "removed"  // the note at Path was removed
	MemoryChanged EffectKind = "memory"   // lines of the memory file at Path were changed
	ArtifactSaved EffectKind = "artifact" // Version of the document Name was saved
	MailSent      EffectKind = "mail"     // Count mails were sent To
	ToolCalled    EffectKind = "called"   // Count calls of Tool; only its Server knows the effects
	Unknown       EffectKind = "unknown"  // Tool was started, but its effect is unknown
	RequestSent   EffectKind = "sent"     // Count requests of Tool to Host, which change nothing
)

var effectKinds = []EffectKind{
	Unchanged, WithoutNotes, NoteChanged, MemoryChanged, NoteRemoved,
	ArtifactSaved, MailSent, ToolCalled, Unknown, RequestSent,
}

// Effect is something that a call did, or should have done but did not. Which
// fields are set depends on the kind.
type Effect struct {
	Kind   EffectKind `json:"kind"`
	Tool   string     `json:"tool,omitempty"`
	Server string     `json:"server,omitempty"` // "" for a built-in tool
	Host   string     `json:"host,omitempty"`
	// as in [Source.Path]; with several vaults it may begin with the vault's name
	Path    string   `json:"path,omitempty"`
	Line    int      `json:"-"` // first line that was added to the note, when it was added; 0: not known
	*Lines           // for notes and memory; nil otherwise
	Name    string   `json:"name,omitempty"`
	Version int      `json:"version,omitempty"`
	To      []string `json:"to,omitempty"` // addresses
	Count   int      `json:"count,omitempty"`
}

// Lines counts the lines of a change.
type Lines struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// NothingDone is the error of a call that is known to have had no effect.
type NothingDone struct{ Err error }

func (e NothingDone) Error() string { return e.Err.Error() }
func (e NothingDone) Unwrap() error { return e.Err }

// Effects are the distinct effects of a turn. nil if unknown, because the turn
// was saved by a version without effects.
type Effects []Effect

// Sum returns effects in display order. Effects that differ only in count or
// size are merged.
func Sum(all []Effect) Effects {
	effects := Effects{}
	for _, e := range all {
		at := slices.IndexFunc(effects, e.same)
		if at < 0 {
			if e.Lines != nil {
				e.Lines = &Lines{e.Added, e.Removed}
			}
			effects = append(effects, e)
			continue
		}
		have := &effects[at]
		have.Count += e.Count
		have.Version = max(have.Version, e.Version)
		if e.Lines != nil {
			have.Added, have.Removed = have.Added+e.Added, have.Removed+e.Removed
		}
		for _, to := range e.To {
			if !slices.Contains(have.To, to) {
				have.To = append(slices.Clip(have.To), to)
			}
		}
	}
	slices.SortStableFunc(effects, func(a, b Effect) int { // calls end in any order
		return cmp.Or(slices.Index(effectKinds, a.Kind)-slices.Index(effectKinds, b.Kind),
			cmp.Compare(a.String(), b.String()))
	})
	return effects
}

// same reports whether two effects differ at most in count or size.
func (e Effect) same(other Effect) bool {
	return e.Kind == other.Kind && e.Tool == other.Tool && e.Server == other.Server && e.Host == other.Host &&
		e.Path == other.Path && e.Name == other.Name && (e.Lines == nil) == (other.Lines == nil)
}

// OrUnchanged adds Unchanged effects if tools should have changed something and
// nothing was changed. A call whose outcome is unknown may have.
func (effects Effects) OrUnchanged(tools []string) Effects {
	if len(tools) == 0 || effects.Changed() {
		return effects
	}
	for i, tool := range tools {
		effects = slices.Insert(effects, i, Effect{Kind: Unchanged, Tool: tool})
	}
	return effects
}

// Changed reports whether something was changed, here or where mail or a call went, or may have been.
func (effects Effects) Changed() bool {
	return slices.ContainsFunc(effects, func(e Effect) bool {
		return e.Kind != Unchanged && e.Kind != WithoutNotes && e.Kind != RequestSent
	})
}

// ChangesNote reports whether a note is not what it was.
func (e Effect) ChangesNote() bool { return e.Kind == NoteChanged || e.Kind == NoteRemoved }

// Warns reports whether a requested change was not made.
func (effects Effects) Warns() bool {
	return slices.ContainsFunc(effects, func(e Effect) bool { return e.Kind == Unchanged })
}

// String returns the last line of a turn, such as "changed tasks.md (+1)",
// "! nothing was changed" or "changed nothing · 2 searches sent to duckduckgo.com";
// "" for nil. Its names are untrusted text.
func (effects Effects) String() string {
	if effects == nil {
		return ""
	}
	var changed, removed, others, hosts []string
	sent := map[string]int{}
	marked := false
	for _, e := range effects {
		switch e.Kind {
		case Unchanged:
		case WithoutNotes:
			marked = true
		case NoteChanged, MemoryChanged:
			changed = append(changed, e.Path+e.Lines.String())
		case NoteRemoved:
			removed = append(removed, e.Path)
		case RequestSent:
			noun := "request"
			if e.Tool == WebSearch {
				noun = "search"
			}
			sent[noun] += e.Count
			if !slices.Contains(hosts, e.Host) {
				hosts = append(hosts, e.Host)
			}
		default:
			others = append(others, e.String())
		}
	}
	if len(removed) > 0 {
		others = slices.Insert(others, 0, "removed "+strings.Join(removed, ", "))
	}
	switch {
	case len(changed) > 0:
		others = slices.Insert(others, 0, "changed "+strings.Join(changed, ", "))
	case effects.Warns():
		others = []string{"! nothing was changed"}
	case len(others) == 0:
		others = []string{"changed nothing"}
	}
	if marked {
		others = slices.Insert(others, 0, "answered without your notes")
	}
	var counts []string
	for _, noun := range []string{"search", "request"} {
		if sent[noun] > 0 {
			counts = append(counts, counted(sent[noun], noun))
		}
	}
	if len(counts) > 0 {
		others = append(others, strings.Join(counts, " and ")+" sent to "+few(hosts))
	}
	return strings.Join(others, " · ")
}

// String describes one effect.
func (e Effect) String() string {
	tool := e.Tool
	if e.Server != "" {
		tool += " (" + e.Server + ")"
	}
	switch e.Kind {
	case NoteChanged, MemoryChanged:
		return "changed " + e.Path + e.Lines.String()
	case NoteRemoved:
		return "removed " + e.Path
	case ArtifactSaved:
		return fmt.Sprintf("saved %s, version %d", e.Name, e.Version)
	case MailSent:
		return counted(e.Count, "mail") + " sent to " + few(e.To)
	case ToolCalled:
		if e.Count > 1 {
			tool += fmt.Sprintf(" %d times", e.Count)
		}
		return "called " + tool
	case RequestSent:
		return counted(e.Count, "request") + " sent to " + e.Host
	case Unchanged:
		return tool + ": nothing was changed"
	case WithoutNotes:
		return "answered without your notes"
	}
	return tool + ": outcome unknown"
}

// String returns a form such as " (+1 -2)".
func (l *Lines) String() string {
	var parts []string
	if l != nil && l.Added > 0 {
		parts = append(parts, fmt.Sprintf("+%d", l.Added))
	}
	if l != nil && l.Removed > 0 {
		parts = append(parts, fmt.Sprintf("-%d", l.Removed))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, " ") + ")"
}

// counted returns a number and the noun in singular or plural.
func counted(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Source returns the changed note as a source.
func (e Effect) Source() Source { return Source{Path: e.Path, Line: 1, EndLine: math.MaxInt} }

// few returns the first names of a list, and the number of further ones.
func few(names []string) string {
	const most = 3
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
