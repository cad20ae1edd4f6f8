package search

import (
	"database/sql"

	"lifehub/internal/when"
	"lifehub/llm"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// Vault is what a search looks into.
type Vault struct {
	DB   *sql.DB
	Dir  string // the notes folder
	Size int    // most tokens of a passage

	// Meaning returns the vectors and who makes those of a question, read on
	// first need; nil: there are none.
	Meaning func() (vectors.Collection, llm.Embedder, error)
}

// search is one search at work.
type search struct {
	in          Vault
	model       llm.Embedder // to be asked for the question's vector; nil: none, or not known yet
	db          *sql.DB
	query       Query
	filter      filter
	kept        []int64 // the notes that the filter keeps, sorted
	list        string  // the same for [inList]
	many        bool    // so many that looking whether a passage is of one costs less than looking at all of theirs
	share       float64 // of all notes
	texts       words.Texts
	words       wordQuery
	embedder    string // the one that took part; "": none
	why         string // why meaning took no part
	trouble     Trouble
	understood  float64        // share of the question that the model knows
	silent      bool           // no word that says what the question is about stands in the notes: meaning alone can answer
	substituted string         // words of the question that no note has, and those asked for in their place; "": none
	named       map[int64]bool // notes whose title or file name is the question, or that a link calls so
	linked      int64          // the first passage of the note that a link calls so; 0: there is none
	time        askedTime      // that the query is about, which a measurement does without
	ofTime      when.Found
	dated       bool // it asks for a time, and a note is of it
	undated     bool // it asks for a time and no more, and no note is of that time
}

func newSearch(in Vault, q Query) search {
	return search{in: in, db: in.DB, query: q, filter: q.filter(), texts: words.Texts{DB: in.DB}}
}

// candidate is a passage that may be shown.
type candidate struct {
	id      int64
	words   float64 // BM25; 0: none of the words
	letters float64 // how far those of the passage are like the question's, as near is
	near    float64 // how far the cosine stands out; 0.5 is what chance reaches among so many
	note    int64   // 0: not looked at closely
	boost   float64 // for a date that fits the question's
	days    passageDays
	dated   bool    // it is of the day, or of the time, that the question asks for
	share   float64 // of the words that say what the question is about, in the passage
	score   float64
}

// wordCandidates and nearCandidates are how many passages each side may
// propose; what is ranked below has no chance of the first ten.
const (
	wordCandidates = 200
	nearCandidates = 100
)

// Trouble is what somebody should see to who kept meaning from taking part.
type Trouble int

// The kinds of trouble.
const (
	None    Trouble = iota
	Away            // the place of the vectors cannot be used now: it may be tried again
	Resized         // the model makes vectors of another dimension: the notes are to be embedded again
)
