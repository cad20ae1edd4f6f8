package tools

import (
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
)

// stated is a value that a line of a note gives for something.
type stated struct {
	note    *statedIn
	line    int
	form    form
	section int      // number of the heading above; 0 above the first
	subject []string // title, headings, what leads to the list, its parent items or the row
	key     string
	value   value
	days    []when.Span // when it was so: the days that the line belongs to; none if it is not of a time
}

// of is what the value is of: its subject and key.
func (s *stated) of() string { return text.Key(strings.Join(s.subject, "\x00") + "\x00\x01" + s.key) }

// form is how a value is written.
type form int

const (
	property form = iota // in front matter
	line
	cell
)

// statedIn is what the values of a note have in common.
type statedIn struct {
	place
	path  string // as tools name it
	title string
	day   when.Day
	texts map[string]string // values that are not compared, by what they are of
}

// mostWritten is the length of a value in bytes; what is longer is prose.
const mostWritten = 200

var (
	frontLine = regexp.MustCompile(`^([^\s#:=-][^:=]*?)\s*[:=]\s*(\S.*?)\s*$`)
	itemLine  = regexp.MustCompile(`^([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)?(.*)$`)
	keyedLine = regexp.MustCompile(`^([\pL\pN(][^:|]{0,60}?)[*_]*::?[*_]*[ \t]+(\S.*)$`)
	ruleOfRow = regexp.MustCompile(`^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$`)
	leadLine  = regexp.MustCompile(`^[*_]*\pL.*[^.!?]$`)
	hasLetter = regexp.MustCompile(`\pL`)
)

var (
	// ofTheNote are keys of what is true of a note, not of its subject.
	ofTheNote = strings.Fields("created updated modified erstellt geändert aktualisiert id uid title aliases alias " +
		"tags description summary order " +
		"draft publish published")
	// ofATime are keys of the time of other values.
	ofATime = []string{
		"date", "year", "month", "week", "day", "as of", "datum", "jahr",
		"monat", "woche", "tag", "stand",
	}
)

// statements returns the values that a note states. It reads lines outside of code and quotations: properties,
// "key: value", and the cells of tables.
func statements(at place, path string, note notes.Note) []*stated {
	r := statementReader{
		in:   &statedIn{place: at, path: path, title: unmarked(note.Title), day: note.Date, texts: map[string]string{}},
		skip: map[int]bool{}, valued: map[int]bool{}, dates: note.Dates,
	}
	if !note.Date.IsZero() && len(note.Dates) > 0 {
		_, ofItsDay := notes.DateIn(note.Path)
		for key := range note.Front {
			ofItsDay = ofItsDay || strings.EqualFold(key, "date")
		}
		if r.dates = note.Dates[1:]; ofItsDay { // not only created on it
			r.days = []when.Span{note.Dates[0].Span}
		}
	}
	number, counted := 1, 0
	for _, b := range text.Parts(note.Text) {
		number, counted = number+strings.Count(note.Text[counted:b.Start], "\n"), b.Start
		for i := 0; !b.Kind.Prose() && i <= strings.Count(note.Text[b.Start:b.End], "\n"); i++ {
			r.skip[number+i] = true
		}
	}
	lines := append(strings.Split(note.Text, "\n"), "")
	for i, written := range lines[:len(lines)-1] {
		switch r.line++; {
		case r.line < note.BodyLine:
			if m := frontLine.FindStringSubmatch(written); m != nil {
				r.add(property, nil, m[1], m[2])
			}
		case len(note.Headings) > 0 && note.Headings[0].Line == r.line:
			r.heading(note.Headings[0])
			note.Headings = note.Headings[1:]
		case !r.skip[r.line]:
			r.read(written, lines[i+1])
		}
	}
	return r.list
}

// statementReader reads the values of a note, from top to bottom.
type statementReader struct {
	in     *statedIn
	list   []*stated
	skip   map[int]bool  // lines of code and quotations
	days   []when.Span   // of the whole note
	dates  []notes.Dated // of this and later lines
	open   []notes.Dated // of this line
	valued map[int]bool  // lines whose date is the value

	line, section int
	headings      []notes.Heading
	lead          string // the last line above that is no sentence, such as "Kitchen:", or has a date
	parents       []item
	columns       []string // of the table; nil outside of one
}

// item is an item of a list, or the first cell of a row.
type item struct {
	indent int
	text   string
}

func (r *statementReader) heading(h notes.Heading) {
	r.headings = append(slices.DeleteFunc(r.headings, func(o notes.Heading) bool { return o.Level >= h.Level }), h)
	r.lead, r.parents, r.columns = "", nil, nil
	r.section++
}

func (r *statementReader) read(written, next string) {
	m := itemLine.FindStringSubmatch(written)
	indent, isItem, words := len(strings.ReplaceAll(m[1], "\t", "    ")), m[2] != "",
		strings.TrimSpace(markup.Replace(m[3]))
	if words == "" {
		r.columns = nil
		return
	}
	if r.columns != nil && strings.Contains(written, "|") {
		r.row(cells(written))
		return
	}
	r.columns = nil
	for len(r.parents) > 0 && r.parents[len(r.parents)-1].indent >= indent {
		r.parents = r.parents[:len(r.parents)-1]
	}
	keyed := keyedLine.FindStringSubmatch(words)
	switch {
	case strings.Contains(written, "|") && ruleOfRow.MatchString(next):
		r.columns = cells(written)
	case indent >= 4 && !isItem && len(r.parents) == 0: // code
	case keyed != nil:
		r.add(line, r.parents, keyed[1], keyed[2])
	case !isItem && len(r.parents) == 0:
		if dates, _ := when.Dates(words, 0); len(dates) > 0 || leadLine.MatchString(strings.TrimSpace(m[3])) {
			r.lead = unmarked(words)
		}
	}
	if isItem {
		r.parents = append(slices.Clip(r.parents), item{indent, unmarked(words)})
	}
}

// row reads a row of a table. Its first cell says what the others are of, and a date next to other values when.
func (r *statementReader) row(row []string) {
	if !hasLetter.MatchString(row[0]) {
		return
	}
	row = row[:min(len(row), len(r.columns))]
	measured := slices.ContainsFunc(row, func(written string) bool {
		kind := readValue(written).kind
		return kind == numberValue || kind == yesOrNo
	})
	for i := 1; i < len(row); i++ {
		if measured && readValue(row[i]).kind == dateValue {
			continue
		}
		r.add(cell, append(slices.Clip(r.parents), item{text: unmarked(row[0])}), r.columns[i], row[i])
	}
}

// cells returns the cells of a row.
func cells(row string) (list []string) {
	row = strings.Trim(strings.TrimSpace(strings.ReplaceAll(row, `\|`, "\x00")), "|")
	for one := range strings.SplitSeq(row, "|") {
		list = append(list, strings.TrimSpace(strings.ReplaceAll(one, "\x00", "|")))
	}
	return list
}

// unmarked returns a heading, an item or a key without markup.
func unmarked(written string) string {
	return text.OneLine(strings.Trim(markup.Replace(written), "*_:. "))
}

// add adds the value that the line has for a key of what is below the headings and items.
func (r *statementReader) add(as form, below []item, key, written string) {
	key = unmarked(key)
	dated, _ := when.Dates(key, 0)
	names := key != "" && len(dated) == 0 && !slices.Contains(ofTheNote, text.Key(key)) &&
		(as == cell || hasLetter.MatchString(key))
	if !names || len(written) > mostWritten {
		return
	}
	s := &stated{
		note: r.in, line: r.line, form: as, section: r.section, days: r.days,
		subject: []string{r.in.title}, key: key, value: readValue(written),
	}
	if slices.Contains(ofATime, text.Key(key)) {
		s.value.kind = textValue
	}
	for i, h := range r.headings {
		if heading := unmarked(h.Text); i > 0 || text.Key(heading) != text.Key(r.in.title) {
			s.subject = append(s.subject, heading)
		}
	}
	if r.lead != "" {
		s.subject = append(s.subject, r.lead)
	}
	for _, parent := range below {
		s.subject = append(s.subject, parent.text)
	}
	isDate := s.value.kind == dateValue
	r.valued[r.line] = r.valued[r.line] || isDate && as != cell
	for len(r.dates) > 0 && r.dates[0].First <= r.line {
		r.open, r.dates = append(r.open, r.dates[0]), r.dates[1:]
	}
	r.open = slices.DeleteFunc(r.open, func(d notes.Dated) bool { return d.Last < r.line })
	for _, d := range r.open {
		if !r.valued[d.First] && !(isDate && d.First == r.line) {
			s.days = append(slices.Clip(s.days), d.Span)
		}
	}
	if s.value.kind == textValue {
		r.in.texts[s.of()] = s.value.text
	}
	r.list = append(r.list, s)
}
