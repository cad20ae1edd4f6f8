package llm

import (
	"strconv"
	"strings"
	"time"

	"lifehub/pattern"
)

// dayWords matches the ways to name a day that readDay knows.
const dayWords = `today|tonight|tomorrow|(?:the )?day after tomorrow|(?:next |this |coming )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|next week|next month|in \w+ (?:day|week|month)s?|\d{4}-\d{2}-\d{2}|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:` + months + `)(?:,? \d{4})?|(?:` + months + `) \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|\d{1,2}\.\d{1,2}\.(?:\d{4})?|heute|morgen|übermorgen|(?:nächsten |nächste |diesen )?(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|nächste woche|in \w+ (?:tag|tagen|woche|wochen)|\d{1,2}\. (?:` + monate + `)(?: \d{4})?`

const (
	months = `january|february|march|april|may|june|july|august|september|october|november|december`
	monate = `januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember`
)

var (
	timeWord  = pattern.Lazy(`(?i)^(?:` + dayWords + `|this week|week|weekend|month|year|general)$`)
	dueAtEnd  = pattern.Lazy(`(?is)^(.+?)[\s,;(]+(?:(?:due|by|until|till|before|on|for|at|bis|am|zum|fällig)\s*:?\s+)*(` + dayWords + `)\)?$`)
	dayBefore = pattern.Lazy(`(?i)\b(?:every|each|about|of|from|since|last|past|the|jeden|jede|von|seit|über|letzten?)$`)
)

// dueDay takes the day off the end of a task: "call mum on friday".
func dueDay(text string, today time.Time) (rest, day string, ok bool) {
	m := dueAtEnd.FindStringSubmatch(text)
	if m == nil || dayBefore.MatchString(strings.TrimSpace(m[1])) {
		return text, "", false
	}
	day, ok = readDay(m[2], today)
	if !ok {
		return text, "", false
	}
	return strings.TrimRight(m[1], " ,;-"), day, true
}

// readDay turns the name of a day into its date, YYYY-MM-DD, as seen from
// today. The name of a weekday is the next one, never today.
func readDay(name string, today time.Time) (string, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "the "), "on ")
	in := func(years, months, days int) (string, bool) {
		return today.AddDate(years, months, days).Format(time.DateOnly), true
	}
	switch name {
	case "today", "tonight", "heute":
		return in(0, 0, 0)
	case "tomorrow", "morgen":
		return in(0, 0, 1)
	case "day after tomorrow", "übermorgen":
		return in(0, 0, 2)
	case "next week", "nächste woche":
		return in(0, 0, 7)
	case "next month", "nächsten monat":
		return in(0, 1, 0)
	}
	if d, err := time.Parse(time.DateOnly, name); err == nil {
		return d.Format(time.DateOnly), true
	}
	fields := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == ',' || r == '.' })
	if len(fields) == 0 {
		return "", false
	}
	if ahead, ok := weekdays[fields[len(fields)-1]]; ok && len(fields) <= 2 {
		return in(0, 0, (int(ahead)-int(today.Weekday())+6)%7+1)
	}
	if fields[0] == "in" && len(fields) == 3 {
		n, ok := number(fields[1])
		switch unit := fields[2]; {
		case !ok || n > 1000:
		case strings.HasPrefix(unit, "day"), strings.HasPrefix(unit, "tag"):
			return in(0, 0, n)
		case strings.HasPrefix(unit, "week"), strings.HasPrefix(unit, "woche"):
			return in(0, 0, 7*n)
		case strings.HasPrefix(unit, "month"):
			return in(0, n, 0)
		}
		return "", false
	}
	return calendarDay(fields, today)
}

// calendarDay reads a day and a month in either order, with or without a year.
// Without one it is the next such day.
func calendarDay(fields []string, today time.Time) (string, bool) {
	var day, year int
	var month time.Month
	for _, f := range fields {
		if m, ok := monthNames[f]; ok {
			month = m
			continue
		}
		n, err := strconv.Atoi(strings.TrimRight(f, "stndrh"))
		switch {
		case f == "of":
		case err != nil:
			return "", false
		case n > 31:
			year = n
		case day == 0:
			day = n
		case month == 0 && n <= 12:
			month = time.Month(n)
		default:
			return "", false
		}
	}
	if day == 0 || month == 0 {
		return "", false
	}
	ahead := year == 0
	if ahead {
		year = today.Year()
	}
	d := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if ahead && d.Format(time.DateOnly) < today.Format(time.DateOnly) {
		d = time.Date(year+1, month, day, 0, 0, 0, 0, time.UTC)
	}
	if d.Month() != month {
		return "", false // 31 June
	}
	return d.Format(time.DateOnly), true
}

func number(word string) (int, bool) {
	if n, err := strconv.Atoi(word); err == nil {
		return n, n >= 0
	}
	n, ok := map[string]int{
		"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10,
		"ein": 1, "eine": 1, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5,
	}[word]
	return n, ok
}

var weekdays = map[string]time.Weekday{
	"monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday, "thursday": time.Thursday, "friday": time.Friday, "saturday": time.Saturday, "sunday": time.Sunday,
	"montag": time.Monday, "dienstag": time.Tuesday, "mittwoch": time.Wednesday, "donnerstag": time.Thursday, "freitag": time.Friday, "samstag": time.Saturday, "sonntag": time.Sunday,
}

var monthNames = func() map[string]time.Month {
	names := map[string]time.Month{}
	for _, list := range []string{months, monate} {
		for i, name := range strings.Split(list, "|") {
			names[name] = time.Month(i + 1)
		}
	}
	return names
}()
