package when

import (
	"fmt"
	"strings"

	"lifehub/internal/text"
)

// Found describes the period that a search asked for, and the user's own notes
// dated in it.
type Found struct {
	Days  string `json:"days"`           // in words, relative to the day of the search: 16–22 November
	From  string `json:"from,omitempty"` // first day, YYYY-MM-DD; empty: unbounded
	To    string `json:"to,omitempty"`   // last day, YYYY-MM-DD
	Notes int    `json:"notes"`          // number of notes in the period
	Only  bool   `json:"only,omitempty"` // notes of other periods are no answer
	// ByDate means that all notes of the period were requested, so results are in
	// order of date.
	ByDate bool    `json:"-"`
	Shown  int     `json:"shown,omitempty"` // number of them among the results, if all were requested
	List   []Entry `json:"list,omitempty"`  // the latest of them by date, if the question names only a period
}

// Entry is a note and its first day within the period.
type Entry struct {
	Date string `json:"date"`
	Path string `json:"path"`
	// Vault is the absolute folder of its vault.
	Vault string `json:"-"`
}

func (f *Found) String() string {
	if f.lacks() {
		return fmt.Sprintf("%s · %d of %d not shown", f.counted(), f.Notes-f.Shown, f.Notes)
	}
	return f.counted()
}

func (f *Found) counted() string { return f.Days + " · " + text.Count(f.Notes, "note") }

// lacks reports whether some of the requested notes are not among the results.
func (f *Found) lacks() bool { return f.Shown > 0 && f.Shown < f.Notes }

// Listed returns the notes by date as a Markdown list, or "".
func (f *Found) Listed() string {
	if f == nil || len(f.List) == 0 {
		return ""
	}
	return f.counted() + ":\n" + f.list()
}

// Summary introduces the passages found. If these do not cover all notes of the
// period, it lists all.
func (f *Found) Summary() string {
	if f.lacks() && len(f.List) > 0 {
		return f.String() + ":\n" + f.list()
	}
	return f.String()
}

func (f *Found) list() string {
	var b strings.Builder
	if more := f.Notes - len(f.List); more > 0 {
		fmt.Fprintf(&b, "\n- %d earlier", more)
	}
	for _, n := range f.List {
		fmt.Fprintf(&b, "\n- %s `%s`", n.Date, strings.ReplaceAll(text.OneLine(n.Path), "`", "'"))
	}
	return b.String()
}
