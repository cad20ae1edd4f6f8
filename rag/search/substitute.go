package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/database"
	"lifehub/internal/text"
	"lifehub/rag/encoder"
	"lifehub/rag/words"
)

// A word of the question that no note has is replaced by words of the notes: by those
// that differ by a typo or, in languages that write compounds as one word, by its parts
// or by the compounds it is part of (docs/design/search.md).

const (
	minTypoLength  = 4  // characters of a word with a typo
	twoTyposLength = 8  // characters of a word with two
	minPartLength  = 4  // characters of a part of a compound
	maxSpellings   = 3  // words that replace one
	maxCompounds   = 20 // compounds that replace a part
)

// compounding lists the languages that write compounds as one word.
var compounding = []text.Lang{"da", "de", "fi", "hu", "nl", "no", "sv"}

// substitute replaces the terms that no note has.
func (s *search) substitute(ctx context.Context) error {
	var all []queryTerm
	for _, t := range s.words.terms {
		found, err := s.substitutes(ctx, t)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			all = append(all, t)
			continue
		}
		if _, err := weigh(ctx, s.db, found); err != nil {
			return err
		}
		for _, f := range found {
			s.words.substituted = append(s.words.substituted, substitution{t.word, t.position, f.forms})
		}
		all = append(all, found...)
	}
	if len(s.words.substituted) > 0 {
		slices.SortStableFunc(s.words.substituted, func(a, b substitution) int { return cmp.Compare(a.position, b.position) })
		s.words.terms = all
		s.words.build(s.query.Text)
	}
	return nil
}

// frequency returns the number of passages with a term; 0 if only notes have it that
// are left out, so that the search does not reveal their words.
func (s *search) frequency(ctx context.Context, term string) (passages int, err error) {
	if passages, err = words.Frequency(ctx, s.db, term); err != nil || passages == 0 || len(s.query.Without) == 0 {
		return passages, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND +rowid IN (SELECT id FROM passages WHERE note`+inList+`) LIMIT 1)`,
		quoteTerm(term), s.list).Scan(&passages)
	return passages, err
}

// substitution is a word of the question with the terms that replace it.
type substitution struct {
	word     string
	position int // among the words of the question
	forms    []string
}

// describeSubstitutions describes the substitutions in words of the passages that are shown:
// "blod presure → blood pressure".
func (s *search) describeSubstitutions(shown []storedPassage) {
	if len(s.words.substituted) == 0 {
		return
	}
	as := map[string]string{} // words by term
	for _, p := range shown {
		body := strings.Join([]string{p.Text, p.Heading, words.SpacedName(p.Path)}, "\n")
		for _, t := range words.Terms(body, p.language) {
			if as[t.Text] == "" {
				as[t.Text] = strings.ToLower(body[t.Start:t.End])
			}
		}
	}
	var from, to []string
	for _, sub := range s.words.substituted {
		var found []string
		for _, form := range sub.forms {
			if as[form] != "" && !slices.Contains(found, as[form]) {
				found = append(found, as[form])
			}
		}
		if len(found) == 0 {
			continue
		}
		if len(from) == 0 || from[len(from)-1] != sub.word { // otherwise another part of the same word
			from = append(from, sub.word)
		}
		to = append(to, strings.Join(found, "/"))
	}
	if len(from) > 0 {
		s.substituted = strings.Join(from, " ") + " → " + strings.Join(to, " ")
	}
}

// corrected returns the question with the substitutions.
func (s *search) corrected() string {
	corrected := s.query.Text
	for _, sub := range s.words.substituted {
		corrected = strings.ReplaceAll(corrected, sub.word, sub.forms[0])
	}
	return corrected
}

// substitutes returns the terms that replace one; none if it is not replaced.
func (s *search) substitutes(ctx context.Context, t queryTerm) ([]queryTerm, error) {
	word := text.Fold(t.word)
	if t.stop || utf8.RuneCountInString(word) < minTypoLength || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) || text.Unspaced(r) }) {
		return nil, nil
	}
	for _, form := range t.forms {
		if n, err := s.frequency(ctx, form); n > 0 || err != nil {
			return nil, err
		}
	}
	as := func(forms []string) queryTerm { t.forms = forms; return t }
	known := (encoder.Encoder{}).Knows(word) // an English word is not a typo, and in English notes not a compound
	if !known {
		if near, err := s.near(ctx, t.forms); err != nil || len(near) > 0 {
			return []queryTerm{as(near)}, err
		}
	}
	for _, l := range s.words.vaultLanguages {
		if !slices.Contains(compounding, l) || known && s.englishShare(ctx) > 0.5 {
			continue
		}
		parts, err := s.parts(ctx, word, l)
		var terms []queryTerm
		for _, part := range parts {
			terms = append(terms, as([]string{part}))
		}
		if err != nil || len(terms) > 0 {
			return terms, err
		}
		if whole, err := s.compounds(ctx, t.forms); err != nil || len(whole) > 0 {
			return []queryTerm{as(whole)}, err
		}
	}
	return nil, nil
}

// near returns the terms nearest to a word's forms by edit distance, most frequent
// first. They begin with the same character, which is rarely mistyped.
func (s *search) near(ctx context.Context, forms []string) ([]string, error) {
	type spelling struct {
		term           string
		distance, many int
	}
	var found []spelling
	for _, form := range forms {
		length := utf8.RuneCountInString(form)
		allowed := 1
		if length >= twoTyposLength {
			allowed = 2
		}
		first, _ := utf8.DecodeRuneInString(form)
		for scan := range database.Rows(ctx, s.db, `SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?`,
			string(first), string(first+1), max(minTypoLength-1, length-allowed), length+allowed) {
			to := spelling{}
			if err := scan(&to.term, &to.many); err != nil {
				return nil, err
			}
			if to.distance = text.Distance(to.term, form); to.distance <= allowed && !slices.ContainsFunc(found, func(f spelling) bool { return f.term == to.term }) {
				found = append(found, to)
			}
		}
	}
	slices.SortFunc(found, func(a, b spelling) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.many, a.many), cmp.Compare(a.term, b.term))
	})
	var nearest []string
	distance := 0
	for _, f := range found {
		if len(nearest) == maxSpellings || len(nearest) > 0 && f.distance > distance {
			break
		}
		if n, err := s.frequency(ctx, f.term); err != nil {
			return nil, err
		} else if n > 0 {
			nearest, distance = append(nearest, f.term), f.distance
		}
	}
	return nearest, nil
}

// links are the linking elements of compounds.
var links = []string{"", "s", "es", "n", "en", "er", "e"}

// parts returns the two parts of a compound if the notes have both, else the longest
// part that they have.
func (s *search) parts(ctx context.Context, word string, in text.Lang) ([]string, error) {
	known := func(part string) (string, error) {
		if utf8.RuneCountInString(part) < minPartLength {
			return "", nil
		}
		stem := text.FoldedStem(part, in)
		n, err := s.frequency(ctx, stem)
		if n == 0 {
			stem = ""
		}
		return stem, err
	}
	var best []string
	longest := 0
	for at := range word {
		tail, err := known(word[at:])
		if err != nil {
			return nil, err
		}
		head := ""
		for _, link := range links {
			if part, linked := strings.CutSuffix(word[:at], link); linked && head == "" {
				if head, err = known(part); err != nil {
					return nil, err
				}
			}
		}
		switch {
		case head != "" && tail != "":
			return []string{head, tail}, nil
		case len(head)+len(tail) > longest: // one of them
			longest, best = len(head)+len(tail), []string{head + tail}
		}
	}
	return best, nil
}

// compounds returns the terms that end or begin with a form, most frequent first.
func (s *search) compounds(ctx context.Context, forms []string) (all []string, err error) {
	for _, form := range forms {
		if utf8.RuneCountInString(form) < minPartLength {
			continue
		}
		for scan := range database.Rows(ctx, s.db, `SELECT term FROM vocabulary WHERE term LIKE '%' || ?1 OR term > ?1 AND term < ?1 || char(0x10ffff)
			ORDER BY doc DESC, term LIMIT ?2`, form, maxCompounds) {
			var term string
			if err := scan(&term); err != nil {
				return nil, err
			}
			if n, err := s.frequency(ctx, term); err != nil {
				return nil, err
			} else if n > 0 && !slices.Contains(all, term) {
				all = append(all, term)
			}
		}
	}
	return all, nil
}
