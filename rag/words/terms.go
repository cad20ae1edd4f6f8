package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/text"
)

// Terms are the units of the keyword index. Words of scripts with spaces are stemmed; runs
// of Chinese, Japanese, Korean or Thai characters become overlapping pairs; identifiers,
// paths and #tags are split into words. C++ and C# are also terms with their signs, and
// emoji and § are terms. A
// note's words are stemmed in its own language, and those of a question, which may be too
// short to recognise its language, in each language of the vault. Notes and questions are
// both split here, so SQLite's tokenizer only splits at spaces.

// Term is a unit of the keyword index.
type Term struct {
	Text  string
	Start int // byte offset in the text
	End   int
}

// Pair reports whether a term is of a script without spaces.
func (t Term) Pair() bool {
	r, _ := utf8.DecodeRuneInString(t.Text)
	return text.Unspaced(r)
}

// Terms splits a text of a language. The number of terms does not depend on the
// language.
func Terms(s string, in text.Lang) []Term {
	return appendTerms(make([]Term, 0, len(s)/5), s, in)
}

func appendTerms(found []Term, s string, in text.Lang) []Term {
	between := 0
	for w := range text.Words(s) {
		found = appendSigns(found, s, between, w.Start)
		between = w.End()
		if w.Unspaced {
			found = append(found, Term{Text: text.Fold(w.Text), Start: w.Start, End: w.End()})
			continue
		}
		found = append(found, Term{Text: text.FoldedStem(w.Text, in), Start: w.Start, End: w.End()})
		if signs := signsAt(s[w.End():]); signs > 0 {
			end := w.End() + signs
			found = append(found, Term{Text: text.Fold(w.Text) + s[w.End():end], Start: w.Start, End: end})
		}
	}
	return appendSigns(found, s, between, len(s))
}

// appendSigns adds the emoji and § in a part of a text between words. A sign of several
// characters, such as a flag or a skin tone, is one term for each that is seen alone.
func appendSigns(found []Term, s string, start, stop int) []Term {
	for i := start; i < stop; {
		r, size := utf8.DecodeRuneInString(s[i:stop])
		if r >= utf8.RuneSelf && r != utf8.RuneError && (r == '§' || unicode.Is(unicode.So, r)) {
			found = append(found, Term{Text: string(r), Start: i, End: i + size})
		}
		i += size
	}
	return found
}

// signsAt returns the length of the + and # at the beginning of a text if they end a
// word.
func signsAt(s string) int {
	rest := strings.TrimLeft(s, "+#")
	if next, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(next) || unicode.IsNumber(next) {
		return 0
	}
	return len(s) - len(rest)
}

// Join formats terms for SQLite.
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

// Alone reports whether a term is a single character of a script without spaces, apart
// from any other: 犬, but not the 年 of 2025年.
func (t Term) Alone(question string) bool {
	before, _ := utf8.DecodeLastRuneInString(question[:t.Start])
	after, _ := utf8.DecodeRuneInString(question[t.End:])
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	return t.Pair() && utf8.RuneCountInString(t.Text) == 1 && !inWord(before) && !inWord(after)
}
