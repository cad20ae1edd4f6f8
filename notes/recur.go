package notes

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/internal/when"
)

// Next returns the task's next occurrence if it is done on the given day: open, with its dates moved. ok is false if
// it does not recur, or its rule is not understood whole and to is none: if to is a day, it recurs on that.
//
// Rules follow Obsidian Tasks: "every 2 weeks on Monday, Friday", "every month on
// the last", "every January on the 4th", "every weekday", each optionally with
// "when done" to count from the day of completion. In planned dates they follow Org: <2026-01-01 .+1w>.
func (t Task) Next(on, to when.Day) (next Task, ok bool) {
	at := stateOf(t.Raw)
	if at == nil || t.Recurs == "" {
		return Task{}, false
	}
	line, reference := t.Raw, cmp.Or(t.Due, t.Scheduled, t.Start, on)
	move := func(f field) when.Day { return f.day.Add(to.Since(reference)) }
	switch {
	case !to.IsZero():
	case t.MovesOn():
		for _, f := range t.repeaters() {
			if _, ok := parseRepeater(f.repeater()); !ok {
				return Task{}, false
			}
		}
		move = func(f field) when.Day {
			r, _ := parseRepeater(f.repeater())
			return r.after(f.day, on)
		}
	default:
		rule, ok := parseRule(t.Recurs)
		if !ok {
			return Task{}, false
		}
		from := reference
		if rule.whenDone {
			from = on
		}
		if rule.named() && from.Before(reference) { // done before its day
			from = reference
		}
		if to = rule.after(from); to.IsZero() {
			return Task{}, false
		}
	}
	if !t.MovesOn() { // the mark of its block stays with the one that is done
		line = blockMark.ReplaceAllString(strings.TrimRightFunc(line, isBlank), "")
	}
	fields, _ := fieldsIn(line, at[5])
	line = moved(line, fields, move)
	next, ok = ParseTasks(line[:at[4]] + reopened(line[at[4]:at[5]]) + line[at[5]:] + moved(t.Below,
		plannedIn(t.Below), move))
	next.Line = t.Line
	return next, ok
}

// Understood reports whether the rule of a task that recurs is understood whole.
func (t Task) Understood() bool {
	_, ok := parseRule(t.Recurs)
	return ok || t.Recurs == ""
}

// MovesOn reports whether the task itself moves on when it is done, as one with a repeating planned date does in
// Logseq. Another task that recurs is ticked off, and its next occurrence is a new one.
func (t Task) MovesOn() bool { return len(t.repeaters()) > 0 }

// repeaters returns the planned dates of the task that repeat.
func (t Task) repeaters() []field {
	return slices.DeleteFunc(append(plannedIn(t.Raw), plannedIn(t.Below)...),
		func(f field) bool { return f.repeater() == "" })
}

// reopened returns the state of a task, a word or what is in its box, when it is open again.
func reopened(state string) string {
	switch state {
	case "NOW":
		return "LATER"
	case "DOING":
		return "TODO"
	}
	if len(state) > 1 {
		return state
	}
	return " "
}

// moved removes the fields of the completed occurrence from a text and moves its other dates.
func moved(text string, fields []field, move func(field) when.Day) string {
	for _, f := range slices.Backward(fields) {
		switch f.name {
		case "done", "cancelled", "reference":
			text = strings.TrimRightFunc(text[:f.start], isBlank) + text[f.stop:]
		case "due", "scheduled", "start":
			day, rest := move(f), text[f.dayAt+dayLength:]
			if f.style == planned {
				rest = weekdayName.ReplaceAllString(rest, "${1}"+day.Format("Mon"))
			}
			text = text[:f.dayAt] + day.String() + rest
		}
	}
	return text
}

var (
	weekdayName  = regexp.MustCompile(`^(` + blank + `+)\pL[^\s<>]*`)
	repeaterIn   = regexp.MustCompile(`(?:^|\s)((?:\.|\+)?\+[^\s]*)`)
	repeaterForm = regexp.MustCompile(`^(\.\+|\+\+|\+)(\d{1,4})([dwmy])(?:/\d+[dwmy])?$`)
)

// repeater returns how a planned date repeats, as written: ".+1w"; "" if it does not.
func (f field) repeater() string {
	if m := repeaterIn.FindStringSubmatch(f.value); f.style == planned && m != nil {
		return m[1]
	}
	return ""
}

// repeater is a parsed repetition of a planned date. The zero value leaves a day as it is.
type repeater struct {
	kind  string // +, ++ or .+
	every int
	unit  byte // d, w, m or y
}

func parseRepeater(text string) (repeater, bool) {
	m := repeaterForm.FindStringSubmatch(text)
	if m == nil {
		return repeater{}, text == ""
	}
	every, _ := strconv.Atoi(m[2]) //nolint:errcheck // always digits
	return repeater{m[1], every, m[3][0]}, every > 0
}

// words describes a repetition like the rules of other tasks.
func (r repeater) words() string {
	unit := map[byte]string{'d': "day", 'w': "week", 'm': "month", 'y': "year"}[r.unit]
	if r.every == 1 {
		return "every " + unit
	}
	return fmt.Sprintf("every %d %ss", r.every, unit)
}

// after returns the day to which a day moves if the task is done on another.
func (r repeater) after(day, on when.Day) when.Day {
	switch {
	case r.every == 0:
		return day
	case r.kind == ".+":
		return r.step(on, 1)
	case r.kind == "++":
		for n := 1; ; n++ {
			if next := r.step(day, n); on.Before(next) {
				return next
			}
		}
	}
	return r.step(day, 1)
}

// step returns the day n repetitions later.
func (r repeater) step(day when.Day, n int) when.Day {
	switch n *= r.every; r.unit {
	case 'd':
		return day.Add(n)
	case 'w':
		return day.Add(7 * n)
	case 'm':
		return day.AddMonths(n)
	}
	return day.AddMonths(12 * n)
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
	rulePattern = regexp.MustCompile(`^every(?: (\d{1,4}|other))? ?([a-z]+)([, ].+)?$`)
	dayItem     = regexp.MustCompile(`^(?:(\d{1,2})(?:st|nd|rd|th)?\b ?)?(last\b ?)?([a-z]+)?$`)
)

func parseRule(text string) (recurrence, bool) {
	text = strings.ToLower(strings.Join(strings.FieldsFunc(text, isBlank), " "))
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
	items := itemsOf(m[3])
	switch unit := strings.TrimSuffix(m[2], "s"); unit {
	case "day", "week", "month", "year":
		r.unit = unit
	case "weekday":
		r.unit, items = "week", append(items, "monday", "tuesday", "wednesday", "thursday", "friday")
	default:
		if month, ok := named(m[2], months); ok {
			r.unit, r.month = "year", month
		} else {
			r.unit, items = "week", append([]string{m[2]}, items...)
		}
	}
	return r, r.every > 0 && r.readDays(items)
}

// itemsOf returns the items of a list such as "monday, the 1st and the last friday".
func itemsOf(list string) (items []string) {
	for item := range strings.SplitSeq(strings.ReplaceAll(list, " and ", ","), ",") {
		item = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(item), "on "), "the ")
		if item != "" {
			items = append(items, item)
		}
	}
	return items
}

// readDays parses what is after "on the": weekdays, days of the month, or one such as "2nd Tuesday".
func (r *recurrence) readDays(items []string) bool {
	for _, item := range items {
		m := dayItem.FindStringSubmatch(item)
		if m == nil {
			return false
		}
		nth, weekday := m[1] != "" || m[2] != "", m[3] != ""
		day := 1
		if m[1] != "" {
			day, _ = strconv.Atoi(m[1]) // two digits
		}
		if m[2] != "" {
			day = -day
		}
		if weekday {
			named, ok := named(m[3], weekdays)
			if !ok {
				return false
			}
			r.weekdays = append(r.weekdays, named)
		}
		if nth {
			r.days = append(r.days, day)
		}
		if nth && weekday && len(items) > 1 {
			return false
		}
	}
	if slices.ContainsFunc(r.days, func(day int) bool { return day == 0 || max(day, -day) > 31 }) {
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
	weekdays = []time.Weekday{
		time.Sunday, time.Monday, time.Tuesday, time.Wednesday, time.Thursday,
		time.Friday, time.Saturday,
	}
	months = []time.Month{
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

// named reports whether the rule names days, such as Mondays.
func (r recurrence) named() bool { return r.weekdays != nil || r.days != nil }

// after returns the first day after from that matches the rule; none if there is
// none within the search limit, as for leap days every 999 years. A rule of several
// weeks, months or years counts whole ones from the day of completion.
func (r recurrence) after(from when.Day) when.Day {
	const furthest = 366 * 40
	for i := 1; i <= furthest; i++ {
		day := from.Add(i)
		periods := r.periods(from, day)
		if early := r.whenDone && r.every > 1 && periods == 0; !early && periods%r.every == 0 && r.holds(from, day) {
			return day
		}
	}
	return when.Day{}
}

// periods returns the number of units between two days.
func (r recurrence) periods(from, day when.Day) int {
	switch r.unit {
	case "day":
		return day.Since(from)
	case "week":
		return day.Monday().Since(from.Monday()) / 7
	case "month":
		return 12*(day.Year-from.Year) + int(day.Month) - int(from.Month)
	}
	return day.Year - from.Year
}

// holds reports whether day matches the rule within its period. Parts that the
// rule does not specify are those of from; a month after 31 January is the last
// day of February.
func (r recurrence) holds(from, day when.Day) bool {
	last := day.InMonth()
	switch {
	case r.month != 0 && day.Month != r.month, r.unit == "year" && r.month == 0 && day.Month != from.Month:
		return false
	case r.weekdays != nil:
		nth, back := (day.Day-1)/7+1, -((last-day.Day)/7 + 1)
		return slices.Contains(r.weekdays, day.Weekday()) && (r.nth == 0 || r.nth == nth || r.nth == back)
	case r.days != nil:
		return slices.Contains(r.days, day.Day) || slices.Contains(r.days, day.Day-last-1)
	case r.unit == "week":
		return day.Weekday() == from.Weekday()
	}
	return r.unit == "day" || day.Day == min(from.Day, last)
}
