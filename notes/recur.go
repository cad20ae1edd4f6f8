package notes

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/internal/when"
)

// Next returns the line of the task's next occurrence if it is done on the given
// day: open, with all dates shifted by the same number of days. ok is false if
// the task does not recur or its rule is not understood.
//
// Rules follow Obsidian Tasks: "every 2 weeks on Monday, Friday", "every month on
// the last", "every January on the 4th", "every weekday", each optionally with
// "when done" to count from the day of completion.
func (t Task) Next(on time.Time) (line string, ok bool) {
	m := taskLine.FindStringSubmatchIndex(t.Raw)
	rule, ok := parseRule(t.Recurs)
	if m == nil || !ok {
		return "", false
	}
	reference := Midnight(on)
	for _, date := range []time.Time{t.Due, t.Scheduled, t.Start} {
		if !date.IsZero() {
			reference = date
			break
		}
	}
	from := reference
	if rule.whenDone {
		from = Midnight(on)
	}
	next, ok := rule.after(from)
	if !ok {
		return "", false
	}
	days := daysBetween(reference, next)
	text := blockMark.ReplaceAllString(strings.TrimRight(t.Raw[m[5]+1:], " \t\r"), "")
	text = nextFields(text, days)
	return t.Raw[:m[4]] + " ]" + text, true
}

var (
	oncePart  = regexp.MustCompile(`[ \t]*(?:(?:✅|❌)\x{FE0F}?[ \t]*\d{4}-\d{2}-\d{2}|(?:🆔|⛔)\x{FE0F}?[ \t]*[A-Za-z0-9_,-]+|[\[(](?:completion|done|cancelled|id|dependsOn)::[^\])]*[\])])`)
	movedPart = regexp.MustCompile(`((?:📅|📆|🗓|⏳|⌛|🛫)\x{FE0F}?[ \t]*|[\[(][ \t]*(?:due|scheduled|start)::[ \t]*|[ \t](?:due|scheduled|start):[ \t]*)(\d{4}-\d{2}-\d{2})`)
)

// nextFields removes the fields of the completed occurrence and shifts the other
// dates.
func nextFields(text string, days int) string {
	text = oncePart.ReplaceAllString(text, "")
	return movedPart.ReplaceAllStringFunc(text, func(found string) string {
		m := movedPart.FindStringSubmatch(found)
		day, err := time.ParseInLocation("2006-01-02", m[2], time.Local)
		if err != nil {
			return found
		}
		return m[1] + day.AddDate(0, 0, days).Format("2006-01-02")
	})
}

// recurrence is a parsed rule.
type recurrence struct {
	every    int // number of units
	unit     string
	weekdays []time.Weekday // nil: any
	days     []int          // days of the month; negative: from its end; nil: any
	nth      int            // with weekdays: the nth of the month; negative: from its end; 0: every one
	month    time.Month     // 0: any
	whenDone bool
}

var (
	rulePattern = regexp.MustCompile(`^every(?: (\d{1,4}|other))? ?([a-z]+)(?:(?: on)?(?: the)? (.+))?$`)
	dayOrdinal  = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)?$`)
)

func parseRule(text string) (recurrence, bool) {
	text = strings.ToLower(strings.Join(strings.Fields(strings.NewReplacer(",", " ", " and ", " ").Replace(text)), " "))
	text, whenDone := strings.CutSuffix(text, " when done")
	m := rulePattern.FindStringSubmatch(text)
	if m == nil {
		return recurrence{}, false
	}
	r := recurrence{every: 1, whenDone: whenDone}
	switch {
	case m[1] == "other":
		r.every = 2
	case m[1] != "":
		r.every, _ = strconv.Atoi(m[1])
	}
	words := strings.Fields(m[3])
	switch unit := strings.TrimSuffix(m[2], "s"); unit {
	case "day", "week", "month", "year":
		r.unit = unit
	case "weekday":
		r.unit, words = "week", append(words, "monday", "tuesday", "wednesday", "thursday", "friday")
	default:
		if month, ok := named(m[2], months); ok {
			r.unit, r.month = "year", month
		} else {
			r.unit, words = "week", append([]string{m[2]}, words...)
		}
	}
	return r, r.every > 0 && r.readDays(words)
}

// readDays parses the text after "on the": weekdays, days of the month or "2nd
// Tuesday".
func (r *recurrence) readDays(words []string) bool {
	for _, word := range words {
		if m := dayOrdinal.FindStringSubmatch(word); m != nil {
			day, _ := strconv.Atoi(m[1])
			r.days = append(r.days, day)
		} else if word == "last" {
			r.days = append(r.days, -1)
		} else if day, ok := named(word, weekdays); ok {
			r.weekdays = append(r.weekdays, day)
		} else if word != "on" && word != "the" {
			return false
		}
	}
	if slices.ContainsFunc(r.days, func(day int) bool { return day == 0 || day > 31 }) {
		return false
	}
	switch r.unit {
	case "day":
		return r.weekdays == nil && r.days == nil
	case "week":
		return r.days == nil
	case "year":
		return r.weekdays == nil && (r.month != 0) == (r.days != nil)
	}
	if r.weekdays != nil { // of the month, as in "2nd Tuesday"
		if len(r.days) != 1 {
			return false
		}
		r.nth, r.days = r.days[0], nil
	}
	return true
}

var (
	weekdays = []time.Weekday{time.Sunday, time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday}
	months   = []time.Month{
		time.January, time.February, time.March, time.April, time.May, time.June,
		time.July, time.August, time.September, time.October, time.November, time.December,
	}
)

// named finds a weekday or month by its name or a prefix of at least three
// characters.
func named[T interface{ String() string }](word string, all []T) (T, bool) {
	for _, each := range all {
		if len(word) >= 3 && strings.HasPrefix(strings.ToLower(each.String()), word) {
			return each, true
		}
	}
	var none T
	return none, false
}

// after returns the first day after from that matches the rule. It reports false
// if there is none within the search limit, as for leap days every 999 years.
func (r recurrence) after(from time.Time) (time.Time, bool) {
	const furthest = 366 * 40
	for i := 1; i <= furthest; i++ {
		if day := from.AddDate(0, 0, i); r.periods(from, day)%r.every == 0 && r.holds(from, day) {
			return day, true
		}
	}
	return time.Time{}, false
}

// periods returns the number of units between two days.
func (r recurrence) periods(from, day time.Time) int {
	switch r.unit {
	case "day":
		return daysBetween(from, day)
	case "week":
		return daysBetween(monday(from), monday(day)) / 7
	case "month":
		return 12*(day.Year()-from.Year()) + int(day.Month()) - int(from.Month())
	}
	return day.Year() - from.Year()
}

// holds reports whether day matches the rule within its period. Parts that the
// rule does not specify are those of from; a month after 31 January is the last
// day of February.
func (r recurrence) holds(from, day time.Time) bool {
	last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.Local).Day() // last day of the month
	switch {
	case r.month != 0 && day.Month() != r.month, r.unit == "year" && r.month == 0 && day.Month() != from.Month():
		return false
	case r.weekdays != nil:
		nth, back := (day.Day()-1)/7+1, -((last-day.Day())/7 + 1)
		return slices.Contains(r.weekdays, day.Weekday()) && (r.nth == 0 || r.nth == nth || r.nth == back)
	case r.days != nil:
		return slices.Contains(r.days, day.Day()) || slices.Contains(r.days, day.Day()-last-1)
	case r.unit == "week":
		return day.Weekday() == from.Weekday()
	}
	return r.unit == "day" || day.Day() == min(from.Day(), last)
}

func monday(day time.Time) time.Time {
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// daysBetween returns the number of calendar days, regardless of clock changes.
func daysBetween(a, b time.Time) int {
	return int(when.DayOf(b).Number() - when.DayOf(a).Number())
}

// Midnight returns local midnight of the day that t has in its own time zone.
func Midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.Local)
}
