package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"lifehub/internal/files"
	"lifehub/internal/text"
	"lifehub/rag/words"
)

// maxTerms is the maximum number of terms of a question.
const maxTerms = 64

// wordQuery is a question as a query of the word index.
type wordQuery struct {
	match          string   // in FTS5's syntax; "": there are no terms
	common         string   // replaces match, without ranking, if even the rarest term is very frequent; else ""
	required       []string // quoted phrases, all of which a passage must contain
	terms          []queryTerm
	passages       int         // in the index
	vaultLanguages []text.Lang // those of the notes, except English
	otherLanguage  bool        // the question is in a language that no note is in
	key            string      // the question in the form of [words.NameKey]
}

// queryTerm is a term of the question with its weight.
type queryTerm struct {
	word     string   // as in the question
	forms    []string // stemmed by each language of the vault, English first
	single   bool     // a single character of a script without spaces
	stop     bool     // a stop word
	position int      // among the words of the question, from 0
	df       int      // number of passages that contain it
	idf      float64  // inverse document frequency, > 0
	guessFor string   // the word of the question for which it is a guess; "": it is in the question
}

// ftsQuery returns the term in FTS5's syntax.
func (t queryTerm) ftsQuery() string {
	quoted := make([]string, len(t.forms))
	for i, form := range t.forms {
		quoted[i] = quoteTerm(form)
	}
	return strings.Join(quoted, " OR ")
}

func (w wordQuery) empty() bool { return w.match == "" }

// readWords turns the text of a question into a query. All of it is quoted, so that
// nothing in it is syntax.
func readWords(ctx context.Context, db files.Querier, text string) (wordQuery, error) {
	w := wordQuery{key: words.NameKey(text)}
	var err error
	if w.vaultLanguages, err = words.Languages(ctx, db); err != nil {
		return w, err
	}
	if w.terms = queryTerms(text, w.vaultLanguages); len(w.terms) == 0 {
		return w, nil
	}
	if err := findCharacters(ctx, db, w.terms); err != nil {
		return w, err
	}
	if w.passages, err = weigh(ctx, db, w.terms); err != nil {
		return w, err
	}
	if w.otherLanguage, err = inOtherLanguage(ctx, db, text, w.vaultLanguages, w.passages); err != nil {
		return w, err
	}
	w.build(text)
	return w, nil
}

// build builds the query from the terms.
func (w *wordQuery) build(question string) {
	slices.SortStableFunc(w.terms, func(a, b queryTerm) int { return cmp.Compare(a.df, b.df) })
	w.terms = w.terms[:min(len(w.terms), maxTerms)]
	w.matchRarest()
	w.require(phrases(question))
}

// queryTerms returns the terms of a question, each once, as stemmed by the languages of
// the vault.
func queryTerms(question string, languages []text.Lang) []queryTerm {
	var asked []queryTerm
	seen := map[string]bool{}
	inLanguage := [][]words.Term{words.Terms(question, "")}
	for _, l := range languages {
		inLanguage = append(inLanguage, words.Terms(question, l))
	}
	for i, t := range inLanguage[0] {
		if seen[t.Text] {
			continue
		}
		var forms []string
		for _, terms := range inLanguage {
			if form := terms[i].Text; !slices.Contains(forms, form) {
				forms = append(forms, form)
				seen[form] = true
			}
		}
		word := question[t.Start:t.End]
		asked = append(asked, queryTerm{
			word: word, forms: forms, position: len(asked), single: t.Alone(question),
			stop: isStopWord(word, languages),
		})
	}
	return asked
}

// isStopWord reports whether a word is a stop word of English or of a language of the
// vault, or a sign.
func isStopWord(word string, languages []text.Lang) bool {
	word = strings.ToLower(word)
	isLetter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	return !strings.ContainsFunc(word, isLetter) || text.StopWord(word, "") ||
		slices.ContainsFunc(languages, func(l text.Lang) bool { return text.StopWord(word, l) })
}

// hasContent reports whether a question has content words.
func (w wordQuery) hasContent() bool {
	return slices.ContainsFunc(w.terms, func(t queryTerm) bool { return !t.stop })
}

// maxPairs is the maximum number of pairs for one character.
const maxPairs = 500

// findCharacters adds to a term of a single character the pairs of the vault that
// contain it, since only pairs are indexed.
func findCharacters(ctx context.Context, db files.Querier, all []queryTerm) error {
	for i := range all {
		if !all[i].single {
			continue
		}
		character := all[i].forms[0]
		for scan := range files.Rows(ctx, db, `SELECT term FROM vocabulary WHERE term > ? AND term < ? || char(0x10ffff)
			OR term LIKE '_' || ?
			ORDER BY doc DESC LIMIT ?`, character, character, character, maxPairs) {
			var pair string
			if err := scan(&pair); err != nil {
				return err
			}
			all[i].forms = append(all[i].forms, pair)
		}
	}
	return nil
}

// matchRarest asks for any of the terms, rarest first, up to maxMatches.
func (w *wordQuery) matchRarest() {
	var asked []string
	matches := 0
	for _, t := range w.terms {
		if len(asked) > 0 && matches+t.df > maxMatches {
			continue // too frequent to distinguish passages
		}
		matches += t.df
		asked = append(asked, t.ftsQuery())
	}
	w.match = strings.Join(asked, " OR ")
	if w.terms[0].df > maxMatches {
		all := make([]string, len(w.terms))
		for i, t := range w.terms {
			all[i] = "(" + t.ftsQuery() + ")"
		}
		w.common = strings.Join(all, " AND ")
	}
}

// require restricts the query to passages with all of the phrases, each as stemmed by
// a language of the vault.
func (w *wordQuery) require(phrases []string) {
	for _, phrase := range phrases {
		forms := queryTerm{forms: w.pairsOf(phrase)}
		for _, l := range append([]text.Lang{""}, w.vaultLanguages...) {
			if form := words.Join(words.Terms(phrase, l)); form != "" && !slices.Contains(forms.forms, form) {
				forms.forms = append(forms.forms, form)
			}
		}
		if len(forms.forms) == 0 {
			continue
		}
		w.required = append(w.required, phrase)
		w.match = "(" + forms.ftsQuery() + ") AND (" + w.match + ")"
		w.common = ""
	}
}

// pairsOf returns the pairs that contain a phrase of a single character.
func (w *wordQuery) pairsOf(phrase string) []string {
	for _, t := range w.terms {
		if t.single && t.forms[0] == text.Fold(strings.TrimSpace(phrase)) {
			return slices.Clone(t.forms)
		}
	}
	return nil
}

// maxMatches is the maximum number of postings of a query. FTS5 takes 2.5 µs to rank
// each. So in a large index frequent words are not asked for, but counted in the texts
// of the candidates.
const maxMatches = 4_000

func quoteTerm(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// weigh looks up the number of passages with each term, and returns that of all.
func weigh(ctx context.Context, db files.Querier, all []queryTerm) (passages int, err error) {
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&passages); err != nil {
		return 0, err
	}
	for i := range all {
		df := 0
		for _, form := range all[i].forms { // a note has one of them, by its language
			n, err := words.Frequency(ctx, db, form)
			if err != nil {
				return 0, err
			}
			df = min(passages, df+n)
		}
		all[i].df = df
		all[i].idf = max(leastIDF, math.Log((float64(passages-df)+0.5)/(float64(df)+0.5)))
	}
	return passages, nil
}

// maxForeignTerms is the maximum number of terms of a script in which notes are not
// considered written: names, quotations, a note or two.
const maxForeignTerms = 1000

// inOtherLanguage reports whether a question is in a language that no note is in, by
// its stop words or else its script. No note is in another script than Latin if there
// are fewer terms of it than passages, or if none is in a tenth of the passages.
func inOtherLanguage(ctx context.Context, db files.Querier, question string, languages []text.Lang, passages int) (bool,
	error,
) {
	if in := text.Languages(question); len(in) > 0 {
		return !slices.ContainsFunc(in, func(l text.Lang) bool { return slices.Contains(languages, l) }), nil
	}
	if text.Latin(question) {
		return notLatin(ctx, db, passages)
	}
	letters := slices.DeleteFunc([]rune(text.Fold(question)),
		func(r rune) bool { return !unicode.IsLetter(r) || unicode.Is(unicode.Latin, r) })
	if len(letters) == 0 {
		return false, nil
	}
	var terms, most int
	err := db.QueryRowContext(ctx, `SELECT count(*), coalesce(max(doc), 0) FROM (SELECT doc FROM vocabulary
		WHERE term >= ? AND term < ? || char(0x10ffff) LIMIT ?)`,
		string(slices.Min(letters)), string(slices.Max(letters)), maxForeignTerms).Scan(&terms, &most)
	return terms < maxForeignTerms && (terms < passages || most*10 < passages), err
}

// notLatin reports whether the notes are in another script than Latin: a term of it is
// in a tenth of the passages, and no Latin term is. In a large index only the frequent
// terms are examined.
func notLatin(ctx context.Context, db files.Querier, passages int) (bool, error) {
	var latin, other int
	err := db.QueryRowContext(ctx, `SELECT coalesce(max(n) FILTER (WHERE term < '{'), 0),
		coalesce(max(n) FILTER (WHERE term >= '{'), 0)
		FROM (SELECT term, passages AS n FROM frequent UNION ALL SELECT term, doc FROM vocabulary WHERE ?)
		WHERE term >= 'a' AND term < char(0xe000)`, passages < 1000).Scan(&latin, &other)
	return latin*10 < passages && other*10 >= passages, err
}

// The parameters of BM25, as in SQLite.
const (
	bm25K    = 1.2
	bm25B    = 0.75
	leastIDF = 1e-6 // of a term in half of the passages or more, which still matches
)

// score returns the BM25 of a text with these counts of the terms, and how much of it
// guesses have. Its length is relative to the average.
func (w wordQuery) score(counts []int, length float64) (sum, guessed float64) {
	for i, n := range counts {
		f := float64(n)
		one := w.terms[i].idf * f * (bm25K + 1) / (f + bm25K*(1-bm25B+bm25B*length))
		if sum += one; w.terms[i].guessFor != "" {
			guessed += one
		}
	}
	return sum, guessed
}

// share returns the share of the question's content words in a text, from 0 to 1; of
// all words if there are only stop words.
func (w wordQuery) share(counts []int) float64 {
	hasContent, held, all := w.hasContent(), 0, 0
	for i, n := range counts {
		if w.terms[i].guessFor != "" || w.terms[i].stop && hasContent {
			continue
		}
		all++
		if n > 0 {
			held++
		}
	}
	return float64(held) / float64(max(1, all))
}
