package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/text"
)

// Terms are what words are indexed and searched by. Words of scripts with
// spaces are stemmed; runs of Chinese, Japanese, Korean or Thai letters become
// overlapping pairs; identifiers, paths and #tags are the words that they are
// made of. C++ and C# are also terms with their signs. A note's words are stemmed
// by the rules of its own language; those of a question, which is too short to
// tell, in the form that each language of the vault gives them. Both sides of a
// search cut their text here, and SQLite is handed finished terms: its tokenizer
// only splits at the spaces.

// Term is one unit of the word index.
type Term struct {
	Text  string
	Start int // byte offset in the text
	End   int
}

// Pair reports whether a term is a piece of a script without spaces.
func (t Term) Pair() bool {
	r, _ := utf8.DecodeRuneInString(t.Text)
	return text.Unspaced(r)
}

// Terms cuts a text of a language, into as many terms in each language.
func Terms(s string, in text.Lang) []Term {
	return appendTerms(make([]Term, 0, len(s)/5), s, in)
}

func appendTerms(found []Term, s string, in text.Lang) []Term {
	for w := range text.Words(s) {
		if w.Unspaced {
			found = append(found, Term{Text: text.Fold(w.Text), Start: w.Start, End: w.End()})
			continue
		}
		found = append(found, Term{Text: text.FoldedStem(w.Text, in), Start: w.Start, End: w.End()})
		if signs := signsAt(s[w.End():]); signs > 0 {
			end := w.End() + signs
			found = append(found, Term{Text: text.Fold(w.Text) + inWord.Replace(s[w.End():end]), Start: w.Start, End: end})
		}
	}
	return found
}

// signsAt is the length of the + and # at the beginning of a text, if they close
// a word.
func signsAt(s string) int {
	rest := strings.TrimLeft(s, "+#")
	if next, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(next) || unicode.IsNumber(next) {
		return 0
	}
	return len(s) - len(rest)
}

// inWord writes signs as characters for private use, which SQLite's tokenizer
// keeps.
var inWord = strings.NewReplacer("+", "\ue02b", "#", "\ue023")

// Join writes terms as SQLite takes them.
func Join(all []Term) string {
	var b strings.Builder
	size := 0
	for _, t := range all {
		size += len(t.Text) + 1
	}
	b.Grow(size)
	for i, t := range all {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

// Alone tells a character of a script without spaces that nothing else
// stands next to: 犬, but not the 年 of 2025年.
func (t Term) Alone(question string) bool {
	before, _ := utf8.DecodeLastRuneInString(question[:t.Start])
	after, _ := utf8.DecodeRuneInString(question[t.End:])
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	return t.Pair() && utf8.RuneCountInString(t.Text) == 1 && !inWord(before) && !inWord(after)
}
