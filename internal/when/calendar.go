package when

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Day is a day of the calendar, whatever the time zone; the zero Day is none.
type Day struct {
	Year  int
	Month time.Month
	Day   int
}

// DayOf returns the day that a time has in its own time zone; none for the zero time.
func DayOf(t time.Time) Day {
	if t.IsZero() {
		return Day{}
	}
	return Day{t.Year(), t.Month(), t.Day()}
}

// IsZero reports whether the day is none.
func (d Day) IsZero() bool { return d == Day{} }

// ParseDay reads a day that is written as YYYY-MM-DD and exists.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Day{}, fmt.Errorf("%q is not a date; write it as YYYY-MM-DD", text)
	}
	return DayOf(t), nil
}

// Begins returns the first moment of the day on this machine's clock, which is not always midnight; the
// zero time for none. It is for comparing with clocks, such as file times: days are compared as days.
func (d Day) Begins() time.Time {
	if d.IsZero() {
		return time.Time{}
	}
	t := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.Local)
	if DayOf(t) != d { // the clock skips midnight
		_, t = t.ZoneBounds()
	}
	return t
}

// Number returns the number of days from 1970 to the day.
func (d Day) Number() int64 { return d.utc().Unix() / (24 * 60 * 60) }

// Add returns the day n days later.
func (d Day) Add(n int) Day { return DayOf(d.utc().AddDate(0, 0, n)) }

// AddMonths returns the same day n months later, or the last of that month if it has no such day.
func (d Day) AddMonths(n int) Day {
	first := DayOf(Day{d.Year, d.Month, 1}.utc().AddDate(0, n, 0))
	return Day{first.Year, first.Month, min(d.Day, first.InMonth())}
}

// Since returns the number of days from another day to the day.
func (d Day) Since(other Day) int { return int(d.Number() - other.Number()) }

// Before reports whether the day is before another.
func (d Day) Before(other Day) bool { return d.Compare(other) < 0 }

// Compare is negative if the day is before another, and positive if it is after it. None is before all.
func (d Day) Compare(other Day) int {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day))
}

// Weekday returns the day of the week.
func (d Day) Weekday() time.Weekday { return d.utc().Weekday() }

// Monday returns the first day of the day's week.
func (d Day) Monday() Day { return d.Add(-(int(d.Weekday()) + 6) % 7) }

// InMonth returns how many days the day's month has.
func (d Day) InMonth() int { return time.Date(d.Year, d.Month+1, 0, 0, 0, 0, 0, time.UTC).Day() }

// Format formats the day in a layout of package time; "" for none.
func (d Day) Format(layout string) string {
	if d.IsZero() {
		return ""
	}
	return d.utc().Format(layout)
}

// String formats the day as YYYY-MM-DD; "" for none.
func (d Day) String() string { return d.Format(time.DateOnly) }

// MarshalText formats the day as String does.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote, and the day that a text such as 2026-03-14T00:00:00Z begins with.
func (d *Day) UnmarshalText(text []byte) (err error) {
	if *d = (Day{}); len(text) > 0 {
		*d, err = ParseDay(string(text[:min(len(text), len(time.DateOnly))]))
	}
	return err
}

func (d Day) utc() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

// Span is the days from From until To, exclusive. A side that is no day is unbounded;
// the zero Span means no time.
type Span struct{ From, To Day }

// IsZero reports whether the span is zero.
func (s Span) IsZero() bool { return s == Span{} }

// Meets reports whether two spans have a day in common.
func (s Span) Meets(other Span) bool {
	return (s.To.IsZero() || other.From.Before(s.To)) && (s.From.IsZero() || s.From.Before(other.To))
}

// within returns the days that two bounded spans have in common.
func (s Span) within(other Span) Span {
	return Span{
		slices.MaxFunc([]Day{s.From, other.From}, Day.Compare), slices.MinFunc([]Day{s.To, other.To}, Day.Compare),
	}
}

func (s Span) days() int { return s.To.Since(s.From) }

// Words describes the span as a person would on the day today: "16–22 November".
func (s Span) Words(today Day) string {
	const day, month = "2 January", "January"
	format := func(d Day, layout string, named bool) string {
		if named && d.Year != today.Year {
			layout += " 2006"
		}
		return d.utc().Format(layout)
	}
	last := s.To.Add(-1)
	switch from := s.From; {
	case s.To.IsZero():
		return "since " + format(from, day, true)
	case from.IsZero():
		return "before " + format(s.To, day, true)
	case from == last:
		return format(from, day, true)
	case s == months(from.Year, 1, 12):
		return format(from, "2006", false)
	case s == months(from.Year, int(from.Month), 1):
		return format(from, month, true)
	case from.Year != last.Year:
		return format(from, day+" 2006", false) + " – " + format(last, day+" 2006", false)
	case from.Month == last.Month:
		return format(from, "2", false) + "–" + format(last, day, true)
	default:
		return format(from, day, false) + " – " + format(last, day, true)
	}
}

// The units in order of length.
const (
	aDay = 1 + iota
	aWeek
	aWeekend
	aMonth
	aQuarter
	aYear
	halfYear
)

// monthsOf are the lengths of the units of months.
var monthsOf = map[int]int{aMonth: 1, aQuarter: 3, halfYear: 6, aYear: 12}

// days returns a span of n days.
func days(from Day, n int) Span { return Span{from, from.Add(n)} }

// months returns a span of n months that starts with the given one; month 0 is
// December of the previous year.
func months(year, month, n int) Span {
	first := func(month int) Day { return DayOf(time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)) }
	return Span{first(month), first(month + n)}
}

// date returns a day as a span, and reports whether it exists.
func date(year, month, day int) (Span, bool) {
	s := days(DayOf(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)), 1)
	return s, s.From.Day == day && int(s.From.Month) == month
}

// steps returns the unit that is n units after the one that contains day.
func steps(day Day, unit, n int) Span {
	switch unit {
	case aDay:
		return days(day.Add(n), 1)
	case aWeek:
		return days(day.Monday().Add(7*n), 7)
	case aWeekend:
		return days(day.Monday().Add(7*n+5), 2)
	}
	length := monthsOf[unit]
	return months(day.Year, (int(day.Month)-1)/length*length+1+n*length, length)
}

// away returns the days about n units from a day: a count of weeks or months is
// approximate.
func away(day Day, n, unit int) Span {
	around := map[int]int{aWeek: 3, aWeekend: 3, aMonth: 15, aQuarter: 15, aYear: 3}[unit]
	switch length := monthsOf[unit]; {
	case unit == halfYear:
		return steps(day, aMonth, n*length)
	case length > 0:
		day = day.AddMonths(n * length)
	case unit == aDay:
		day = day.Add(n)
	default:
		day = day.Add(7 * n)
	}
	return Span{day.Add(-around), day.Add(around + 1)}
}

// nearDay returns the nth such weekday after a day, or before it if n is negative.
func nearDay(day Day, weekday, n int) Day {
	ahead := (weekday - int(day.Weekday()) + 7) % 7
	if n > 0 && ahead > 0 {
		n--
	}
	return day.Add(ahead + 7*n)
}

// Week returns the numbered week of a year, and reports whether the year has it. The
// first has 4 January.
func Week(year, number int) (Span, bool) {
	s := days(Day{year, time.January, 4}.Monday().Add(7*(number-1)), 7)
	inYear, got := s.From.utc().ISOWeek()
	return s, inYear == year && got == number
}

// easter returns Easter Sunday, by the anonymous Gregorian algorithm.
func easter(year int) Day {
	a, b, c := year%19, year/100, year%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	n := h + l - 7*((a+11*h+22*l)/451) + 114
	return Day{year, time.Month(n / 31), n%31 + 1}
}
