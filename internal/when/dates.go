package when

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// mostDates bounds the dates found in one line.
	mostDates = 10
	// around is how many bytes on each side of a year are examined.
	around = 32
)

// Dates returns the days and months with a year that a line names, such as
// 2026-03-14, 14 March 2026 or March 2026. If the line begins with a date without
// a year, such as "3 Oct: ", that is in the given year, unless year is 0. rest is
// the line without the dates. A line without a year is handled quickly.
func Dates(line string, year int) (dates []Span, rest string) {
	start, at := len(line)-len(strings.TrimLeft(line, " \t-*+>|#_[]x")), nextYear(line, 0)
	if at < 0 && (year == 0 || !strings.ContainsAny(line[start:min(start+16, len(line))], "0123456789")) {
		return nil, line
	}
	lower := strings.ToLower(line)
	if len(lower) != len(line) {
		return nil, line
	}
	begun := 0 // start of the part that is not examined yet
	for ; at >= 0 && len(dates) < mostDates; at = nextYear(lower, at) {
		from, to := startOf(lower, max(begun, at-around)), startOf(lower, at+around)
		found, first, end := dateAt(lower[:to], from, at, 0)
		at += len("2026")
		if !found.IsZero() {
			dates, rest = append(dates, found), rest+line[begun:first]
			begun, at = end, max(at, end)
		}
	}
	if year != 0 && begun == 0 {
		if found, _, end := dateAt(lower[:startOf(lower, start+around)], start, start, year); !found.IsZero() {
			dates, rest, begun = append(dates, found), line[:start], end
		}
	}
	return dates, rest + line[begun:]
}

// startOf returns the start of the character at an offset, or the end of the
// text.
func startOf(text string, at int) int {
	for at = min(at, len(text)); at < len(text) && !utf8.RuneStart(text[at]); {
		at--
	}
	return at
}

// nextYear returns the offset of the next number from 1900 to 2099, or -1.
func nextYear(s string, from int) int {
	isDigit := func(i int) bool { return i >= 0 && i < len(s) && '0' <= s[i] && s[i] <= '9' }
	for i := from; i+4 <= len(s); i++ {
		if (s[i] == '1' && s[i+1] == '9' || s[i] == '2' && s[i+1] == '0') && isDigit(i+2) && isDigit(i+3) && !isDigit(i-1) && !isDigit(i+4) {
			return i
		}
	}
	return -1
}

// dateAt returns the date that includes the text at an offset of a line in lower
// case, with its start, which is not before from, and its end. If year is not 0,
// the date must start at the offset and have no year.
func dateAt(lower string, from, at, year int) (date Span, start, end int) {
	r := newReader(lower[from:], dayOne)
	r.year = year
	for i, kind := range r.kinds {
		if kind == '?' || r.tokens[i].start > at-from {
			continue
		}
		it, ok := r.plain(i, r.tokens[i].unspaced)
		if it.start = r.tokens[i].start; !ok || !absolute.MatchString(r.kinds[i:it.next]) {
			continue
		}
		if it.end = r.tokens[it.next-1].end; it.end > at-from && (year == 0 || it.start == at-from) && (year != 0 || r.of(i, it.next, "dYy").kind != 0) {
			return it.Span, it.start + from, it.end + from
		}
	}
	return Span{}, 0, 0
}

// absolute matches the tokens of a day or month with its year.
var absolute = regexp.MustCompile(`^(?:d|[NOYyM][^I]*M?[^I]*)$`)

// dayOne replaces today where the year is explicit.
var dayOne = time.Date(1900, 1, 1, 0, 0, 0, 0, time.Local)

// Heading returns the dates of a heading: those of [Dates], or else the month
// that is its first word. around is the year of the enclosing headings. named is
// the year that the heading itself names, or else around; 0 means none.
func Heading(heading string, around int) (dates []Span, named int) {
	lower := strings.ToLower(heading)
	if at := nextYear(lower, 0); at >= 0 {
		around, _ = strconv.Atoi(lower[at : at+4]) //nolint:errcheck // always digits
	}
	first, _, _ := strings.Cut(strings.TrimSpace(lower), " ")
	month := meanings()[strings.Trim(first, ".,:")]
	if dates, _ = Dates(heading, around); len(dates) == 0 && month.kind == 'M' && around != 0 {
		dates = []Span{monthsFrom(dayOne, around, month.value, 1)}
	}
	return dates, around
}

// IsWeekday reports whether a word is a weekday or its abbreviation.
func IsWeekday(word string) bool {
	word = strings.ToLower(word)
	for name, m := range meanings() {
		if m.kind == 'W' && len(word) > 1 && strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}
