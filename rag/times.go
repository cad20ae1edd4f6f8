package rag

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// span is a stretch of days: from its first day to before its last.
type span struct{ from, to time.Time }

func (s span) isZero() bool { return s.from.IsZero() }

const (
	// ownDateLift is what a note gains whose name or front matter bears a date
	// that the question speaks of, against the best score of 1. Many questions
	// hold such words by chance, so it lifts and does not decide.
	ownDateLift = 0.25
	// fileDateLift is the same for a note that only was written then.
	fileDateLift = 0.08
)

// timeWords finds the stretch of time that a question speaks of in plain
// words, and the question without them. today is the day it is asked. Zero:
// it speaks of none.
func timeWords(text string, today time.Time) (s span, rest string) {
	day := time.Date(today.Year(), today.Month(), today.Day(), 0, 0, 0, 0, today.Location())
	for _, t := range plainTimes() {
		where := t.pattern.FindStringIndex(text)
		if where == nil {
			continue
		}
		if s, ok := t.span(day, t.pattern.FindStringSubmatch(text)); ok {
			return s, text[:where[0]] + " " + text[where[1]:]
		}
	}
	return span{}, text
}

// span is what a match means on a day. Not ok: there is no such time.
func (t plainTime) span(day time.Time, match []string) (s span, ok bool) {
	switch t.unit {
	case "ago":
		n, ok := countOf(match[1])
		return agoSpan(day, n, agoUnits[strings.ToLower(match[2])]), ok
	case "weekday":
		ahead := weekdays[strings.ToLower(match[1])]
		back := (int(day.Weekday())-int(ahead)+6)%7 + 1
		return days(day.AddDate(0, 0, -back), 1), true
	case "weekend":
		return days(t.saturday(day), 2), true
	case "given year":
		given, _ := strconv.Atoi(match[1]) //nolint:errcheck // the pattern holds digits only
		from := time.Date(given, 1, 1, 0, 0, 0, 0, day.Location())
		return span{from, from.AddDate(1, 0, 0)}, true
	case "day of month":
		date, ok := dayOfMonth(day, match[1], match[2], match[3])
		return days(date, 1), ok
	case "month of day":
		date, ok := dayOfMonth(day, match[2], match[1], match[3])
		return days(date, 1), ok
	case "日":
		date, ok := dayOfMonth(day, match[3], match[2], match[1])
		return days(date, 1), ok
	case "date":
		date, err := time.ParseInLocation(time.DateOnly, match[0], day.Location())
		return days(date, 1), err == nil
	case "name":
		given, _ := strconv.Atoi(match[2]) //nolint:errcheck // digits, or "": no year was said
		return monthSpan(day, months[strings.ToLower(match[1])], given), true
	}
	return t.fromToday(day), true
}

// fromToday is the day, week, month or year so many steps from a day.
func (t plainTime) fromToday(day time.Time) span {
	switch t.unit {
	case "week":
		return days(mondayOf(day).AddDate(0, 0, 7*t.step), 7)
	case "month":
		first := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, day.Location())
		return span{first.AddDate(0, t.step, 0), first.AddDate(0, t.step+1, 0)}
	case "year":
		first := time.Date(day.Year(), 1, 1, 0, 0, 0, 0, day.Location())
		return span{first.AddDate(t.step, 0, 0), first.AddDate(t.step+1, 0, 0)}
	case "recent":
		return span{day.AddDate(0, 0, t.step), day.AddDate(0, 0, 1)}
	}
	return days(day.AddDate(0, 0, t.step), 1)
}

// saturday is the first day of the weekend so many steps from a day.
func (t plainTime) saturday(day time.Time) time.Time {
	if t.step == lastBegun {
		return day.AddDate(0, 0, -(int(day.Weekday())+1)%7)
	}
	return mondayOf(day).AddDate(0, 0, 5+7*t.step)
}

func mondayOf(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }

// days is a stretch of so many.
func days(from time.Time, n int) span { return span{from, from.AddDate(0, 0, n)} }

// countOf reads how many days, weeks or years ago.
func countOf(word string) (n int, ok bool) {
	if n, ok = counts[strings.ToLower(word)]; ok {
		return n, true
	}
	n, err := strconv.Atoi(word)
	const tenYears = 3650
	return n, err == nil && n <= tenYears
}

var counts = map[string]int{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"ein": 1, "eine": 1, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
	"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}

// dayOfMonth is a day as 19 November, or 3 in 5; without a year the last
// such day, today included. Not ok: there is no such day.
func dayOfMonth(today time.Time, day, month, year string) (time.Time, bool) {
	d, err := strconv.Atoi(day)
	m := months[strings.ToLower(strings.TrimRight(month, "."))]
	if n, err := strconv.Atoi(month); err == nil && n <= 12 {
		m = time.Month(n)
	}
	y, noYear := strconv.Atoi(year)
	if noYear != nil {
		y = today.Year()
	}
	date := time.Date(y, m, d, 0, 0, 0, 0, today.Location())
	if noYear != nil && date.After(today) {
		date = time.Date(y-1, m, d, 0, 0, 0, 0, today.Location())
	}
	return date, err == nil && m > 0 && date.Day() == d
}

// agoSpan is "3 days ago", "2 weeks ago": that day, week, month or year.
func agoSpan(day time.Time, n int, unit rune) span {
	switch unit {
	case 'w':
		return span{day.AddDate(0, 0, -7*n-3), day.AddDate(0, 0, -7*n+4)}
	case 'm':
		return span{day.AddDate(0, -n, -15), day.AddDate(0, -n, 16)}
	case 'y':
		return span{day.AddDate(-n, -3, 0), day.AddDate(-n, 3, 0)}
	}
	return span{day.AddDate(0, 0, -n), day.AddDate(0, 0, -n+1)}
}

// monthSpan is the last such month that has begun, or that of a given year.
func monthSpan(day time.Time, month time.Month, year int) span {
	if year == 0 {
		year = day.Year()
		if month > day.Month() {
			year--
		}
	}
	from := time.Date(year, month, 1, 0, 0, 0, 0, day.Location())
	return span{from, from.AddDate(0, 1, 0)}
}

// lastBegun as the step of a weekend is the last one that has begun.
const lastBegun = 99

const (
	monthNames = `january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember`
	dayNames   = `monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag`
	// shortNames are names of months only beside a day.
	shortNames = monthNames + `|jan|feb|mar|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez`
)

// plainTime is one way to name a time; unit and step say which stretch from today.
type plainTime struct {
	pattern *regexp.Regexp
	unit    string
	step    int
}

// plainTimes are tried in order. They are made at their first use, as a start
// has none.
var plainTimes = sync.OnceValue(func() []plainTime {
	return []plainTime{
		{timePattern(`\d{4}-\d\d-\d\d`), "date", 0},
		{timePattern(`(\d{1,2})(?:st|nd|rd|th|\.)?(?: of)? (` + shortNames + `)\b(?:\.?,? (\d{4}))?`), "day of month", 0},
		{timePattern(`(` + shortNames + `)\.? (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4}))?`), "month of day", 0},
		{timePattern(`(\d{1,2})\.(\d{1,2})\.(\d{4})`), "day of month", 0},
		{regexp.MustCompile(`(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]`), "日", 0},
		{regexp.MustCompile(`(?i)\b(?:day before yesterday|vorgestern)\b|前天|一昨日`), "day", -2},
		{regexp.MustCompile(`(?i)\b(?:yesterday(?:'s)?|gestern)\b|昨天|昨日`), "day", -1},
		{regexp.MustCompile(`(?i)\b(?:today(?:'s)?|heute)\b|今天|今日`), "day", 0},
		{timePattern(`(?:last|previous|past) week(?:'s)?|letzte[nr]? woche`), "week", -1},
		{regexp.MustCompile(`上周|上週|上星期|先週`), "week", -1},
		{timePattern(`this week(?:'s)?|diese[r]? woche`), "week", 0},
		{regexp.MustCompile(`这周|本周|这星期|今週`), "week", 0},
		{timePattern(`(?:last|previous|past) month(?:'s)?|letzte[nr]? monat`), "month", -1},
		{regexp.MustCompile(`上个月|上個月|先月`), "month", -1},
		{timePattern(`this month(?:'s)?|diese[nr]? monat`), "month", 0},
		{regexp.MustCompile(`这个月|本月|今月`), "month", 0},
		{timePattern(`(?:last|previous|past) year(?:'s)?|letzte[sn]? jahr`), "year", -1},
		{regexp.MustCompile(`去年|昨年`), "year", -1},
		{timePattern(`this year(?:'s)?|diese[sn]? jahr`), "year", 0},
		{regexp.MustCompile(`今年`), "year", 0},
		{regexp.MustCompile(`(?i)\b(?:lately|recently|these days|of late|kürzlich|neulich|zuletzt|in letzter zeit)\b|最近`), "recent", -30},
		{timePattern(`(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten) (days?|weeks?|months?|years?) ago`), "ago", 0},
		{timePattern(`vor (\d{1,3}|eine[mr]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn) (tag|tagen|woche|wochen|monat|monaten|jahr|jahren)`), "ago", 0},
		{regexp.MustCompile(`(\d{1,3}|[一二两三四五六七八九十]) ?个?(天|周|星期|月|年)前`), "ago", 0},
		{timePattern(`(?:last|past|letzte[sn]?|vorige[sn]?) (?:weekend(?:'s)?|wochenende)|上个?周末|先週末`), "weekend", -1},
		{timePattern(`this weekend(?:'s)?|diese[sm] wochenende`), "weekend", 0},
		{timePattern(`(?:at|on|over) the weekend|am wochenende`), "weekend", lastBegun},
		{timePattern(`(?:on|last|since|from|this|am|vom|seit|letzte[nrm]?|diese[nrm]?) (` + dayNames + `)(?:'s)?`), "weekday", 0},
		{timePattern(`(?:in|im|during|since|from|of|last) (` + monthNames + `)(?:'s)?\b(?:,? (\d{4}))?`), "name", 0},
		{timePattern(`(?:in|im jahr|during|of) ((?:19|20)\d\d)`), "given year", 0},
	}
})

// agoUnits are the units of [agoSpan].
var agoUnits = map[string]rune{
	"day": 'd', "days": 'd', "tag": 'd', "tagen": 'd', "天": 'd', "week": 'w', "weeks": 'w', "woche": 'w', "wochen": 'w', "周": 'w', "星期": 'w',
	"month": 'm', "months": 'm', "monat": 'm', "monaten": 'm', "月": 'm', "year": 'y', "years": 'y', "jahr": 'y', "jahren": 'y', "年": 'y',
}

var weekdays = map[string]time.Weekday{
	"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 0,
	"montag": 1, "dienstag": 2, "mittwoch": 3, "donnerstag": 4, "freitag": 5, "samstag": 6, "sonntag": 0,
}

func timePattern(words string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:` + words + `)\b`) }

var months = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12,
	"januar": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
}

// emptyWords say nothing of what is looked for, once the time is known: "what
// did I do yesterday" asks for the day itself.
var emptyWords = sync.OnceValue(func() map[string]bool {
	return wordSet("a about am an and any are at be been did do does done for from happen happened happening have i in is it " +
		"me my mine note notes of on our say says show tell that the there to was we were what when which who with write wrote written " +
		"went go day journal daily diary entry log " +
		"was habe ich gemacht war wir ist am im mein meine notizen tagebuch hab hatte getan passiert los geschehen erlebt notiert geschrieben stand steht gab es")
})

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[language("").stem(word)] = true
	}
	return set
}

// asksForTheTimeItself tells whether nothing but the time is left of a
// question.
func asksForTheTimeItself(rest string) bool {
	for _, t := range terms(rest, "") {
		if !t.exact && !emptyWords()[t.text] && !strings.ContainsAny(t.text, "做什么何") && !t.asksOnly() {
			return false
		}
	}
	return true
}

// asksOnly tells a pair or a character that says nothing of what is looked for.
func (t term) asksOnly() bool {
	return t.pair() && strings.Trim(t.text, "我你他们了什么麼事情有的吗呢过過写寫记記发發生都在是しまたか私は") == ""
}

// liftDated raises the passages of notes whose own date fits the time that
// the question speaks of. Asked for the time itself, those notes come first,
// found by words or not.
func (s *search) liftDated(ctx context.Context, found map[int64]*candidate) error {
	when, rest := timeWords(s.query.Text, s.query.today())
	if when.isZero() {
		return nil
	}
	itself := asksForTheTimeItself(rest)
	s.undated = itself
	aDay := when.to.Sub(when.from) <= 25*time.Hour // one of them may be longer than 24 hours
	query := `SELECT p.id, n.dated FROM notes n JOIN passages p ON p.note = n.id WHERE n.date >= ? AND n.date < ?`
	args := []any{when.from.Format(time.DateOnly), when.to.Format(time.DateOnly)}
	if s.filter.where != "" {
		query += ` AND n.id IN (SELECT id FROM notes WHERE ` + s.filter.where + `)`
		args = append(args, s.filter.args...)
	}
	rows, err := s.db.QueryContext(ctx, query+` ORDER BY n.dated DESC, n.date DESC, p.id LIMIT 2000`, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err below tells
	for place := 0; rows.Next(); place++ {
		var id int64
		var dated bool
		if err := rows.Scan(&id, &dated); err != nil {
			return err
		}
		c := found[id]
		if c == nil && (itself || aDay) && dated && place < nearCandidates {
			c = &candidate{id: id}
			found[id] = c
		}
		s.dated = s.dated || aDay && dated // "what did I eat yesterday": its words may be others
		s.undated = false
		switch {
		case c == nil:
		case dated && itself:
			s.dated, c.dated = true, true
			c.lift = 1.5 - float64(place)/1e4 // above any words; the newest first, and a note's passages in their order
		case dated:
			c.lift, c.dated = ownDateLift, aDay
		default:
			c.lift = fileDateLift
		}
	}
	return rows.Err()
}

func (q Query) today() time.Time {
	if q.Today.IsZero() {
		return time.Now()
	}
	return q.Today
}
