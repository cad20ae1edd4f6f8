package rag

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lifehub/internal/rows"
	"lifehub/llm"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

const (
	defaultLimit = 5
	// wordCandidates and nearCandidates are how many passages each side may
	// propose; what is ranked below has no chance of the first ten.
	wordCandidates = 200
	nearCandidates = 100
)

// Vault is what a search looks into.
type Vault struct {
	DB      *sql.DB
	Dir     string   // the notes folder
	Size    int      // most tokens of a passage
	Letters *Letters // kept from one search to the next

	// Meaning returns the vectors and who makes those of a question, read on
	// first need; nil: there are none.
	Meaning func() (vectors.Collection, llm.Embedder, error)
}

// Outcome is what a search found.
type Outcome struct {
	Passages []Passage // best first; never nil
	Signals  Signals
	Embedder string // the one that took part; "": none
	Why      string // why meaning took no part; "": it did
	Trouble  Trouble
}

// Trouble is what somebody should see to who kept meaning from taking part.
type Trouble int

// The kinds of trouble.
const (
	None    Trouble = iota
	Away            // the place of the vectors cannot be used now: it may be tried again
	Resized         // the model makes vectors of another dimension: the notes are to be embedded again
)

// Run searches.
func Run(ctx context.Context, in Vault, q Query) (Outcome, error) {
	s := newSearch(in, q)
	candidates, err := s.candidates(ctx)
	if err != nil {
		return s.outcome(nil), err
	}
	passages, err := s.present(ctx, candidates)
	return s.outcome(passages), err
}

func (s *search) outcome(passages []Passage) Outcome {
	return Outcome{Passages: passages, Signals: s.seen, Embedder: s.embedder, Why: s.why, Trouble: s.trouble}
}

// search is one search at work.
type search struct {
	in       Vault
	model    llm.Embedder // to be asked for the question's vector; nil: none, or not known yet
	db       *sql.DB
	query    Query
	filter   filter
	texts    words.Texts
	words    wordQuery
	embedder string // the one that took part; "": none
	why      string // why meaning took no part
	trouble  Trouble
	seen     Signals
	named    map[int64]bool // notes whose title or file name is the question
	dated    bool           // it asks for a time, and a note bears that date
	undated  bool           // it asks for a time and no more, and no note is of that time
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
	dated   bool    // its note bears the day, or the time, that the question asks for
	pairs   float64 // share of the question's neighbouring words that it holds close together
	covered float64 // share of the question that it holds, by words
	score   float64
}

// candidates ranks what the words, the letters and the meaning of the question find.
func (s *search) candidates(ctx context.Context) ([]candidate, error) {
	var err error
	if s.words, err = readWords(ctx, s.db, s.query.Text); err != nil {
		return nil, err
	}
	if s.words.empty() {
		return s.newest(ctx)
	}
	if s.query.Side != MeaningAlone {
		if s.named, err = s.byName(ctx); err != nil {
			return nil, err
		}
	}
	byID := map[int64]*candidate{}
	if s.query.Side != MeaningAlone {
		if err := s.byWords(ctx, byID); err != nil {
			return nil, err
		}
		if err := s.rescore(ctx, byID); err != nil {
			return nil, err
		}
	}
	var w weights
	if w.meaning, err = s.byMeaning(ctx, byID); err != nil {
		return nil, err
	}
	if w.letters, err = s.byLetters(ctx, byID); err != nil {
		return nil, err
	}
	if err := s.liftDated(ctx, byID); err != nil {
		return nil, err
	}
	ranked := make([]candidate, 0, len(byID))
	for _, c := range byID {
		ranked = append(ranked, *c)
	}
	fuse(ranked, w, s.words.bound*(1+contextShare), s.leastStrength())
	s.seen = s.signals(ranked)
	slices.SortFunc(ranked, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	return ranked, nil
}

// newest lists notes by date, for a query of filters alone.
func (s *search) newest(ctx context.Context) ([]candidate, error) {
	if s.filter.where == "" {
		return nil, nil
	}
	var all []candidate
	for scan := range rows.Of(ctx, s.db, `SELECT min(p.id) FROM notes n JOIN passages p ON p.note = n.id
		WHERE n.id IN (SELECT id FROM notes WHERE `+s.filter.where+`)
		GROUP BY n.id ORDER BY n.date DESC, n.path LIMIT ?`, append(s.filter.args, s.query.AtMost())...) {
		var c candidate
		if err := scan(&c.id); err != nil {
			return nil, err
		}
		all = append(all, c)
		s.seen.Named = 1 // filters alone ask for just these
	}
	return all, nil
}

// byName finds the notes whose title, file name or alias the question is.
func (s *search) byName(ctx context.Context) (map[int64]bool, error) {
	query := `SELECT id FROM notes WHERE (title_key = ? OR name_key = ? OR id IN (SELECT note FROM aliases WHERE key = ?))`
	if s.filter.where != "" {
		query += ` AND ` + s.filter.where
	}
	named := map[int64]bool{}
	for scan := range rows.Of(ctx, s.db, query, append([]any{s.words.key, s.words.key, s.words.key}, s.filter.args...)...) {
		var id int64
		if err := scan(&id); err != nil {
			return nil, err
		}
		named[id] = true
	}
	return named, nil
}

// byWords asks the word index. When every word of the question is everywhere,
// ranking them all would tell nothing and take long: passages that hold the
// words in title or heading, then any that hold them all, are looked at.
func (s *search) byWords(ctx context.Context, found map[int64]*candidate) error {
	ranked := `SELECT rowid, -bm25(words, ` + columnWeights + `) AS score FROM words WHERE words MATCH ?`
	if s.words.common == "" {
		return s.ask(ctx, found, ranked, s.words.match, ` ORDER BY score DESC, rowid`)
	}
	any := `SELECT rowid, 1 FROM words WHERE words MATCH ?`
	return errors.Join(
		s.ask(ctx, found, any, "{title heading} : ("+s.words.common+")", ""),
		s.ask(ctx, found, any, s.words.common, ""))
}

// ask adds what one query of the word index finds.
func (s *search) ask(ctx context.Context, found map[int64]*candidate, query, match, order string) error {
	args := []any{match}
	if s.filter.where != "" {
		// The plus keeps SQLite from asking the word index once for each row.
		query += ` AND +rowid IN (SELECT id FROM passages WHERE note IN (SELECT id FROM notes WHERE ` + s.filter.where + `))`
		args = append(args, s.filter.args...)
	}
	limit := wordCandidates
	if order == "" {
		limit = rescored / 2 // all of them are looked at closely
	}
	for scan := range rows.Of(ctx, s.db, query+order+` LIMIT ?`, append(args, limit)...) {
		var c candidate
		if err := scan(&c.id, &c.words); err != nil {
			return err
		}
		found[c.id] = &c
	}
	return nil
}

// storedPassage is a passage as it is in the index.
type storedPassage struct {
	Passage
	candidate
	last        int64 // id of the last of the passages joined in it
	start, stop int
	listing     bool
	hashes      []uint64 // hashes of the text's words, sorted
}

// load reads candidates with their text, in their order.
func (s *search) load(ctx context.Context, candidates []candidate) ([]storedPassage, error) {
	args := make([]any, len(candidates))
	place := make(map[int64]int, len(candidates))
	for i, c := range candidates {
		args[i], place[c.id] = c.id, i
	}
	all := make([]storedPassage, len(candidates))
	for scan := range rows.Of(ctx, s.db, `SELECT p.id, p.note, p.start, p.stop, p.line, p.end_line, p.heading, p.listing,
		n.path, n.tags, n.date, n.outside FROM passages p JOIN notes n ON n.id = p.note WHERE p.id IN (`+marks(len(args))+`)`, args...) {
		var p storedPassage
		var id int64
		var tags string
		if err := scan(&id, &p.note, &p.start, &p.stop, &p.Line, &p.EndLine, &p.Heading, &p.listing,
			&p.Path, &tags, &p.Date, &p.Untrusted); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(tags), &p.Tags); err != nil {
			return nil, fmt.Errorf("read tags of %s: %w", p.Path, err)
		}
		if p.Tags == nil {
			p.Tags = []string{}
		}
		note := p.note
		p.candidate, p.last = candidates[place[id]], id
		p.note, p.Dated = note, p.dated
		p.Vault = s.in.Dir
		all[place[id]] = p
	}
	// A note may have been indexed again between the two questions.
	return slices.DeleteFunc(all, func(p storedPassage) bool { return p.Path == "" }), nil
}
