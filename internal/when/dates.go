package when

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// mostDates bounds the dates found in one line.
const mostDates = 10

// absolute matches the tokens of a day or month that needs no day to refer to.
var absolute = regexp.MustCompile(`^(?:d|[^IU]*M[^IU]*)$`)

// Dates returns the days and months with a year that a line names, such as
// 2026-03-14, 14 March 2026 or March 2026. If the line begins with a date without
// a year, such as "3 Oct: ", that is in the given year, unless year is 0. rest is
// the line without the dates. A line without a year is handled quickly.
func Dates(line string, year int) (dates []Span, rest string) {
	start := len(line) - len(strings.TrimLeft(line, " \t-*+>|#_[]x"))
	head := line[start:min(start+16, len(line))]
	examined := line[:min(len(line), maxTimed)]
	if yearIn(examined) == 0 {
		if year == 0 || !strings.ContainsAny(head, "0123456789") {
			return nil, line
		}
		examined = examined[:min(len(examined), start+32)]
	}
	lower := strings.ToLower(examined)
	if len(lower) != len(examined) {
		return nil, line
	}
	r := newReader(lower, Day{}, 0)
	r.year = year
	begun := 0 // start of the part that is not examined yet
	for i := 0; i < len(r.tokens) && len(dates) < mostDates; i++ {
		if strings.IndexByte("dNOM", r.kinds[i]) < 0 {
			continue
		}
		it, ok := r.plain(i, 0)
		if !ok || !absolute.MatchString(r.kinds[i:it.next]) {
			continue
		}
		from := r.tokens[i].start
		if named := strings.ContainsAny(r.kinds[i:it.next], "dY"); !named && (year == 0 || from != start) {
			continue
		}
		dates, rest = append(dates, it.Span), rest+line[begun:from]
		begun, i = r.tokens[it.next-1].end, it.next-1
	}
	return dates, rest + line[begun:]
}

// yearIn returns the first number from 1900 to 2099 in a text, or 0.
func yearIn(s string) int {
	digits := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isDigit(rune(s[i])) {
			digits++
			continue
		}
		if digits == 4 && (s[i-4:i-2] == "19" || s[i-4:i-2] == "20") {
			year, _ := strconv.Atoi(s[i-4 : i]) //nolint:errcheck // always digits
			return year
		}
		digits = 0
	}
	return 0
}

// Heading returns the dates of a heading: those of [Dates], or else the month
// that is its first word. around is the year of the enclosing headings. named is
// the year that the heading itself names, or else around; 0 means none.
func Heading(heading string, around int) (dates []Span, named int) {
	around = cmp.Or(yearIn(heading), around)
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(heading)), " ")
	month := meanings()[strings.Trim(first, ".,:")]
	if dates, _ = Dates(heading, around); len(dates) == 0 && month.kind == 'M' && around != 0 {
		dates = []Span{months(around, month.value, 1)}
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
