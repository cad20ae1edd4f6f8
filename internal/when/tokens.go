package when

import (
	"cmp"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// token is a word or number that may be part of a time. In addition to the kinds of
// the vocabulary there are d, a date with its year; n, a day and month in figures; Y, a
// year; Q, a quarter; '|', the end of a sentence; 'x', what looks like a date and is none, or
// has no order; and '?', any other word.
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
	toDay  bool // a count of weeks or months is meant to the day, as in a deadline
	toward int  // a time without a year or week is -1: the last, 1: the next, 0: the nearest
	year   int  // year of dates without one; 0: unknown
	last   Span // time of the previous question
	order  order
}

// order is the order of the day and the month in dates such as 12/10/2025.
type order int

const (
	unknownOrder order = iota
	dayFirst
	monthFirst
)

// localOrder is the order in the user's locale. That of no locale, on Unix, has the month first (POSIX).
var localOrder = sync.OnceValue(func() order { return orderIn(os.Getenv, runtime.GOOS) })

func orderIn(getenv func(string) string, system string) order {
	locale, _, _ := strings.Cut(cmp.Or(getenv("LC_ALL"), getenv("LC_TIME"), getenv("LANG")), ".")
	_, region, named := strings.Cut(locale, "_")
	switch {
	case slices.Contains([]string{"US", "PH", "PR", "GU", "VI"}, region), locale == "C", locale == "POSIX",
		locale == "" && system != "windows":
		return monthFirst
	case named:
		return dayFirst
	}
	return unknownOrder
}

// figures matches a date in figures, a quarter, or a number.
var figures = regexp.MustCompile(`^(?:(\d{4})[-/.](\d\d?)[-/.](\d\d?)(?:t\d\d:\d\d[\d:.z]*)?|` +
	`(\d\d?)\.(\d\d?)\.(\d{4})?|(\d{4})-(\d\d)` +
	`|(\d{4})[ /-]?q([1-4])|q([1-4])(?:[ /-]?(\d{4}))?|(\d+)(st|nd|rd|th|\.)?)`)

// others matches dates in figures in other notations: 12/10/2025, 10/2025, 2025-W42, the 1990s.
var others = regexp.MustCompile(`^(?:(\d\d?)[/-](\d\d?)[/-](\d{4})|(\d\d?)/(\d\d?)/(\d\d)|(\d\d?)/(\d{4})|` +
	`(\d{4})-?w(\d\d)|(?:the )?((?:19|20)?\d0)s)(?:[^\pL\d/]|$)`)

var slashed = regexp.MustCompile(`\b(\d\d?)[/-](\d\d?)[/-](?:\d\d)?\d\d\b`)

// readOther reads a date in one of the other notations.
func (t *token) readOther(lower string, order order) bool {
	const longest = 20
	match := others.FindStringSubmatchIndex(lower[t.start:min(t.start+longest, len(lower))])
	if match == nil {
		return false
	}
	n := make([]int, len(match)/2)
	for g := 1; g < len(n); g++ {
		if match[2*g] >= 0 {
			//nolint:errcheck // at most four digits
			n[g], _ = strconv.Atoi(lower[t.start+match[2*g] : t.start+match[2*g+1]])
			t.end = t.start + match[2*g+1]
		}
	}
	span, unit, ok := Span{}, aDay, false
	switch {
	case match[2] >= 0:
		span, ok = order.date(n[1], n[2], n[3])
	case match[8] >= 0:
		span, ok = order.date(n[4], n[5], 2000+n[6])
	case match[14] >= 0:
		if n[7] > 12 { // KW 42/2025
			return false
		}
		span, ok, unit = months(n[8], n[7], 1), n[7] > 0, aMonth
	case match[18] >= 0:
		span, ok = Week(n[9], n[10])
		unit = aWeek
	default:
		t.end++ // the s
		year := n[11]
		if year < 100 {
			year += 1900
			if year < 1930 {
				year += 100
			}
		}
		span, ok, unit = months(year, 1, 120), true, aYear
	}
	if t.kind = 'x'; ok {
		t.kind, t.span, t.value = 'd', span, unit
	}
	return true
}

// date returns a day whose day and month are in this order, or in the only possible one.
func (o order) date(first, second, year int) (Span, bool) {
	switch {
	case first > 12:
		o = dayFirst
	case second > 12, o == unknownOrder && first == second:
		o = monthFirst
	}
	if o == unknownOrder {
		return Span{}, false
	}
	if o == monthFirst {
		first, second = second, first
	}
	return date(year, second, first)
}

// newReader splits a text in lower case into tokens.
func newReader(lower string, today Day, toward int) *reader {
	return newReaderIn(lower, today, toward, localOrder())
}

func newReaderIn(lower string, today Day, toward int, order order) *reader {
	r := &reader{text: lower, today: today, toward: toward, order: order}
	for _, pair := range slashed.FindAllStringSubmatch(lower, -1) { // 20/10/2025 says the order of 12/10/2025
		first, _ := strconv.Atoi(pair[1])  //nolint:errcheck // two digits
		second, _ := strconv.Atoi(pair[2]) //nolint:errcheck // two digits
		if first > 12 && second <= 12 {
			r.order = dayFirst
		} else if second > 12 && first <= 12 {
			r.order = monthFirst
		}
	}
	var kinds []byte
	for at := 0; at < len(lower); {
		first, size := utf8.DecodeRuneInString(lower[at:])
		t := token{meaning{'?', 0}, Span{}, at, at + size}
		switch {
		case isDigit(first) && t.readOther(lower, r.order):
		case (first == 'q' || isDigit(first)) && t.readFigures(lower):
		case isLetter(first):
			t.readPhrase(lower)
		case first == '/' && len(kinds) > 0 && kinds[len(kinds)-1] == 'N' && inYear.MatchString(lower[at:]):
			t.kind = 'f' // KW 42/2025
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
		case 'K': // a fortnight is two weeks
			weeks := t
			weeks.meaning = meaning{'N', t.value}
			if last := len(kinds) - 1; last >= 0 && kinds[last] == 'N' {
				weeks.value *= r.tokens[last].value
			}
			r.tokens, kinds = append(r.tokens, weeks), append(kinds, 'N')
			t.meaning = meaning{'U', aWeek}
		case 'X':
			r.toward = 1
		}
		r.tokens, kinds = append(r.tokens, t), append(kinds, t.kind)
	}
	r.kinds = string(kinds)
	return r
}

var inYear = regexp.MustCompile(`^/\d{4}(?:\D|$)`)

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
			//nolint:errcheck // too large a number is no part of a time
			n[g], _ = strconv.Atoi(lower[t.start+match[2*g] : t.start+match[2*g+1]])
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
	switch {
	case ok:
		t.kind, t.span, t.value = 'd', span, max(t.value, aDay)
	case n[1] > 0 || n[6] > 0:
		t.kind = 'x'
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
