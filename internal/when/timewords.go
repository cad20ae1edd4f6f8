package when

import (
	"cmp"
	"regexp"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// plainTime is one way to name a time.
type plainTime struct {
	pattern func() *regexp.Regexp // its groups are timeParts
	spaced  bool                  // it begins and ends where words do
	unit    timeUnit
	step    int // how many of the unit from today
}

// timeParts are what was said of a time, in lower case.
type timeParts map[string]string

// number is a part in digits; 0: it was not said.
func (p timeParts) number(name string) int {
	n, err := strconv.Atoi(p[name])
	if err != nil {
		return 0
	}
	return n
}

type timeUnit int

const (
	aDay timeUnit = iota
	aWeek
	aWeekend
	aMonth
	aQuarter
	aYear
	ago        // so many units before today
	theLast    // the last so many units, with today
	recently   // the last days, as many as step
	aWeekday   // the last such day before today
	dayOfWeek  // such a day of the week that is step weeks away
	monthNamed // March
	seasonOf   // the summer
	quarterOf  // Q3
	feastDay   // Christmas
	// Those from here on are said with a digit.
	dayOfMonth  // 2026-03-14, 14 March, or the 14th
	monthOfYear // March 2026
	givenYear
)

// lastBegun as the step of a weekend is the last one that has begun.
const lastBegun = 99

// span is what was said, on a day. Not ok: there is no such time.
func (t plainTime) span(day time.Time, said timeParts) (s Span, ok bool) {
	switch t.unit {
	case aWeek:
		if day.Weekday() == time.Sunday && t.step < 0 {
			t.step++ // to who looks back on a Sunday the week that ends is over
		}
		return daysFrom(mondayOf(day).AddDate(0, 0, 7*t.step), 7), true
	case aWeekend:
		return daysFrom(t.saturday(day), 2), true
	case aMonth:
		return monthsFrom(day, day.Year(), int(day.Month())+t.step, 1), true
	case aQuarter:
		return monthsFrom(day, day.Year(), (int(day.Month())-1)/3*3+1+3*t.step, 3), true
	case aYear:
		return monthsFrom(day, day.Year()+t.step, 1, 12), true
	case ago:
		n, ok := countOf(said["n"])
		return Span{back(day, n, said["unit"], -1).From, back(day, n, said["unit"], 1).To}, ok
	case theLast:
		n, ok := countOf(said["n"])
		return Span{back(day, n, said["unit"], 0).From, day.AddDate(0, 0, 1)}, ok
	case recently:
		return Span{day.AddDate(0, 0, -t.step), day.AddDate(0, 0, 1)}, true
	case aWeekday:
		ago := (int(day.Weekday())-weekdays[said["day"]]+6)%7 + 1
		return daysFrom(day.AddDate(0, 0, -ago), 1), true
	case dayOfWeek:
		return daysFrom(mondayOf(day).AddDate(0, 0, 7*t.step+(weekdays[said["day"]]+6)%7), 1), true
	case dayOfMonth:
		s, ok = dateOf(day, said)
		if first := said.number("first"); ok && first > 0 && first <= s.From.Day() {
			s.From = s.From.AddDate(0, 0, first-s.From.Day())
		}
		return s, ok
	case monthNamed, monthOfYear:
		month, ok := monthOf(said["month"])
		return said.stretch(day, month, 1), ok
	case seasonOf:
		return said.stretch(day, seasons[said["season"]], 3), true
	case feastDay:
		return said.feast(day), true
	case quarterOf:
		return said.stretch(day, 3*ordinals[said["quarter"]]-2, 3), true
	case givenYear:
		return monthsFrom(day, said.number("year"), 1, 12), true
	}
	return daysFrom(day.AddDate(0, 0, t.step), 1), true
}

// daysFrom is a stretch of so many days.
func daysFrom(from time.Time, n int) Span { return Span{from, from.AddDate(0, 0, n)} }

// monthsFrom is a stretch of n months from one on, where 0 is the December
// before.
func monthsFrom(day time.Time, year, month, n int) Span {
	from := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, day.Location())
	return Span{from, from.AddDate(0, n, 0)}
}

func mondayOf(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }

// saturday is the first day of the weekend so many steps from a day.
func (t plainTime) saturday(day time.Time) time.Time {
	if t.step == lastBegun {
		return day.AddDate(0, 0, -(int(day.Weekday())+1)%7)
	}
	return mondayOf(day).AddDate(0, 0, 5+7*t.step)
}

// back is the day so many units before a day. Who says weeks means no day of
// them: around is -1 for the first day that may be meant, 1 for the last.
func back(day time.Time, n int, unit string, around int) Span {
	switch timeUnits[unit] {
	case 'w':
		day = day.AddDate(0, 0, -7*n+3*around)
	case 'm':
		day = day.AddDate(0, -n, 15*around)
	case 'y':
		day = day.AddDate(-n, 3*around, 0)
	default:
		day = day.AddDate(0, 0, -n)
	}
	return daysFrom(day, 1)
}

// countOf reads how many days, weeks or years.
func countOf(word string) (n int, ok bool) {
	if n, ok = counts[word]; ok {
		return n, true
	}
	n, err := strconv.Atoi(word)
	const tenYears = 3650
	return n, err == nil && n <= tenYears
}

// stretch is n months from a month on: of the year that is said, else the
// last that has begun, or that has ended where the last one is asked for.
func (p timeParts) stretch(day time.Time, month, n int) Span {
	year, which := day.Year(), whichOne[p["which"]]
	switch {
	case p["year"] != "":
		return monthsFrom(day, p.number("year"), month, n)
	case which == yearBefore:
		return monthsFrom(day, year-1, month, n)
	case month+n > 13 && day.Month() <= time.June: // of winters, the one that began last year
		year--
	}
	s := monthsFrom(day, year, month, n)
	for which != thisOne && s.From.After(day) || which == lastOne && s.To.After(day) {
		year--
		s = monthsFrom(day, year, month, n)
	}
	return s
}

// feast is the last that has begun, or that of the year that is said.
func (p timeParts) feast(day time.Time) Span {
	at := feasts[p["feast"]]
	year := cmp.Or(p.number("year"), day.Year())
	from := time.Date(year, time.Month(at[0]), at[1], 0, 0, 0, 0, day.Location())
	if p["year"] == "" && from.After(day) {
		from = from.AddDate(-1, 0, 0)
	}
	return daysFrom(from, at[2])
}

// which of the stretches of a name is meant; 0: the last that has begun.
type which int

const (
	thisOne which = 1 + iota
	lastOne
	yearBefore // that of last year
)

// dateOf is a day of a month; without a year or a month the last such day,
// today included. Not ok: there is no such day.
func dateOf(today time.Time, said timeParts) (s Span, ok bool) {
	month, ok := monthOf(said["month"])
	alone := said["month"] == ""
	if alone {
		month, ok = int(today.Month()), true
	}
	d, year := said.number("day"), cmp.Or(said.number("year"), today.Year())
	date := time.Date(year, time.Month(month), d, 0, 0, 0, 0, today.Location())
	if ok = ok && date.Day() == d; !ok || said["year"] != "" || !date.After(today) {
		return daysFrom(date, 1), ok
	}
	if alone {
		date = time.Date(year, time.Month(month-1), d, 0, 0, 0, 0, today.Location())
	} else {
		date = time.Date(year-1, time.Month(month), d, 0, 0, 0, 0, today.Location())
	}
	return daysFrom(date, 1), date.Day() == d
}

// monthOf is the number of a month, by its name or as it is.
func monthOf(name string) (n int, ok bool) {
	if n, ok = monthNames[name]; ok {
		return n, true
	}
	n, err := strconv.Atoi(name)
	return n, err == nil && n >= 1 && n <= 12
}

// find is the first place in a text, in lower case, where the time is said,
// with the places of the pattern's groups; nil: it is not.
func (t plainTime) find(text string) []int {
	const most = 10 // of a word that hides in others
	for _, at := range t.pattern().FindAllStringSubmatchIndex(text, most) {
		if t.alone(text, at) {
			return at
		}
	}
	return nil
}

// alone reports whether a match begins and ends where words do, if it has to.
func (t plainTime) alone(text string, at []int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
	after, _ := utf8.DecodeRuneInString(text[at[1]:])
	if t.unit == monthOfYear && len(text) > at[1]+1 && text[at[1]] == '-' && isWordRune(rune(text[at[1]+1])) {
		return false // 2026-02-30 is no day, and no month
	}
	return !t.spaced || !isWordRune(before) && !isWordRune(after)
}

// parts are the groups of a match.
func (t plainTime) parts(text string, at []int) timeParts {
	parts := timeParts{}
	for i, name := range t.pattern().SubexpNames() {
		if name != "" && at[2*i] >= 0 {
			parts[name] = text[at[2*i]:at[2*i+1]]
		}
	}
	return parts
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
