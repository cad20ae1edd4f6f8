package when

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// token is a word or number that may be part of a time. In addition to the kinds of
// the vocabulary there are d, a date with its year; n, a day and month in figures; Y, a
// year; Q, a quarter; '|', the end of a sentence; and '?', any other word.
type token struct {
	meaning
	span       Span // of d
	start, end int
}

// reader parses the times in a text in lower case.
type reader struct {
	text   string
	tokens []token
	kinds  string // one character per token
	today  Day
	toward int  // a time without a year or week is -1: the last, 1: the next, 0: the nearest
	year   int  // year of dates without one; 0: unknown
	last   Span // time of the previous question
}

// pieces matches a date in figures, a quarter, a number, a word, or a mark.
var pieces = regexp.MustCompile(`(\d{4})[-/.](\d\d?)[-/.](\d\d?)(?:t\d\d:\d\d[\d:.z]*)?|(\d\d?)\.(\d\d?)\.(\d{4})?|(\d{4})-(\d\d)` +
	`|(\d{4})[ /-]?q([1-4])|q([1-4])(?:[ /-]?(\d{4}))?|(\d+)(st|nd|rd|th|\.)?|\pL[\pL\d]*(?:['’][\pL\d]*)*|\S|\n`)

// newReader splits a text in lower case into tokens.
func newReader(lower string, today Day) *reader {
	r := &reader{text: lower, today: today, toward: -1}
	found := pieces.FindAllStringSubmatchIndex(lower, -1)
	for i := 0; i < len(found); i++ {
		t := token{meaning{'?', 0}, Span{}, found[i][0], found[i][1]}
		first, _ := utf8.DecodeRuneInString(lower[t.start:])
		switch {
		case t.read(lower, found[i]):
		case isWordRune(first):
			i += t.readPhrase(lower, found[i:])
		case strings.ContainsRune("-–—", first):
			before, _ := utf8.DecodeLastRuneInString(lower[:t.start])
			after, _ := utf8.DecodeRuneInString(lower[t.end:])
			if t.kind = 'J'; isLetter(before) && isLetter(after) {
				t.kind = 'a'
			}
		case strings.ContainsRune(".?!;:\n", first):
			if t.kind = '|'; first == '.' && strings.HasSuffix(r.kinds, "M") {
				t.kind = 'a' // as in "Jan. 2026"
			}
		case strings.ContainsRune(",'’\"“”()*_", first):
			t.kind = 'a'
		}
		switch t.kind {
		case 'a':
			continue
		case 'X':
			r.toward = 1
		}
		r.tokens, r.kinds = append(r.tokens, t), r.kinds+string(rune(t.kind))
	}
	return r
}

func isLetter(r rune) bool { return isWordRune(r) && (r < '0' || r > '9') }

// read reads a match of [pieces] that starts with a number or is a quarter.
func (t *token) read(lower string, match []int) bool {
	n := make([]int, len(match)/2) // of its groups; 0: not matched
	for g := 1; g < len(n); g++ {
		if match[2*g] >= 0 {
			n[g], _ = strconv.Atoi(lower[match[2*g]:match[2*g+1]]) //nolint:errcheck // too large a number is no part of a time
		}
	}
	after, _ := utf8.DecodeRuneInString(lower[t.end:])
	alone, span, ok := !isWordRune(after), Span{}, false
	switch {
	case n[1] > 0:
		span, ok = date(n[1], n[2], n[3])
	case n[6] > 0:
		span, ok = date(n[6], n[5], n[4])
	case n[7] > 0:
		span, ok = months(n[7], n[8], 1), 1 <= n[8] && n[8] <= 12 && after != '-'
		t.value = aMonth
	case n[9] > 0:
		span, ok = months(n[9], 3*n[10]-2, 3), true
		t.value = aQuarter
	case n[12] > 0:
		span, ok = months(n[12], 3*n[11]-2, 3), true
		t.value = aQuarter
	case n[11] > 0:
		t.meaning = meaning{'Q', n[11]}
	case n[4] > 0:
		t.meaning = meaning{'n', 100*n[5] + n[4]}
	case match[2*13] >= 0:
		t.readNumber(lower, n[13], match)
	default:
		return false
	}
	if ok {
		t.kind, t.span, t.value = 'd', span, max(t.value, aDay)
	}
	if !alone {
		t.kind = '?'
	}
	return true
}

const tenYears = 3650

// readNumber reads a year, a number or a rank, such as 2026, 3 and 3rd. A full stop
// after a number is of a rank if the sentence goes on.
func (t *token) readNumber(lower string, n int, match []int) {
	ranked, stop := match[2*14] >= 0, lower[t.end-1] == '.'
	digits := match[2*13+1] - match[2*13]
	if stop && (digits > 2 || !strings.HasPrefix(lower[t.end:], " ")) {
		t.end--
	}
	switch {
	case digits > 4 || n > tenYears:
	case digits == 4 && 1900 <= n && n < 2100 && (!ranked || stop):
		t.meaning = meaning{'Y', n}
	case ranked:
		t.meaning = meaning{'O', n}
	default:
		t.meaning = meaning{'N', n}
	}
}

// longestPhrase is the most words of a phrase in the vocabulary.
const longestPhrase = 4

var phraseOf = strings.NewReplacer("-", " ", "’", "'")

// readPhrase reads the longest phrase of the vocabulary that starts with the first of
// some matches of [pieces], and returns how many more it takes.
func (t *token) readPhrase(lower string, found [][]int) (more int) {
	for n := min(2*longestPhrase, len(found)) - 1; n >= 0; n-- { // hyphens are pieces too
		end := found[n][1]
		phrase := phraseOf.Replace(lower[t.start:end])
		m, ok := meanings()[phrase]
		if !ok {
			m, ok = meanings()[strings.TrimSuffix(strings.TrimRight(phrase, "'"), "'s")]
		}
		if ok {
			t.meaning, t.end = m, end
			return n
		}
	}
	return 0
}

// possessive reports whether a word ends in 's.
func (t token) possessive(text string) bool {
	return strings.HasSuffix(phraseOf.Replace(text[t.start:t.end]), "'s")
}
