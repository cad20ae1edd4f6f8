// Package rag finds the passages of notes that answer a question. An [Index]
// holds one vault: words in SQLite FTS5, meaning in a chromem-go collection.
// Both are caches of the notes, and are rebuilt from them when damaged. A
// [Library] searches several vaults at once. Start with [Open],
// [Index.Sync] and [Library.Search].
package rag

import (
	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag/search"
)

// What a search is asked, and what it finds.
type (
	Query   = search.Query
	Side    = search.Side
	Passage = search.Passage
	Signals = search.Signals
	Verdict = search.Verdict
)

// What a search says of the notes; the higher, the likelier they hold an answer.
const (
	NothingClose  = search.NothingClose
	Close         = search.Close
	OtherLanguage = search.OtherLanguage
	Likely        = search.Likely
)

// The sides of a search.
const (
	Both         = search.Both
	WordsAlone   = search.WordsAlone
	MeaningAlone = search.MeaningAlone
)

// Coverage says how far the index can be trusted.
type Coverage struct {
	Indexed int `json:"indexed"`          // notes
	Total   int `json:"total"`            // notes in the folders
	Unread  int `json:"unread,omitempty"` // of Total: new or changed, and not read yet by the sync under way
	// Unreadable are the notes, and the folders of unknown notes, that the last sync
	// could not read. What was read of them before is searched.
	Unreadable int `json:"unreadable,omitempty"`

	Age      float64 `json:"age_s"`    // seconds since the last sync
	Embedder string  `json:"embedder"` // its name, or "keyword search only: why"

	LeftOut notes.LeftOut `json:"left_out,omitempty"` // files of the folders that are not in it, by kind
}

// Found is the outcome of a search.
type Found struct {
	Passages []Passage `json:"passages"` // best first; never nil
	Coverage Coverage  `json:"coverage"`
	// Time is the one that the query is about; nil: none.
	Time *when.Found `json:"time,omitempty"`
	// ByMeaning: no note has a word that says what the question is about, and the
	// passages are the closest in meaning.
	ByMeaning bool `json:"by_meaning,omitempty"`
	// Substituted are the words of the question that no note has, and those of the
	// notes that were searched for in their place: "blod → blood".
	Substituted   string `json:"substituted,omitempty"`
	Close         bool   `json:"close,omitempty"`          // the passages are near to the question, but hardly on it
	OtherLanguage bool   `json:"other_language,omitempty"` // the question is in one that no note is in: words cannot tell
	// Answerable is how likely it is, from 0 to 1, that the notes hold an
	// answer to the question at all.
	Answerable float64 `json:"-"`
	Signals    Signals `json:"-"` // what Answerable was made of
	Verdict    Verdict `json:"-"` // what Answerable means in this vault
}

// Declined reports whether the notes hardly hold an answer. Of a question in
// another language than theirs that cannot be told.
func (f Found) Declined() bool { return f.Verdict <= Close }

// Says tells a person what to make of the passages; "": they answer.
func (f Found) Says() string {
	switch {
	case f.OtherLanguage:
		return "your notes are in another language than the question: only names and numbers can be compared"
	case len(f.Passages) == 0:
		return "your notes don't say: no passage fits"
	case f.Close:
		return "your notes don't say: these passages are close, but not on this"
	case f.Declined():
		return "your notes don't say: nothing is close, these are the nearest passages"
	case f.ByMeaning:
		return "closest in meaning: no note has these words"
	}
	return ""
}

// Progress is how far a sync is.
type Progress struct {
	Phase string // "read", "embed"
	Done  int
	Total int
}

// Change is what a sync did to one note.
type Change struct {
	Path   string `json:"path"`
	What   string `json:"what"`             // added, changed, moved, removed, skipped
	From   string `json:"from,omitempty"`   // the old path of a moved note
	Reason string `json:"reason,omitempty"` // why it was skipped, or what is wrong with it
}

// Changes is the outcome of a sync.
type Changes struct {
	Notes    []Change `json:"notes"`
	Total    int      `json:"total"`              // notes in the folder
	Passages int      `json:"passages"`           // in the index now
	Embedded int      `json:"embedded"`           // texts sent to the embedder by this sync
	Rebuilt  string   `json:"rebuilt,omitempty"`  // why the index was rebuilt; "": it was not
	Warnings []string `json:"warnings,omitempty"` // what did not work, in plain words: the embedder, a lock held elsewhere

	LeftOut notes.LeftOut `json:"left_out,omitempty"` // files of the folder that are not in the index, by kind; nil: not counted
	// Unreadable is that of Coverage.
	Unreadable int `json:"unreadable,omitempty"`
}
