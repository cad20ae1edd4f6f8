// Package search ranks the passages of one vault for one question.
package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"lifehub/internal/files"
	"lifehub/internal/when"
)

// Outcome is the result of a search.
type Outcome struct {
	Passages []Passage // best first; never nil
	Signals  Signals
	Verdict  Verdict
	Embedder string // the name of the one that was used; "": none
	Why      string // why no vectors were used; "": they were
	// Unavailable means that the vectors cannot be read now: try again later.
	Unavailable bool
	Time        *when.Found // the time in the query; nil: none
	Missing     Missing     // what the question asks for and no note has
}

// Run searches a vault, whose DB is db. It ranks the notes as they are at one moment, whatever is
// synced meanwhile.
func Run(ctx context.Context, db *sql.DB, in Vault, q Query) (Outcome, error) {
	in.DB = db
	unread := q.Talk.Unread(q.Text, q.today())
	if strings.ContainsAny(unread, "0123456789") { // its numbers are no words to search for
		q.Text = strings.Replace(q.Text, unread, " ", 1)
	}
	q.Tags = slices.Clone(q.Tags)
	for i, tag := range q.Tags {
		var err error
		if q.Tags[i], err = asWritten(ctx, db, tag); err != nil {
			return Outcome{}, err
		}
	}
	s := newSearch(in, q)
	s.time = q.time()
	if err := s.understand(ctx); err != nil {
		return Outcome{}, err
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Outcome{}, err
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	s.db, s.texts.DB = tx, tx
	candidates, signals, err := s.candidates(ctx)
	passages := []Passage{}
	// otherwise no note is of the time, and no other is an answer
	if s.undated = s.undated && signals.verdict() != Likely; err == nil && !s.undated {
		passages, err = s.present(ctx, candidates)
	}
	out := Outcome{Passages: passages, Signals: signals, Embedder: s.embedder, Why: s.why, Unavailable: s.unavailable}
	if s.missing.NotRead = unread; s.ofTime.Notes == 0 {
		s.missing.Time = s.ofTime.Days
	}
	out.Missing = s.missing
	if s.undated {
		out.Signals.Undated = true
	}
	if s.undated || !s.time.Span.IsZero() && (s.ofTime.Notes > 0 || len(passages) == 0) {
		out.Time = &s.ofTime
	}
	out.Passages = Arrange(passages, q, out.Time)
	if len(passages) > 0 {
		out.Verdict = signals.verdict()
	} else if signals.UnknownLanguage {
		out.Verdict = OtherLanguage
	}
	return out, err
}

// understand reads the question, and asks the embedder for its vector. While a
// transaction reads, nobody can write, and a server may take seconds.
func (s *search) understand(ctx context.Context) (err error) {
	if s.words, err = readWords(ctx, s.db, s.query.Text); err != nil {
		return err
	}
	if err := s.narrow(ctx); err != nil {
		return err
	}
	if err := s.dropTime(ctx); err != nil {
		return err
	}
	if err := s.lack(ctx); err != nil || s.words.empty() {
		return err
	}
	return s.ask(ctx)
}

// candidates ranks the passages that keywords and vectors find.
func (s *search) candidates(ctx context.Context) ([]candidate, Signals, error) {
	if err := s.narrow(ctx); err != nil { // by the notes as they are now
		return nil, Signals{}, err
	}
	var err error
	if s.words.empty() {
		return s.newest(ctx)
	}
	if s.query.Side != SemanticAlone {
		if s.named, err = s.byName(ctx); err != nil {
			return nil, Signals{}, err
		}
		if err := s.byLink(ctx); err != nil {
			return nil, Signals{}, err
		}
	}
	asksForNewest := s.asksForNewest()
	byID := map[int64]*candidate{}
	if s.query.Side != SemanticAlone {
		if err := s.byKeywords(ctx, byID); err != nil {
			return nil, Signals{}, err
		}
		if err := s.rescore(ctx, byID); err != nil {
			return nil, Signals{}, err
		}
	}
	s.semanticOnly = s.noKeywordFits(byID)
	var w weights
	if w.semantic, err = s.byVectors(ctx, byID); err != nil {
		return nil, Signals{}, err
	}
	if w.ngrams, err = s.byNgrams(ctx, byID); err != nil {
		return nil, Signals{}, err
	}
	if s.semanticOnly = s.semanticOnly && s.embedder != ""; s.semanticOnly {
		w = weights{semantic: 1, guesses: guessWeight} // the only keywords are stop words and guesses
	}
	if err := s.byDate(ctx, byID); err != nil {
		return nil, Signals{}, err
	}
	for scan := range files.Rows(ctx, s.db, `SELECT p.id FROM notes n JOIN passages p ON p.note = n.id
		WHERE n.copy_of != ''`) {
		var id int64
		if err := scan(&id); err != nil {
			return nil, Signals{}, err
		}
		if c := byID[id]; c != nil {
			c.copied = true
		}
	}
	ranked := make([]candidate, 0, len(byID))
	for _, c := range byID {
		ranked = append(ranked, *c)
	}
	signals := s.signals(ranked)
	fuse(ranked, w, max(minScore, signals.Answerable()))
	if asksForNewest && !s.semanticOnly {
		if err := s.preferNewest(ctx, ranked); err != nil {
			return nil, Signals{}, err
		}
	}
	slices.SortFunc(ranked, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	return ranked, signals, nil
}

// noKeywordFits reports whether only vectors can answer the question, since no note
// has a content word of it.
func (s *search) noKeywordFits(found map[int64]*candidate) bool {
	for _, c := range found {
		if c.share > 0 {
			return false
		}
	}
	return s.query.Side == Both && s.words.hasContent() && len(s.named) == 0 && !s.undated &&
		(s.time.Span.IsZero() || s.time.filter && !s.time.only)
}

// newest returns notes by date, for a query of nothing but filters.
func (s *search) newest(ctx context.Context) ([]candidate, Signals, error) {
	if s.filter.notes == "" {
		return nil, Signals{}, nil
	}
	found, place := map[int64]*candidate{}, map[int64]int{}
	for scan := range files.Rows(ctx, s.db, `SELECT min(p.id) FROM notes n JOIN passages p ON p.note = n.id
		WHERE n.id`+inList+`
		GROUP BY n.id ORDER BY n.copy_of != '', n.date DESC, n.path LIMIT ?`, s.list, nearCandidates+s.query.AtMost()) {
		c := &candidate{}
		if err := scan(&c.id); err != nil {
			return nil, Signals{}, err
		}
		found[c.id], place[c.id] = c, len(found)
	}
	if err := s.byDate(ctx, found); err != nil || len(found) == 0 {
		return nil, Signals{}, err
	}
	all := make([]candidate, 0, len(found))
	for _, c := range found {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.boost, a.boost), cmp.Compare(place[a.id], place[b.id]), cmp.Compare(a.id, b.id))
	})
	return all, Signals{Named: true}, nil // the filters ask for just these
}

// byName finds the notes whose title, file name or alias is the question.
func (s *search) byName(ctx context.Context) (map[int64]bool, error) {
	named := map[int64]bool{}
	for scan := range files.Rows(ctx, s.db, `SELECT id FROM notes WHERE copy_of = '' AND (title_key = ? OR name_key = ?
		OR id IN (SELECT note FROM aliases WHERE key = ?))`,
		s.words.key, s.words.key, s.words.key) {
		var id int64
		if err := scan(&id); err != nil {
			return nil, err
		}
		if s.matches(id) {
			named[id] = true
		}
	}
	return named, nil
}

// byKeywords searches the word index. If every word of the question is in very many
// passages, ranking them would take long and distinguish little. Then passages with the
// words in title or heading are taken, and any with all of them.
func (s *search) byKeywords(ctx context.Context, found map[int64]*candidate) error {
	if s.words.common == "" {
		return s.matchKeywords(ctx, found, `-bm25(words)`, s.words.match, ` ORDER BY 2 DESC, rowid`, wordCandidates)
	}
	const half = rescored / 2 // all of them are scored again
	return errors.Join(
		s.matchKeywords(ctx, found, `1`, "{title heading} : ("+s.words.common+")", "", half),
		s.matchKeywords(ctx, found, `1`, s.words.common, "", half))
}

// matchKeywords adds the results of one query of the word index.
func (s *search) matchKeywords(ctx context.Context, found map[int64]*candidate, score, match, order string,
	limit int,
) error {
	note, where, args, atMost := `0`, ``, []any{match}, limit
	if s.many {
		note, atMost = `(SELECT note FROM passages WHERE id = words.rowid)`, -1 // read until enough match
	} else if s.filter.notes != "" {
		// The plus prevents SQLite from querying the word index for each row.
		where, args = ` AND +rowid IN (SELECT id FROM passages WHERE note`+inList+`)`, append(args, s.list)
	}
	query := `SELECT rowid, ` + score + `, ` + note + ` FROM words WHERE words MATCH ?` + where + order + ` LIMIT ?`
	for scan := range files.Rows(ctx, s.db, query, append(args, atMost)...) {
		var c candidate
		var note int64
		if err := scan(&c.id, &c.keywords, &note); err != nil {
			return err
		}
		if s.many && !s.matches(note) {
			continue
		}
		found[c.id] = &c
		if limit--; limit == 0 {
			break
		}
	}
	return nil
}
