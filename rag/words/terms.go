package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/text"
)

// Terms are what words are indexed and searched by. Words of scripts with
// spaces are stemmed; runs of Chinese, Japanese, Korean or Thai letters become
// overlapping pairs; anything that looks like code, a path or a #tag is kept
// exactly as well. A note's words are stemmed by the rules of its own language;
// those of a question, which is too short to tell, in the form that each
// language of the vault gives them. Both sides of a search cut their text here, and SQLite is
// handed finished terms: its tokenizer only splits at the spaces.

// Term is one unit of the word index.
type Term struct {
	Text  string
	Exact bool // of the column for identifiers, paths and #tags
	Start int  // byte offset in the text
	End   int
}

// Pair reports whether a term is a piece of a script without spaces.
func (t Term) Pair() bool {
	r, _ := utf8.DecodeRuneInString(t.Text)
	return text.Unspaced(r)
}

// Terms cuts a text of a language. The plain terms come in reading order, one
// position each; exact terms follow the words they cover.
func Terms(s string, in text.Lang) []Term {
	return appendTerms(make([]Term, 0, len(s)/5), s, in)
}

func appendTerms(found []Term, s string, in text.Lang) []Term {
	start, end := 0, 0 // of what stands between two spaces
	for w := range text.Words(s) {
		if w.Start >= end {
			found = appendExact(found, s[start:end], start)
			start, end = w.Start-len(lastField(s[end:w.Start])), len(s)
			if space := strings.IndexFunc(s[w.Start:], unicode.IsSpace); space >= 0 {
				end = w.Start + space
			}
		}
		form := ""
		if w.Unspaced {
			form = text.Fold(w.Text)
		} else {
			form = text.FoldedStem(w.Text, in)
		}
		found = append(found, Term{Text: form, Start: w.Start, End: w.End()})
	}
	return appendExact(found, s[start:end], start)
}

// lastField is what follows the last space.
func lastField(s string) string {
	return s[len(strings.TrimRightFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })):]
}

// appendExact adds what means more than its letters, as it is: foo_bar,
// --soft, a/b.go, #tag, C++, useState. Brackets and quotation marks part:
// sync_all("a/b") holds sync_all and a/b.
func appendExact(found []Term, piece string, offset int) []Term {
	if len(piece) > 200 || plainWord(piece) {
		return found
	}
	for start := 0; start < len(piece); {
		end := start + strings.IndexFunc(piece[start:], partsCode)
		if end < start {
			end = len(piece)
		}
		trimmed := strings.TrimRight(strings.TrimLeft(piece[start:end], ":'’"), ":.'’")
		if looksLikeCode(trimmed) {
			at := offset + start + strings.Index(piece[start:end], trimmed)
			found = append(found, Term{Text: exactTerm(trimmed), Exact: true, Start: at, End: at + len(trimmed)})
		}
		if end == len(piece) {
			break
		}
		_, size := utf8.DecodeRuneInString(piece[end:])
		start = end + size
	}
	return found
}

// plainWord reports whether a piece is surely no more than a word, as most are:
// letters and digits without a capital after a small letter, and what may
// close a sentence.
func plainWord(piece string) bool {
	i, lower := 0, false
	for ; i < len(piece); i++ {
		c := piece[i]
		if c-'A' < 26 && lower || c|0x20-'a' >= 26 && c-'0' >= 10 {
			break
		}
		lower = c-'a' < 26
	}
	return strings.Trim(piece[i:], ".:,;!?)") == ""
}

// codeMarks may stand within an identifier, a path, a flag or a tag.
const codeMarks = "_-./#+@:~$%\\=&"

// partsCode tells a sign that parts identifiers and paths. An apostrophe does
// not: "isn't/wasn't" is no path.
func partsCode(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(codeMarks+"'’", r)
}

// looksLikeCode reports whether a piece means more than its words do.
func looksLikeCode(piece string) bool {
	letters, marks, humps := 0, 0, 0
	lower := false
	for _, r := range piece {
		switch {
		case text.Unspaced(r):
			return false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			letters++
			if lower && unicode.IsUpper(r) {
				humps++
			}
			lower = unicode.IsLower(r)
		case strings.ContainsRune(codeMarks, r):
			marks++
			lower = false
		default:
			return false
		}
	}
	return letters > 0 && marks+humps > 0
}

// exactMark begins every exact term, and punctuation is moved into the
// private use area above it: SQLite's tokenizer keeps both as they are.
const exactMark = '\ue000'

func exactTerm(piece string) string {
	var b strings.Builder
	b.WriteRune(exactMark)
	for _, r := range strings.ToLower(piece) {
		if r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r += exactMark
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Join writes the plain and the exact terms as SQLite takes them.
func Join(all []Term) (words, exact string) {
	var w, x strings.Builder
	size := 0
	for _, t := range all {
		size += len(t.Text) + 1
	}
	w.Grow(size)
	for _, t := range all {
		b := &w
		if t.Exact {
			b = &x
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return w.String(), x.String()
}

// Alone tells a character of a script without spaces that nothing else
// stands next to: 犬, but not the 年 of 2025年.
func (t Term) Alone(question string) bool {
	before, _ := utf8.DecodeLastRuneInString(question[:t.Start])
	after, _ := utf8.DecodeRuneInString(question[t.End:])
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	return t.Pair() && utf8.RuneCountInString(t.Text) == 1 && !inWord(before) && !inWord(after)
}
