package markdown

import (
	"strings"
)

// distance is how far a block keeps from its neighbours.
type distance int

const (
	start  distance = iota // nothing was drawn yet
	inText                 // as far as in the source
	apart                  // a line away: headings, code, tables, rules
)

// margin is what stands before the lines of a block, and how wide they may be.
type margin struct {
	first, rest string
	width       int
}

// leastWidth is the least number of columns that a margin leaves for text.
const leastWidth = 8

// margin returns the margin of the next block. It takes the marks of the
// containers: they stand before its first line only.
func (s *Stream) margin() margin {
	m := margin{width: s.width}
	for i := range s.containers {
		c := &s.containers[i]
		if c.drawn {
			m.first += c.rest
		} else {
			m.first += c.mark
		}
		m.rest += c.rest
		m.width -= c.width
		c.drawn, c.empty = true, false
	}
	if !s.roomy() {
		return margin{width: s.width}
	}
	return m
}

// roomy reports whether the containers leave enough columns for text. If not,
// their marks are left out.
func (s *Stream) roomy() bool {
	width := s.width
	for _, c := range s.containers {
		width -= c.width
	}
	return width >= min(leastWidth, s.width)
}

// separate puts the distance of the source, or a line, before the next block.
func (s *Stream) separate(d distance) {
	quotes, items := 0, false
	for i, c := range s.containers {
		if c.kind == quote {
			quotes++
		} else if i < s.shared || c.follows && !c.drawn {
			items = true
		}
	}
	gap := s.blank || !items && (d == apart || s.last == apart) || quotes != s.quotes
	if gap && s.last != start {
		line := ""
		for i := range min(s.shared, len(s.containers)) {
			line += s.containers[i].rest
		}
		if !s.roomy() {
			line = ""
		}
		s.lines = append(s.lines, strings.TrimRight(line, " "))
	}
	s.blank, s.last, s.quotes = false, d, quotes
}
