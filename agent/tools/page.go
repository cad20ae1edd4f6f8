package tools

import (
	"cmp"
	"slices"
	"strings"

	"lifehub/notes"
)

// page is a note split into lines, to be changed without touching the other
// lines: their bytes, line endings and the byte order mark are preserved.
type page struct {
	mark  string   // byte order mark, if any
	lines []string // including line endings
	end   string   // line ending used for new lines: the first of the note
}

const byteOrderMark = "\ufeff"

func openPage(raw []byte) (*page, error) {
	if err := notes.Changeable(raw); err != nil {
		return nil, err
	}
	p := &page{}
	text := string(raw)
	if rest, ok := strings.CutPrefix(text, byteOrderMark); ok {
		p.mark, text = byteOrderMark, rest
	}
	for text != "" {
		size := len(text)
		if at := strings.IndexAny(text, "\r\n"); at >= 0 {
			size = at + 1
			if strings.HasPrefix(text[at:], "\r\n") {
				size++
			}
		}
		p.lines, text = append(p.lines, text[:size]), text[size:]
	}
	if p.end = "\n"; len(p.lines) > 0 {
		p.end = cmp.Or(endOf(p.lines[0]), p.end)
	}
	return p, nil
}

// endOf returns the line ending of a line.
func endOf(line string) string { return line[len(strings.TrimRight(line, "\r\n")):] }

// replace replaces a line, numbered from 1, or removes it if there are no
// texts.
func (p *page) replace(line int, texts ...string) { p.splice(line, line, texts...) }

// splice replaces the lines from first to last. New lines have the endings of those that they replace.
func (p *page) splice(first, last int, texts ...string) {
	fresh := p.ended(texts)
	for i := range min(len(texts), last-first+1) {
		fresh[i] = texts[i] + cmp.Or(endOf(p.lines[first-1+i]), p.end)
	}
	if n := len(texts); n > 0 { // the last line of a note may have none
		fresh[n-1] = texts[n-1] + endOf(p.lines[last-1])
	}
	p.lines = slices.Replace(p.lines, first-1, last, fresh...)
}

// between returns lines without their endings.
func (p *page) between(first, last int) (texts []string) {
	for n := first; n <= last; n++ {
		texts = append(texts, p.line(n))
	}
	return texts
}

// text returns the note with LF line endings.
func (p *page) text() string {
	text := strings.Join(p.between(1, len(p.lines)), "\n")
	if n := len(p.lines); n > 0 && endOf(p.lines[n-1]) != "" {
		text += "\n"
	}
	return text
}

// setText changes the text to another one: only lines that differ are touched.
func (p *page) setText(fresh string) {
	was, now := strings.Split(p.text(), "\n"), strings.Split(fresh, "\n")
	from := 0
	for from < min(len(was), len(now)) && was[from] == now[from] {
		from++
	}
	same := 0
	for same < min(len(was), len(now))-from && was[len(was)-1-same] == now[len(now)-1-same] {
		same++
	}
	if len(was) > len(p.lines) { // what follows the last line ending
		p.lines = append(p.lines, "")
	}
	if from+same == len(was) { // an insertion: take a neighbouring line
		if from > 0 {
			from--
		} else {
			same--
		}
	}
	p.splice(from+1, len(was)-same, now[from:len(now)-same]...)
}

// insert inserts lines after a line; after line 0 they come first.
func (p *page) insert(after int, texts ...string) {
	if after > 0 && endOf(p.lines[after-1]) == "" {
		p.lines[after-1] += p.end
	}
	p.lines = slices.Insert(p.lines, after, p.ended(texts)...)
}

func (p *page) ended(texts []string) []string {
	ended := make([]string, len(texts))
	for i, text := range texts {
		ended[i] = text + p.end
	}
	return ended
}

// line returns a line without its line ending.
func (p *page) line(line int) string { return strings.TrimRight(p.lines[line-1], "\r\n") }

func (p *page) bytes() []byte { return []byte(p.mark + strings.Join(p.lines, "")) }

// appendTo appends lines to the section that ends on line end, including blank
// lines, and returns the number of the first new line. A list or table is continued
// directly. Otherwise a blank line separates the new lines from the text before
// and after.
func (p *page) appendTo(end int, texts ...string) (line int) {
	last := end
	for last > 0 && strings.TrimSpace(p.lines[last-1]) == "" {
		last--
	}
	isRow := func(line string) bool { return strings.HasPrefix(line, "|") }
	continues := last > 0 && (listItem.MatchString(p.line(last)) && listItem.MatchString(texts[0]) ||
		isRow(p.line(last)) && isRow(texts[0]))
	line = last + 1
	switch {
	case last == 0 || continues:
	case last == end:
		texts = append([]string{""}, texts...)
		line++
	default: // reuse one of the blank lines
		if end < len(p.lines) && end-last == 1 {
			texts = append(texts, "")
		}
		last++
		line++
	}
	if continues && last == end && end < len(p.lines) {
		texts = append(texts, "")
	}
	p.insert(last, texts...)
	return line
}
