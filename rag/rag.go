// Package rag finds the passages of notes that answer a question. An [Index] of one
// vault consists of a keyword index in SQLite FTS5 and of vectors in a chromem-go
// collection. Both are caches of the notes, and are rebuilt from them when damaged. A
// [Library] searches several vaults at once. Start with [Open], [Index.Sync] and
// [Library.Search].
package rag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag/encoder"
	"lifehub/rag/search"
)

// Types of package search.
type (
	Query       = search.Query
	Side        = search.Side
	Passage     = search.Passage
	Signals     = search.Signals
	Verdict     = search.Verdict
	Missing     = search.Missing
	MissingWord = search.MissingWord
)

// The verdicts of a search; higher means that an answer is likelier.
const (
	NothingClose  = search.NothingClose
	Close         = search.Close
	OtherLanguage = search.OtherLanguage
	Likely        = search.Likely
)

// The sides of a search.
const (
	Both          = search.Both
	KeywordsAlone = search.KeywordsAlone
	SemanticAlone = search.SemanticAlone
)

// Coverage describes how complete the index is.
type Coverage struct {
	Indexed int `json:"indexed"`          // notes
	Total   int `json:"total"`            // notes in the folders
	Unread  int `json:"unread,omitempty"` // of Total: new or changed, and not read yet by the running sync
	// Unreadable counts the notes and folders that the last sync could not read. Their
	// earlier content is searched.
	Unreadable int `json:"unreadable,omitempty"`

	Age      float64 `json:"age_s"`    // seconds since the last sync
	Embedder string  `json:"embedder"` // its name, or "keyword search only: why"

	LeftOut notes.LeftOut `json:"left_out,omitempty"` // files of the folders that are not indexed, by kind
}

// Method describes how these notes are searched, in words for the user.
func (c Coverage) Method() string {
	switch {
	case c.Embedder == "" || strings.HasPrefix(c.Embedder, keywordsOnly):
		return cmp.Or(c.Embedder, "by keywords")
	case encoder.IsBuiltIn(c.Embedder):
		return "by keywords and the built-in encoder"
	}
	return "by keywords and " + c.Embedder
}

// Found is the result of a search.
type Found struct {
	Passages []Passage `json:"passages"` // best first; never nil
	Coverage Coverage  `json:"coverage"`
	// Time is the time in the query; nil: none.
	Time *when.Found `json:"time,omitempty"`
	// SemanticOnly reports that no note has a content word of the question, and that the
	// passages are the closest in meaning.
	SemanticOnly bool `json:"by_meaning,omitempty"`
	// Missing is what the question asks for and no note has.
	Missing       Missing `json:"missing,omitzero"`
	Close         bool    `json:"close,omitempty"`          // the passages are related, but hardly an answer
	OtherLanguage bool    `json:"other_language,omitempty"` // the question is in a language that no note is in
	// Answerable estimates how likely the notes have an answer, from 0 to 1.
	Answerable float64 `json:"-"`
	Signals    Signals `json:"-"`
	Verdict    Verdict `json:"-"`
}

// Declined reports whether the notes hardly have an answer. It is false if the question
// is in another language than theirs.
func (f Found) Declined() bool { return f.Verdict <= Close }

// Lacking says what the question asks for and no note has; "" if nothing.
func (f Found) Lacking() string {
	lacking := f.Missing.String()
	if lacking != "" && f.Coverage.Indexed < f.Coverage.Total {
		lacking += fmt.Sprintf(" %s of %s notes are read so far.", text.Thousands(f.Coverage.Indexed),
			text.Thousands(f.Coverage.Total))
	}
	return lacking
}

// Notice returns what the user should know about the passages; "" if they may answer the
// question.
func (f Found) Notice() string {
	switch {
	case f.OtherLanguage:
		return "your notes are in another language than the question; only names and numbers can match"
	case len(f.Passages) == 0:
		return "no matching passages"
	case f.Close:
		return "related passages, but not an answer"
	case f.Declined():
		return "nothing close; the nearest passages"
	case f.SemanticOnly:
		return "closest in meaning"
	}
	return ""
}

// Progress is the progress of a sync.
type Progress struct {
	Phase string // "read", "images", "embed"
	Done  int
	Total int
}

// Change is a change of the index by one note.
type Change struct {
	Path   string `json:"path"`
	What   string `json:"what"`             // added, changed, moved, removed, skipped
	From   string `json:"from,omitempty"`   // the old path of a moved note
	Reason string `json:"reason,omitempty"` // why it was skipped, or what is wrong with it
}

// Changes is the result of a sync.
type Changes struct {
	Notes    []Change `json:"notes"`
	Total    int      `json:"total"`              // notes in the folder
	Passages int      `json:"passages"`           // in the index now
	Embedded int      `json:"embedded"`           // texts sent to the embedder by this sync
	Rebuilt  string   `json:"rebuilt,omitempty"`  // why the index was rebuilt; "": it was not
	Warnings []string `json:"warnings,omitempty"` // what did not work, such as the embedder, for the user

	// files of the folder that are not indexed, by kind; nil: not counted
	LeftOut notes.LeftOut `json:"left_out,omitempty"`
	// Unreadable is as in Coverage.
	Unreadable int `json:"unreadable,omitempty"`
	Images     int `json:"images,omitempty"` // new or changed images that are not read yet
}

// Then returns the result of two syncs, of which next was the second.
func (c Changes) Then(next Changes) Changes {
	// next repeats them
	earlier := slices.DeleteFunc(slices.Clone(c.Notes), func(n Change) bool { return n.What == skipped })
	next.Notes = append(earlier, next.Notes...)
	slices.SortStableFunc(next.Notes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	next.Embedded += c.Embedded
	next.Rebuilt = cmp.Or(next.Rebuilt, c.Rebuilt)
	return next
}
