package rag

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"
)

// columnWeights are those of title, heading, body and exact terms in BM25,
// chosen on the benches (docs/decisions/0012).
const columnWeights = "1.0, 1.0, 1.0, 1.0"

// maxTerms bounds the terms of one question.
const maxTerms = 64

// wordQuery is a question as the word index is asked.
type wordQuery struct {
	match    string   // in FTS5's language; "": nothing to ask
	common   string   // what to ask instead of match, without ranking, when even the rarest term is everywhere; "": it is not
	required []string // quoted phrases, all of which a passage must hold
	bound    float64  // what BM25 could reach at most, summed over the terms
	terms    []weighed
	passages int    // in the index
	key      string // the question as titles and file names are compared
}

// weighed is a term and how much it tells.
type weighed struct {
	text string
	df   int     // passages that hold it
	idf  float64 // 0 for one that half of them hold
}

func (w wordQuery) empty() bool { return w.match == "" }

// readWords turns the text of a question into a query. What the user typed is
// only ever quoted, so nothing in it is syntax.
func readWords(ctx context.Context, db *sql.DB, text string) (wordQuery, error) {
	var w wordQuery
	w.key = nameKey(text)
	seen := map[string]bool{}
	for _, t := range terms(text) {
		if seen[t.text] {
			continue
		}
		seen[t.text] = true
		w.terms = append(w.terms, weighed{text: t.text})
	}
	if len(w.terms) == 0 {
		return w, nil
	}
	var err error
	if w.passages, err = weigh(ctx, db, w.terms); err != nil {
		return w, err
	}
	slices.SortStableFunc(w.terms, func(a, b weighed) int { return cmp.Compare(a.df, b.df) })
	w.terms = w.terms[:min(len(w.terms), maxTerms)]
	var asked []string
	matches := 0
	for _, t := range w.terms {
		w.bound += 2.2 * t.idf // BM25 at its highest: k1 + 1 times the idf
		if len(asked) > 0 && matches+t.df > maxMatches {
			continue // pruned: too frequent to tell much, too many to look at
		}
		matches += t.df
		asked = append(asked, quoteTerm(t.text))
	}
	w.match = strings.Join(asked, " OR ")
	if w.terms[0].df > maxMatches {
		all := make([]string, len(w.terms))
		for i, t := range w.terms {
			all[i] = quoteTerm(t.text)
		}
		w.common = strings.Join(all, " AND ")
	}
	for _, phrase := range phrases(text) {
		words, _ := joinTerms(terms(phrase))
		if words == "" {
			continue
		}
		w.required = append(w.required, phrase)
		w.match = quoteTerm(words) + " AND (" + w.match + ")"
		w.common = ""
	}
	return w, nil
}

// maxMatches bounds the postings one question may look at: FTS5 spends 2.5 µs
// on ranking each, so common words are left out of a big index and counted
// in the candidates' texts instead. A small index never reaches it.
const maxMatches = 4_000

func quoteTerm(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// weigh looks up how many passages hold each term, of how many there are.
func weigh(ctx context.Context, db *sql.DB, all []weighed) (passages int, err error) {
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&passages); err != nil {
		return 0, err
	}
	for i := range all {
		df, err := frequency(ctx, db, all[i].text)
		if err != nil {
			return 0, err
		}
		all[i].df = df
		all[i].idf = max(0, math.Log((float64(passages-df)+0.5)/(float64(df)+0.5)))
	}
	return passages, nil
}

// frequency returns the number of passages that hold a term: from the list of
// the frequent ones, which counting would take long, else counted.
func frequency(ctx context.Context, db *sql.DB, text string) (int, error) {
	var df int
	err := db.QueryRowContext(ctx, `SELECT passages FROM frequent WHERE term = ?`, text).Scan(&df)
	if errors.Is(err, sql.ErrNoRows) {
		err = db.QueryRowContext(ctx, `SELECT doc FROM vocabulary WHERE term = ?`, text).Scan(&df)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return df, err
}

// countFrequent lists the terms that many passages hold, anew whenever the
// index has grown or shrunk by a fifth.
func countFrequent(ctx context.Context, tx *sql.Tx) error {
	var passages, before int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&passages); err != nil {
		return err
	}
	err := tx.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'frequent'`).Scan(&before)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if passages < 1000 || (passages <= before*6/5 && passages >= before*4/5) {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM frequent`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO frequent SELECT term, doc FROM vocabulary WHERE doc > ?`, passages/50); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO meta VALUES ('frequent', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, passages)
	return err
}
