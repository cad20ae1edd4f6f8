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

	"lifehub/internal/files"
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

// Missing is what a question asks for and the notes lack.
type Missing struct {
	Time string `json:"time,omitempty"` // "April 2024": no note is of it
	// NotRead is what looks like a time in the question and is not read as one, such as "around harvest".
	NotRead string        `json:"not_read,omitempty"`
	Words   []MissingWord `json:"words,omitempty"` // the content words that no note has, in the order of the question
}

// MissingWord is a word of the question that no note has.
type MissingWord struct {
	Word  string `json:"word"`
	Meant string `json:"did_you_mean,omitempty"` // the word of the notes that it may be a typo of; "": none
}

// IsZero reports whether the notes lack nothing.
func (m Missing) IsZero() bool { return m.Time == "" && m.NotRead == "" && len(m.Words) == 0 }

// maxMissing is how many words String names.
const maxMissing = 5

// String says what the notes lack, in sentences: "No notes from April 2024.", "Davi, Japan: in no note.",
// "blod: in no note. Did you mean blood?". It is empty if they lack nothing.
func (m Missing) String() string {
	var sentences []string
	if m.Time != "" {
		sentences = append(sentences, "No notes from "+m.Time+".")
	}
	if m.NotRead != "" {
		sentences = append(sentences, "“"+m.NotRead+"” was not understood as a time.")
	}
	var lacked, meant []string
	for _, w := range m.Words {
		lacked = append(lacked, w.Word)
		if w.Meant != "" {
			meant = append(meant, w.Meant)
		}
	}
	if more := len(lacked) - maxMissing; more > 0 {
		lacked = append(lacked[:maxMissing], "and "+text.Count(more, "more word"))
	}
	if len(lacked) > 0 {
		sentences = append(sentences, strings.Join(lacked, ", ")+": in no note.")
	}
	if len(meant) > 0 {
		sentences = append(sentences, "Did you mean "+strings.Join(meant, ", ")+"?")
	}
	return strings.Join(sentences, " ")
}

// In returns what both of two vaults lack.
func (m Missing) In(other Missing) Missing {
	both := Missing{Words: slices.DeleteFunc(slices.Clone(m.Words), func(w MissingWord) bool {
		return !slices.ContainsFunc(other.Words, func(o MissingWord) bool { return o.Word == w.Word })
	})}
	if m.Time == other.Time {
		both.Time = m.Time
	}
	if m.NotRead == other.NotRead {
		both.NotRead = m.NotRead
	}
	return both
}

// degree reports whether a word asks for the degree of the next one, which is then no content: how often, wie lange.
func degree(word string) bool {
	return strings.EqualFold(word, "how") || strings.EqualFold(word, "wie")
}

// lack finds the content words of the question that no note has. For each it adds the
// word of the notes that it may be a typo of, which counts less than any real word.
func (s *search) lack(ctx context.Context) error {
	least := math.Inf(1) // of the words that the notes have
	for _, t := range s.words.terms {
		if t.df > 0 && !t.stop {
			least = min(least, t.idf)
		}
	}
	asked := slices.Clone(s.words.terms)
	slices.SortFunc(asked, func(a, b queryTerm) int { return cmp.Compare(a.position, b.position) })
	talk, content := text.Languages(s.query.Text), s.contentForms()
	var guesses []queryTerm
	for i, t := range asked {
		if t.stop || !content[t.forms[0]] || i > 0 && degree(asked[i-1].word) || slices.ContainsFunc(talk,
			func(in text.Lang) bool { return text.StopWord(strings.ToLower(t.word), in) }) {
			continue
		}
		held, err := s.holds(ctx, t)
		if err != nil {
			return err
		}
		if held {
			continue
		}
		guess, err := s.typoOf(ctx, t)
		if err != nil {
			return err
		}
		if guess.word != "" {
			guesses = append(guesses, guess)
		}
		s.missing.Words = append(s.missing.Words, MissingWord{Word: t.word, Meant: guess.word})
	}
	if len(guesses) == 0 {
		return nil
	}
	if _, err := weigh(ctx, s.db, guesses); err != nil {
		return err
	}
	for i := range guesses {
		guesses[i].idf = guessShare * min(guesses[i].idf, least)
	}
	s.words.terms = append(s.words.terms, guesses...)
	s.words.build(s.query.Text)
	return nil
}

// contentForms returns the first forms of the question's words without those of its time.
func (s *search) contentForms() map[string]bool {
	_, rest := s.query.Talk.In(s.query.Text, s.query.today())
	forms := map[string]bool{}
	for _, t := range queryTerms(rest, s.words.vaultLanguages) {
		forms[t.forms[0]] = true
	}
	return forms
}

// minPart is how many characters of a compound a part of it has at least.
const minPart = 4

// compounding are the languages that write compounds as one word.
var compounding = []text.Lang{"da", "de", "fi", "hu", "nl", "no", "sv"}

// holds reports whether a note has a word, alone or in a compound if notes are in a language
// that has them. Of scripts without spaces it is true, since their words are not known.
func (s *search) holds(ctx context.Context, t queryTerm) (bool, error) {
	if strings.ContainsFunc(t.word, text.Unspaced) {
		return true, nil
	}
	compounds := slices.ContainsFunc(s.words.vaultLanguages,
		func(in text.Lang) bool { return slices.Contains(compounding, in) })
	for _, form := range t.forms {
		if _, held, err := s.holder(ctx, form); held || err != nil {
			return held, err
		}
		if !compounds || utf8.RuneCountInString(form) < minPart {
			continue
		}
		longer, err := files.Column[string](ctx, s.db, `SELECT term FROM vocabulary WHERE instr(term, ?) LIMIT ?`, form,
			maxTries)
		if err != nil {
			return false, err
		}
		for _, term := range longer {
			if _, held, err := s.holder(ctx, term); held || err != nil {
				return held, err
			}
		}
	}
	return false, nil
}

// typoOf returns the content word of the notes that is nearest to a content word which no note
// has; none if it differs by more than a typo, or two in a long word. It begins with the
// same character, which is rarely mistyped.
func (s *search) typoOf(ctx context.Context, t queryTerm) (guess queryTerm, err error) {
	word := text.Fold(t.word)
	letters := []rune(word)
	length := len(letters)
	if length < minTypoLength || strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) ||
			text.Unspaced(r)
	}) {
		return guess, nil
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
		for scan := range files.Rows(ctx, s.db, `SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ?
			AND length(term) BETWEEN ? AND ?`,
			string(first), string(first+1), max(minTypoLength-1, length-allowed-maxEnding), length+allowed) {
			to := spelling{}
			if err := scan(&to.term, &to.many); err != nil {
				return guess, err
			}
			start := letters[:min(len(letters), utf8.RuneCountInString(to.term))] // the typo may be in an ending
			if to.distance = min(text.Distance(to.term, form),
				text.Distance(to.term, string(start))); to.distance <= allowed {
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
		if d := text.Distance(text.Fold(whole), word); whole != "" && d < nearest &&
			!isStopWord(whole, s.words.vaultLanguages) {
			nearest, guess = d, queryTerm{word: whole, forms: []string{f.term}, position: t.position, guessFor: t.word}
		}
	}
	return guess, nil
}

// holder returns a passage with a term. Notes that are left out do not count, so that the
// search does not reveal their words.
func (s *search) holder(ctx context.Context, term string) (id int64, held bool, err error) {
	where, args := ``, []any{quoteTerm(term)}
	if paths := s.query.Without[s.in.Dir]; len(paths) > 0 {
		without, err := json.Marshal(paths)
		if err != nil {
			return 0, false, err
		}
		where = ` AND +rowid NOT IN (SELECT id FROM passages WHERE note IN (SELECT id FROM notes
			WHERE path IN (SELECT value FROM json_each(?))))`
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
