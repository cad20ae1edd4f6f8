package rag

import (
	"context"
	"regexp"
	"strconv"
	"strings"
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
	monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	month := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, day.Location())
	year := time.Date(day.Year(), 1, 1, 0, 0, 0, 0, day.Location())
	for _, t := range plainTimes {
		where := t.pattern.FindStringSubmatchIndex(text)
		if where == nil {
			continue
		}
		rest = text[:where[0]] + " " + text[where[1]:]
		switch t.unit {
		case "day":
			return span{day.AddDate(0, 0, t.step), day.AddDate(0, 0, t.step+1)}, rest
		case "week":
			return span{monday.AddDate(0, 0, 7*t.step), monday.AddDate(0, 0, 7*(t.step+1))}, rest
		case "month":
			return span{month.AddDate(0, t.step, 0), month.AddDate(0, t.step+1, 0)}, rest
		case "year":
			return span{year.AddDate(t.step, 0, 0), year.AddDate(t.step+1, 0, 0)}, rest
		case "recent":
			return span{day.AddDate(0, 0, t.step), day.AddDate(0, 0, 1)}, rest
		case "ago":
			n, err := strconv.Atoi(text[where[2]:where[3]])
			if err != nil || n > 3650 {
				continue
			}
			return agoSpan(day, n, strings.ToLower(text[where[4]:where[5]])), rest
		case "date":
			date, err := time.ParseInLocation(time.DateOnly, text[where[0]:where[1]], day.Location())
			if err != nil {
				continue
			}
			return span{date, date.AddDate(0, 0, 1)}, rest
		case "name":
			named := strings.ToLower(text[where[2]:where[3]])
			given := 0
			if where[4] >= 0 {
				given, _ = strconv.Atoi(text[where[4]:where[5]]) //nolint:errcheck // the pattern holds digits only
			}
			return monthSpan(day, months[named], given), rest
		}
	}
	return span{}, text
}

// agoSpan is "3 days ago", "2 weeks ago": that day, week, month or year.
func agoSpan(day time.Time, n int, unit string) span {
	switch unit[0] {
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

// plainTimes are tried in order; unit and step say which stretch from today.
var plainTimes = []struct {
	pattern *regexp.Regexp
	unit    string
	step    int
}{
	{timePattern(`\d{4}-\d\d-\d\d`), "date", 0},
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
	{regexp.MustCompile(`(?i)\b(\d{1,3}) (days?|weeks?|months?|years?) ago\b`), "ago", 0},
	{regexp.MustCompile(`(?i)\b(?:in|im|during|since|from|of|last) (january|february|march|april|may|june|july|august|september|october|november|december|` +
		`januar|februar|märz|mai|juni|juli|oktober|dezember)(?:'s)?\b(?:,? (\d{4})\b)?`), "name", 0},
}

func timePattern(words string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:` + words + `)\b`) }

var months = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12,
	"januar": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
}

// emptyWords say nothing of what is looked for, once the time is known: "what
// did I do yesterday" asks for the day itself.
var emptyWords = wordSet("a about am an and any are at be been did do does done for from happen happened happening have i in is it " +
	"me my mine note notes of on our say says show tell that the there to was we were what when which who with write wrote written " +
	"went go day journal daily diary entry log " +
	"was habe ich gemacht war wir ist am im mein meine notizen tagebuch")

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
		if !t.exact && !emptyWords[t.text] && !strings.ContainsAny(t.text, "做什么何") {
			return false
		}
	}
	return true
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
		if c == nil && itself && dated && place < nearCandidates {
			c = &candidate{id: id}
			found[id] = c
		}
		switch {
		case c == nil:
		case dated && itself:
			s.dated = true
			c.lift = 1.5 - float64(place)/1e4 // above any words; the newest first, and a note's passages in their order
		case dated:
			c.lift = ownDateLift
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
