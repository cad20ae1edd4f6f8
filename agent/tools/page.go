package tools

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// page is a note split into lines, to be changed without touching the other
// lines: their bytes, line endings and the byte order mark are preserved.
type page struct {
	mark  string   // byte order mark, if any
	lines []string // including line endings
	end   string   // line ending used for new lines
}

const byteOrderMark = "\ufeff"

func openPage(raw []byte) (*page, error) {
	if bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) || bytes.HasPrefix(raw, []byte{0xFE, 0xFF}) {
		return nil, errors.New("the note is written in UTF-16, which LifeHub reads but does not change; save it as UTF-8 first")
	}
	p := &page{end: "\n"}
	if rest, ok := bytes.CutPrefix(raw, []byte(byteOrderMark)); ok {
		p.mark, raw = byteOrderMark, rest
	}
	if bytes.Contains(raw, []byte("\r\n")) {
		p.end = "\r\n"
	}
	if len(raw) > 0 {
		p.lines = strings.SplitAfter(string(raw), "\n")
	}
	if last := len(p.lines) - 1; last >= 0 && p.lines[last] == "" {
		p.lines = p.lines[:last]
	}
	return p, nil
}

// replace replaces a line, numbered from 1, or removes it if there are no
// texts.
func (p *page) replace(line int, texts ...string) {
	if len(texts) == 0 {
		p.lines = slices.Delete(p.lines, line-1, line)
		return
	}
	old := p.lines[line-1]
	end := old[len(strings.TrimRight(old, "\r\n")):]
	fresh := p.ended(texts)
	fresh[len(fresh)-1] = texts[len(texts)-1] + end
	p.lines = slices.Replace(p.lines, line-1, line, fresh...)
}

// insert inserts lines after a line; after line 0 they come first.
func (p *page) insert(after int, texts ...string) {
	if after > 0 && !strings.HasSuffix(p.lines[after-1], "\n") {
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

// text returns a line without its line ending.
func (p *page) text(line int) string { return strings.TrimRight(p.lines[line-1], "\r\n") }

func (p *page) bytes() []byte { return []byte(p.mark + strings.Join(p.lines, "")) }

// appendTo appends lines to the section that ends on line end, including blank
// lines, and returns the number of the first new line. A list is continued
// directly. Otherwise a blank line separates the new lines from the text before
// and after.
func (p *page) appendTo(end int, texts ...string) (line int) {
	last := end
	for last > 0 && strings.TrimSpace(p.lines[last-1]) == "" {
		last--
	}
	continuesList := last > 0 && listItem.MatchString(p.text(last)) && listItem.MatchString(texts[0])
	line = last + 1
	switch {
	case last == 0 || continuesList:
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
	if continuesList && last == end && end < len(p.lines) {
		texts = append(texts, "")
	}
	p.insert(last, texts...)
	return line
}
