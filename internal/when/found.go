package when

import (
	"fmt"
	"strings"

	"lifehub/internal/text"
)

// Found is a stretch of days that a search was about, and the user's own notes
// of it.
type Found struct {
	Days  string  `json:"days"`           // in words, as on the day of the search: 16–22 November
	From  string  `json:"from,omitempty"` // the first day, YYYY-MM-DD; "": no bound
	To    string  `json:"to,omitempty"`   // the last day
	Notes int     `json:"notes"`          // how many are of it
	Only  bool    `json:"only,omitempty"` // notes of another time are no answer
	List  []Entry `json:"list,omitempty"` // the latest of them by date, where nothing but the time was asked for
}

// Entry is a note and the first of its days that are of a stretch.
type Entry struct {
	Date string `json:"date"`
	Path string `json:"path"`
}

func (f *Found) String() string {
	return f.Days + " · " + text.Count(f.Notes, "note")
}

// Listed are the notes by date, as a Markdown list; "": there is none.
func (f *Found) Listed() string {
	if f == nil || len(f.List) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(f.String() + ":\n")
	if more := f.Notes - len(f.List); more > 0 {
		fmt.Fprintf(&b, "\n- %d earlier", more)
	}
	for _, n := range f.List {
		fmt.Fprintf(&b, "\n- %s `%s`", n.Date, strings.ReplaceAll(text.OneLine(n.Path), "`", "'"))
	}
	return b.String()
}
