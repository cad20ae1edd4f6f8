package when

import (
	"fmt"
	"strings"

	"lifehub/internal/text"
)

// Found is a stretch of days that a search was about, and the user's own notes
// of it.
type Found struct {
	Days  string `json:"days"`           // in words, as on the day of the search: 16–22 November
	From  string `json:"from,omitempty"` // the first day, YYYY-MM-DD; "": no bound
	To    string `json:"to,omitempty"`   // the last day
	Notes int    `json:"notes"`          // how many are of it
	Only  bool   `json:"only,omitempty"` // notes of another time are no answer
	// ByDate: all of them were asked for, and those that were found are in order.
	ByDate bool    `json:"-"`
	Shown  int     `json:"shown,omitempty"` // how many of them are among what was found, where all were asked for
	List   []Entry `json:"list,omitempty"`  // the latest of them by date, where nothing but the time was asked for
}

// Entry is a note and the first of its days that are of a stretch.
type Entry struct {
	Date string `json:"date"`
	Path string `json:"path"`
}

func (f *Found) String() string {
	if f.lacks() {
		return fmt.Sprintf("%s · %d of %d not shown", f.counted(), f.Notes-f.Shown, f.Notes)
	}
	return f.counted()
}

func (f *Found) counted() string { return f.Days + " · " + text.Count(f.Notes, "note") }

// lacks reports whether notes that were asked for are not among what was found.
func (f *Found) lacks() bool { return f.Shown > 0 && f.Shown < f.Notes }

// Listed are the notes by date, as a Markdown list; "": there is none.
func (f *Found) Listed() string {
	if f == nil || len(f.List) == 0 {
		return ""
	}
	return f.counted() + ":\n" + f.list()
}

// Summary goes before passages that were found: where notes are not among them,
// all are listed.
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
