package when

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
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

// figures matches a date in figures, a quarter, or a number.
var figures = regexp.MustCompile(`^(?:(\d{4})[-/.](\d\d?)[-/.](\d\d?)(?:t\d\d:\d\d[\d:.z]*)?|(\d\d?)\.(\d\d?)\.(\d{4})?|(\d{4})-(\d\d)` +
	`|(\d{4})[ /-]?q([1-4])|q([1-4])(?:[ /-]?(\d{4}))?|(\d+)(st|nd|rd|th|\.)?)`)

// newReader splits a text in lower case into tokens.
func newReader(lower string, today Day, toward int) *reader {
	r := &reader{text: lower, today: today, toward: toward}
	var kinds []byte
	for at := 0; at < len(lower); {
		first, size := utf8.DecodeRuneInString(lower[at:])
		t := token{meaning{'?', 0}, Span{}, at, at + size}
		switch {
		case (first == 'q' || isDigit(first)) && t.readFigures(lower):
		case isLetter(first):
			t.readPhrase(lower)
		case strings.ContainsRune("-–—", first):
			before, _ := utf8.DecodeLastRuneInString(lower[:t.start])
			after, _ := utf8.DecodeRuneInString(lower[t.end:])
			if t.kind = 'J'; isLetter(before) && isLetter(after) {
				t.kind = 'a'
			}
		case strings.ContainsRune(".?!;:\n", first):
			if t.kind = '|'; first == '.' && len(kinds) > 0 && kinds[len(kinds)-1] == 'M' {
				t.kind = 'a' // as in "Jan. 2026"
			}
		case unicode.IsSpace(first) || strings.ContainsRune(",'’\"“”()*_", first):
			t.kind = 'a'
		}
		switch at = t.end; t.kind {
		case 'a':
			continue
		case 'X':
			r.toward = 1
		}
		r.tokens, kinds = append(r.tokens, t), append(kinds, t.kind)
	}
	r.kinds = string(kinds)
	return r
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isLetter(r rune) bool { return isWordRune(r) && !isDigit(r) }

// readFigures reads a date in figures, a quarter or a number, if there is one.
func (t *token) readFigures(lower string) bool {
	const longest = 32 // bytes of a date with its time
	match := figures.FindStringSubmatchIndex(lower[t.start:min(t.start+longest, len(lower))])
	if match == nil {
		return false
	}
	t.end = t.start + match[1]
	n := make([]int, len(match)/2) // of its groups; 0: not matched
	for g := 1; g < len(n); g++ {
		if match[2*g] >= 0 {
			n[g], _ = strconv.Atoi(lower[t.start+match[2*g] : t.start+match[2*g+1]]) //nolint:errcheck // too large a number is no part of a time
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
	default:
		t.readNumber(lower, n[13], match)
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

// readPhrase reads a word, or the longest phrase of the vocabulary that starts with it.
func (t *token) readPhrase(lower string) {
	for n, end := 0, t.start; n < longestPhrase; n++ {
		length := strings.IndexFunc(lower[end:], func(r rune) bool { return !isWordRune(r) && r != '\'' && r != '’' })
		if length == 0 {
			break
		}
		if end += length; length < 0 {
			end = len(lower)
		}
		if n == 0 {
			t.end = end
		}
		phrase := phraseOf.Replace(lower[t.start:end])
		m, ok := meanings()[phrase]
		if !ok {
			m, ok = meanings()[strings.TrimSuffix(strings.TrimRight(phrase, "'"), "'s")]
		}
		if ok {
			t.meaning, t.end = m, end
		}
		if end == len(lower) || lower[end] != ' ' && lower[end] != '-' {
			break
		}
		end++
	}
}

// possessive reports whether a word ends in 's.
func (t token) possessive(text string) bool {
	return strings.HasSuffix(phraseOf.Replace(text[t.start:t.end]), "'s")
}
