package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/database"
	"lifehub/internal/text"
	"lifehub/rag/words"
)

const (
	minTypoLength  = 4 // characters of a word with a typo
	twoTyposLength = 8 // characters of a word with two
	maxEnding      = 3 // characters that a stem lacks
	maxTries       = 8 // words of the notes that are examined for one of the question
	// guessShare is the weight of a guess against the least real word of the question.
	guessShare = 0.5
	// guessWeight is that of guesses against vectors, if no note has a word of the question.
	guessWeight = 0.15
)

// guess adds, for each content word that no note has, the word of the notes that it may
// be a typo of. A guess counts less than any real word, and the user is asked about it.
func (s *search) guess(ctx context.Context) error {
	var guesses []queryTerm
	least := math.Inf(1) // of the words that the notes have
	for _, t := range s.words.terms {
		if t.df > 0 && !t.stop {
			least = min(least, t.idf)
		}
		guess, err := s.typoOf(ctx, t)
		if err != nil {
			return err
		}
		if guess.word != "" {
			guesses = append(guesses, guess)
		}
	}
	if len(guesses) == 0 {
		return nil
	}
	if _, err := weigh(ctx, s.db, guesses); err != nil {
		return err
	}
	slices.SortFunc(guesses, func(a, b queryTerm) int { return cmp.Compare(a.position, b.position) })
	var asked, meant []string
	for i := range guesses {
		g := &guesses[i]
		g.idf = guessShare * min(g.idf, least)
		asked, meant = append(asked, g.guessFor), append(meant, g.word)
	}
	s.guessed = strings.Join(asked, ", ") + ": in no note. Did you mean " + strings.Join(meant, ", ") + "?"
	s.words.terms = append(s.words.terms, guesses...)
	s.words.build(s.query.Text)
	return nil
}

// typoOf returns the content word of the notes that is nearest to a term which no note
// has; none if it differs by more than a typo, or two in a long word. It begins with the
// same character, which is rarely mistyped.
func (s *search) typoOf(ctx context.Context, t queryTerm) (guess queryTerm, err error) {
	word := text.Fold(t.word)
	letters := []rune(word)
	length := len(letters)
	if t.stop || length < minTypoLength || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) || text.Unspaced(r) }) {
		return guess, nil
	}
	for _, form := range t.forms {
		if _, held, err := s.holder(ctx, form); held || err != nil {
			return guess, err
		}
	}
	allowed := 1
	if length >= twoTyposLength {
		allowed = 2
	}
	type spelling struct {
		term           string
		distance, many int
	}
	var found []spelling
	for _, form := range t.forms {
		length := utf8.RuneCountInString(form)
		first, _ := utf8.DecodeRuneInString(form)
		for scan := range database.Rows(ctx, s.db, `SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?`,
			string(first), string(first+1), max(minTypoLength-1, length-allowed-maxEnding), length+allowed) {
			to := spelling{}
			if err := scan(&to.term, &to.many); err != nil {
				return guess, err
			}
			start := letters[:min(len(letters), utf8.RuneCountInString(to.term))] // the typo may be in an ending
			if to.distance = min(text.Distance(to.term, form), text.Distance(to.term, string(start))); to.distance <= allowed {
				found = append(found, to)
			}
		}
	}
	slices.SortFunc(found, func(a, b spelling) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.many, a.many), cmp.Compare(a.term, b.term))
	})
	nearest := allowed + 1
	for _, f := range found[:min(len(found), maxTries)] {
		whole, err := s.wholeWord(ctx, f.term)
		if err != nil {
			return guess, err
		}
		if d := text.Distance(text.Fold(whole), word); whole != "" && d < nearest && !isStopWord(whole, s.words.vaultLanguages) {
			nearest, guess = d, queryTerm{word: whole, forms: []string{f.term}, position: t.position, guessFor: t.word}
		}
	}
	return guess, nil
}

// holder returns a passage with a term. Notes that are left out do not count, so that the
// search does not reveal their words.
func (s *search) holder(ctx context.Context, term string) (id int64, held bool, err error) {
	where, args := ``, []any{quoteTerm(term)}
	if len(s.query.Without) > 0 {
		without, err := json.Marshal(s.query.Without)
		if err != nil {
			return 0, false, err
		}
		where = ` AND +rowid NOT IN (SELECT id FROM passages WHERE note IN (SELECT id FROM notes WHERE path IN (SELECT value FROM json_each(?))))`
		args = append(args, string(without))
	}
	err = s.db.QueryRowContext(ctx, `SELECT rowid FROM words WHERE words MATCH ?`+where+` LIMIT 1`, args...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// wholeWord returns a word of the notes by its stem; "" if only notes have it that are
// left out.
func (s *search) wholeWord(ctx context.Context, stem string) (string, error) {
	id, held, err := s.holder(ctx, stem)
	if !held || err != nil {
		return "", err
	}
	places, err := passagesWhere(ctx, s.db, `p.id = ?`, id)
	if err != nil || len(places) == 0 {
		return "", err
	}
	p, start := places[0], places[0].start
	if p.first {
		start = 0
	}
	texts := words.Texts{DB: s.db}
	body, err := texts.Of(ctx, p.note, start, p.stop)
	if err != nil {
		return "", err
	}
	body = strings.Join([]string{body, p.heading, p.title, words.SpacedName(p.path)}, "\n")
	for _, t := range words.Terms(body, p.language) {
		if t.Text == stem {
			return body[t.Start:t.End], nil
		}
	}
	return "", nil
}
