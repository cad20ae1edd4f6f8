package notes

import (
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"lifehub/internal/when"
)

// Properties that date a note: "created", also as "created_at" or "date created".
var (
	dateKey    = regexp.MustCompile(`(?i)^date$`)
	createdKey = regexp.MustCompile(`(?i)\bcreated(?:\b|_)`)
	updatedKey = regexp.MustCompile(`(?i)\bupdated(?:\b|_)`)
)

// date returns the note's own date; zero if it has none.
func (n *Note) date() when.Day {
	if day, ok := DateIn(n.Path); ok {
		return day
	}
	for _, wanted := range []*regexp.Regexp{dateKey, createdKey, updatedKey} {
		for _, key := range slices.Sorted(maps.Keys(n.Front)) {
			if !wanted.MatchString(key) {
				continue
			}
			for _, value := range listOf(n.Front[key]) {
				if day, ok := frontDate(value); ok {
					return day
				}
			}
		}
	}
	return when.Day{}
}

// maxDates bounds the dates of one note.
const maxDates = 20_000

// readDates fills Dates.
func (n *Note) readDates(body string) {
	last := n.BodyLine + strings.Count(body, "\n")
	if !n.Date.IsZero() {
		n.Dates = append(n.Dates, Dated{n.ownSpan(), Lines{1, last}})
	}
	r := dateReader{note: n, sections: []section{{year: n.year()}}, alone: -1}
	at := 0
	for line := range strings.Lines(body) {
		r.read(n.BodyLine+at, strings.TrimRight(line, "\r\n"))
		at++
		if len(n.Dates) > maxDates {
			break
		}
	}
	r.close(0, last)
}

// ownSpan returns the period named by the note's own date: a week or a month if
// the note's name is one, else a day.
func (n *Note) ownSpan() when.Span {
	base, day := strings.TrimSuffix(path.Base(n.Path), path.Ext(n.Path)), n.Date
	switch {
	case monthInName.MatchString(base) && n.Date.Day == 1 && !dayInName.MatchString(base):
		return when.Span{From: day, To: day.AddMonths(1)}
	case weekInName.MatchString(base) && !dayInName.MatchString(base):
		return when.Span{From: day, To: day.Add(7)}
	}
	return when.Span{From: day, To: day.Add(1)}
}

// year returns the year for dates in the note that lack one; 0 if unknown.
func (n *Note) year() int {
	if !n.Date.IsZero() {
		return n.Date.Year
	}
	_, year := when.Heading(NameOf(n.Path), 0)
	return year
}

// dateReader collects dates from the lines of a note, from top to bottom.
type dateReader struct {
	note     *Note
	headings int       // number of headings read so far
	sections []section // sections that contain the current line, outermost first
	alone    int       // index in note.Dates of the current date that is alone on its line; -1: none
	item     int       // index in note.Dates of the first date of the current paragraph or list item
	open     bool      // item is valid
	indent   int       // indentation of its first line
	blank    bool      // the previous line is blank
}

type section struct {
	level, year int
	first, last int // its dates in note.Dates
}

func (r *dateReader) read(number int, line string) {
	n := r.note
	if r.headings < len(n.Headings) && n.Headings[r.headings].Line == number {
		h := n.Headings[r.headings]
		r.headings++
		r.close(h.Level, number-1)
		dates, year := when.Heading(h.Text, r.sections[len(r.sections)-1].year)
		first := len(n.Dates)
		r.add(dates, number)
		r.sections = append(r.sections, section{h.Level, year, first, len(n.Dates)})
		return
	}
	text := strings.TrimLeft(line, " \t")
	if text == "" {
		r.blank = true
		return
	}
	indent, item := len(line)-len(text), text[0] == '|' || len(text) > 1 && text[1] == ' ' &&
		strings.Contains("-*+>", text[:1])
	dates, rest := when.Dates(line, r.sections[len(r.sections)-1].year)
	if r.open && (len(dates) > 0 || (item || r.blank) && indent <= r.indent) {
		r.end(r.item, number-1)
		r.open = false
	}
	r.blank = false
	switch {
	case len(dates) == 0:
	case !item && saysNoMore(rest):
		if r.alone >= 0 {
			r.end(r.alone, number-1)
		}
		r.alone = len(n.Dates)
		r.add(dates, number)
	default:
		r.item, r.open, r.indent = len(n.Dates), true, indent
		r.add(dates, number)
	}
}

// saysNoMore reports whether a line contains nothing but a weekday in addition to
// its date.
func saysNoMore(rest string) bool {
	rest = strings.Trim(rest, "*_:,.()[]# \t")
	return rest == "" || when.IsWeekday(rest)
}

// add adds dates that apply from line on; their last line is not known yet.
func (r *dateReader) add(dates []when.Span, line int) {
	for _, d := range dates {
		r.note.Dates = append(r.note.Dates, Dated{d, Lines{First: line}})
	}
}

// end sets the last line of the open dates from index from on.
func (r *dateReader) end(from, line int) {
	for i := from; i < len(r.note.Dates); i++ {
		if r.note.Dates[i].Last == 0 {
			r.note.Dates[i].Last = line
		}
	}
}

// close ends the sections that a heading of this level ends.
func (r *dateReader) close(level, line int) {
	if r.open {
		r.end(r.item, line)
	}
	if r.alone >= 0 {
		r.end(r.alone, line)
	}
	r.open, r.alone = false, -1
	for last := len(r.sections) - 1; last > 0 && r.sections[last].level >= level; last-- {
		s := r.sections[last]
		for i := s.first; i < s.last; i++ {
			r.note.Dates[i].Last = line
		}
		r.sections = r.sections[:last]
	}
}

var (
	dayInName   = regexp.MustCompile(`(?:^|\D)(\d{4})([-_.]?)(\d{2})([-_.]?)(\d{2})(?:\d{4}|\d{6})?(?:\D|$)`)
	weekInName  = regexp.MustCompile(`(?:^|\D)(\d{4})-?[Ww](\d{2})(?:\D|$)`)
	monthInName = regexp.MustCompile(`^(\d{4})[-_](\d{2})(?:[^-_\d]|$)`)
	dayInPath   = regexp.MustCompile(`(?:^|/)(\d{4})/(?:\d{4}-)?(\d{2})/(\d{2})$`)
)

// DateIn returns the day that a note's path names. It
// recognises 2026-03-14, 2026_03_14, 20260314 and 202603141530 anywhere in the
// name, 2026-W11 (the Monday of that week), 2026-03 at the start (the first of
// the month), the folders 2026/03/14, and a name that is a day and nothing else in any form that is read in
// texts.
func DateIn(name string) (when.Day, bool) {
	name = strings.TrimSuffix(name, path.Ext(name))
	base := path.Base(name)
	if m := dayInName.FindStringSubmatch(base); m != nil && m[2] == m[4] {
		if day, ok := makeDay(m[1], m[3], m[5]); ok {
			return day, true
		}
	}
	if m := weekInName.FindStringSubmatch(base); m != nil {
		if day, ok := mondayOf(m[1], m[2]); ok {
			return day, true
		}
	}
	if m := dayInPath.FindStringSubmatch(name); m != nil {
		return makeDay(m[1], m[2], m[3])
	}
	if m := monthInName.FindStringSubmatch(base); m != nil {
		return makeDay(m[1], m[2], "01")
	}
	if dates, rest := when.Dates(base, 0); len(dates) == 1 && saysNoMore(rest) &&
		dates[0].To == dates[0].From.Add(1) {
		return dates[0].From, true
	}
	return when.Day{}, false
}

// makeDay rejects days that do not exist and implausible years.
func makeDay(year, month, day string) (when.Day, bool) {
	d, err := when.ParseDay(year + "-" + month + "-" + day)
	return d, err == nil && 1900 <= d.Year && d.Year <= 2199
}

func mondayOf(year, week string) (when.Day, bool) {
	y, _ := strconv.Atoi(year)
	w, _ := strconv.Atoi(week)
	if y < 1900 || y > 2199 {
		return when.Day{}, false
	}
	days, ok := when.Week(y, w)
	return days.From, ok
}

// frontDate converts a date in front matter: a string, a TOML date, or
// milliseconds since 1970 as written by Dendron.
func frontDate(value any) (when.Day, bool) {
	switch v := value.(type) {
	case uint64: // a day in eight figures, or a clock in seconds or milliseconds
		if day, ok := DateIn(strconv.FormatUint(v, 10)); ok && v < 1e8 {
			return day, true
		} else if v < 1e11 {
			v *= 1000
		}
		day := when.DayOf(time.UnixMilli(int64(min(v, math.MaxInt64))).Local())
		return day, 1980 <= day.Year && day.Year <= 2199
	case time.Time:
		return when.DayOf(v), !v.IsZero()
	case toml.LocalDate:
		return dayOfTOML(v), true
	case toml.LocalDateTime:
		return dayOfTOML(v.LocalDate), true
	case string:
		if days, _ := when.Dates(strings.Trim(v, `[]"'`), 0); len(days) > 0 {
			return days[0].From, true
		}
	}
	return when.Day{}, false
}

func dayOfTOML(d toml.LocalDate) when.Day {
	return when.Day{Year: d.Year, Month: time.Month(d.Month), Day: d.Day}
}
