package rag

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Terms are what words are indexed and searched by. Words of scripts with
// spaces are stemmed; runs of Chinese, Japanese, Korean or Thai letters become
// overlapping pairs; anything that looks like code, a path or a #tag is kept
// exactly as well. Both sides of a search cut their text here, and SQLite is
// handed finished terms: its tokenizer only splits at the spaces.

// term is one unit of the word index.
type term struct {
	text  string
	exact bool // of the column for identifiers, paths and #tags
	start int  // byte offset in the text
	end   int
}

// pair tells whether a term is a piece of a script without spaces.
func (t term) pair() bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	return isUnspaced(r)
}

// terms cuts a text of a language. The plain terms come in reading order, one
// position each; exact terms follow the words they cover.
func terms(text string, in language) []term {
	found := make([]term, 0, len(text)/5)
	for start := 0; start < len(text); {
		r, size := utf8.DecodeRuneInString(text[start:])
		if unicode.IsSpace(r) {
			start += size
			continue
		}
		end := start + size
		for end < len(text) {
			r, size = utf8.DecodeRuneInString(text[end:])
			if unicode.IsSpace(r) {
				break
			}
			end += size
		}
		found = appendWords(found, text[start:end], start, in)
		found = appendExact(found, text[start:end], start)
		start = end
	}
	return found
}

// appendWords cuts what stands between two spaces into words and pairs.
func appendWords(found []term, piece string, offset int, in language) []term {
	for i := 0; i < len(piece); {
		r, size := utf8.DecodeRuneInString(piece[i:])
		if !wordRune(r) {
			i += size
			continue
		}
		start, unspaced := i, isUnspaced(r)
		for i < len(piece) {
			r, size = utf8.DecodeRuneInString(piece[i:])
			if !wordRune(r) || isUnspaced(r) != unspaced {
				break
			}
			i += size
		}
		if unspaced {
			found = appendPairs(found, piece[start:i], offset+start)
			continue
		}
		found = append(found, term{text: in.stem(piece[start:i]), start: offset + start, end: offset + i})
	}
	return found
}

func appendPairs(found []term, run string, offset int) []term {
	if utf8.RuneCountInString(run) == 1 {
		return append(found, term{text: fold(run), start: offset, end: offset + len(run)})
	}
	for i := 0; i < len(run); {
		_, first := utf8.DecodeRuneInString(run[i:])
		_, second := utf8.DecodeRuneInString(run[i+first:])
		if second == 0 {
			break
		}
		found = append(found, term{text: fold(run[i : i+first+second]), start: offset + i, end: offset + i + first + second})
		i += first
	}
	return found
}

// appendExact adds what means more than its letters, as it is: foo_bar,
// --soft, a/b.go, #tag, C++, useState. Brackets and quotation marks part:
// sync_all("a/b") holds sync_all and a/b.
func appendExact(found []term, piece string, offset int) []term {
	if len(piece) > 200 {
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
			found = append(found, term{text: exactTerm(trimmed), exact: true, start: at, end: at + len(trimmed)})
		}
		if end == len(piece) {
			break
		}
		_, size := utf8.DecodeRuneInString(piece[end:])
		start = end + size
	}
	return found
}

// codeMarks may stand within an identifier, a path, a flag or a tag.
const codeMarks = "_-./#+@:~$%\\=&"

// partsCode tells a sign that parts identifiers and paths. An apostrophe does
// not: "isn't/wasn't" is no path.
func partsCode(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(codeMarks+"'’", r)
}

// looksLikeCode tells whether a piece means more than its words do.
func looksLikeCode(piece string) bool {
	letters, marks, humps := 0, 0, 0
	lower := false
	for _, r := range piece {
		switch {
		case isUnspaced(r):
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

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// isUnspaced tells whether r belongs to a script written without spaces.
func isUnspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == '々'
}

// fold makes a word comparable: lower case, full width to half width, accents
// taken off.
func fold(word string) string {
	ascii := true
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(word)
	}
	if r, _ := utf8.DecodeRuneInString(word); isUnspaced(r) {
		return norm.NFKC.String(strings.ToLower(word)) // the marks of kana make another letter
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(word)) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// joinTerms writes the plain and the exact terms as SQLite takes them.
func joinTerms(all []term) (words, exact string) {
	var w, x strings.Builder
	for _, t := range all {
		b := &w
		if t.exact {
			b = &x
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return w.String(), x.String()
}
