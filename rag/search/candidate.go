package search

import (
	"lifehub/internal/files"
	"lifehub/internal/when"
	"lifehub/llm"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// Vault is the index of one folder of notes.
type Vault struct {
	DB      files.Querier
	Dir     string // the notes folder
	Size    int    // most tokens of a passage
	Meaning Meaning
}

// Meaning makes the passages of a vault comparable by what they mean.
type Meaning interface {
	// Vectors returns the vectors of the passages and the embedder that made them,
	// which are opened on first use; nil if there are none.
	Vectors() (vectors.Collection, llm.Embedder, error)
}

// search is the state of one search.
type search struct {
	in           Vault
	model        llm.Embedder // nil: none, or not opened yet
	db           files.Querier
	query        Query
	filter       filter
	matching     []int64 // notes that match the filter, sorted
	list         string  // the same for [inList]
	many         bool    // so many that testing each hit costs less than reading all of their passages
	share        float64 // of all notes
	texts        words.Texts
	words        wordQuery
	asked        asked
	nearest      float64 // cosine of the closest passage; 0: none is known
	embedder     string  // the name of the one that was used; "": none
	why          string  // why no vectors were used
	unavailable  bool    // because they cannot be read now: a later sync tries again
	semanticOnly bool    // no note has a content word of the question, so that only the vectors rank
	missing      Missing
	named        map[int64]bool // notes whose title, alias or file name, or a link to which, is the question
	linked       int64          // first passage of the note that a link names; 0: none
	time         askedTime      // the time in the question
	ofTime       when.Found
	dated        bool // the question asks for a time, and a note is of it
	undated      bool // the question asks for nothing but a time, and no note is of it
}

func newSearch(in Vault, q Query) search {
	return search{in: in, db: in.DB, query: q, filter: q.filter(in.Dir), texts: words.Texts{DB: in.DB}}
}

// candidate is a passage that may be shown.
type candidate struct {
	id       int64
	keywords float64 // BM25; 0: none of the words
	guessed  float64 // how much of it is of guesses
	ngrams   float64 // the cosine of n-grams; 0: not compared
	copied   bool    // its note is a sync program's copy of another
	near     float64 // the cosine of the embedder, from 0 for the least of the candidates to 1 for the greatest
	boost    float64 // for a date that fits the question
	days     passageDays
	dated    bool    // it is of the time that the question asks for
	rescored bool    // its keywords were scored again, from its text
	share    float64 // of the content words of the question, in the passage
	score    float64
}

// wordCandidates and nearCandidates bound the passages that keywords and vectors
// propose. Those ranked below have no chance to be among the first ten.
const (
	wordCandidates = 200
	nearCandidates = 100
)
