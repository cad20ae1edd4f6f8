package markdown

import (
	"slices"
	"strings"

	"lifehub/tui/layout"
)

// maxMarkup bounds, in bytes, lines that are markup. A longer heading, rule,
// fence, tag or definition is text.
const maxMarkup = 1024

// blocks is the parser's state between two lines of the source. It is copied
// to draw an incomplete line.
type blocks struct {
	containers []container
	paragraph  *paragraph // at most one of paragraph, code and table is open
	code       *code
	table      *table
	middle     bool // the open paragraph or code has already taken part of the current line
	row        int  // number of the current line, from 0
	fences     []fence
	spacing
}

// spacing determines whether a blank line precedes the next block.
type spacing struct {
	blank  bool     // there were blank lines after the last block
	shared int      // number of containers that the current line continues
	last   distance // distance of the last block
	quotes int      // number of quotations around the last block
}

// spare is reused memory for the copies that previews work on.
type spare struct {
	containers []container
	wrap       layout.Wrapper
	inline     parser
	paragraph  paragraph
	code       code
}

// clone returns a copy of b that uses the memory in spare. Changes to it do
// not affect b.
func (b blocks) clone(in *spare) blocks {
	in.containers = append(in.containers[:0], b.containers...)
	b.containers = in.containers
	if b.paragraph != nil {
		in.paragraph = *b.paragraph
		b.paragraph.wrap.CopyTo(&in.wrap)
		b.paragraph.inline.CopyTo(&in.inline)
		in.paragraph.wrap, in.paragraph.inline = in.wrap, in.inline
		b.paragraph = &in.paragraph
	}
	if b.code != nil {
		in.code = *b.code
		b.code.wrap.CopyTo(&in.wrap)
		in.code.wrap = in.wrap
		b.code = &in.code
	}
	if b.table != nil {
		t := *b.table
		t.rows = slices.Clip(t.rows)
		b.table = &t
	}
	return b
}

const digits = "0123456789"

// leading returns the number of leading bytes of s that are in set.
func leading(s, set string) int { return len(s) - len(strings.TrimLeft(s, set)) }

func indentation(s string) int { return leading(s, " ") }

// line parses a line of the source without its line end, or its beginning.
func (s *Stream) line(line string) {
	matched, rest := s.match(line)
	s.shared = matched
	if s.code != nil {
		if matched == len(s.containers) && s.codeLine(rest) {
			return
		}
		s.closeLeaf()
	}
	if strings.TrimLeft(rest, " ") == "" {
		s.blankLine(matched)
		return
	}
	s.open(matched, rest)
}

// blankLine closes what a blank line ends: everything but lists and footnotes.
func (s *Stream) blankLine(matched int) {
	s.closeLeaf()
	for i := matched; i < len(s.containers); i++ {
		if c := s.containers[i]; c.kind == quote || c.empty {
			s.closeContainers(i)
		}
	}
	s.blank = true
}

// open parses the rest of a line in the matched containers: first further
// containers, then a block.
func (s *Stream) open(matched int, rest string) {
	for {
		indent := indentation(rest)
		body := rest[indent:]
		if indent > 3 {
			if s.paragraph == nil {
				s.closeContainers(matched)
				s.closeLeaf()
				s.openCode(&code{kind: indented})
				s.codeLine(rest)
				return
			}
			break
		}
		if len(body) <= maxMarkup && s.markup(matched, body, indent) {
			return
		}
		c, n := s.container(matched, body, indent)
		if n == 0 || matched >= maxDepth {
			break
		}
		s.closeContainers(matched)
		s.closeLeaf()
		s.containers = append(s.containers, c)
		matched++
		if rest = body[n:]; strings.TrimLeft(rest, " ") == "" {
			return
		}
	}
	s.text(matched, strings.TrimLeft(rest, " "))
}

// markup reports whether body is a one-line block or the first line of code,
// and if so, parses it.
func (s *Stream) markup(matched int, body string, indent int) bool {
	if s.underlined(matched, body) || s.tableBegins(matched, body) {
		return true
	}
	level, title := heading(body)
	next := codeStart(body, s.paragraph != nil)
	label, address, defines := definition(body)
	switch {
	case level == 0 && !rule(body) && next == nil && (!defines || s.paragraph != nil):
		return false
	case s.table != nil && rule(body) && strings.Contains(body, "|"):
		return false
	}
	s.closeContainers(matched)
	s.closeLeaf()
	switch {
	case level > 0:
		s.separate(apart)
		s.drawHeading(level, title, s.margin())
	case next != nil:
		next.indent = indent
		s.openCode(next)
		s.codeStarted(body)
	case defines:
		if s.end != guessed {
			s.links.Define(label, address)
		}
		if !s.links.Hides(label, address) {
			s.separate(inText)
			s.drawLine(body, s.base(), &links{}, s.margin())
		}
	default:
		s.separate(apart)
		m := s.margin()
		s.lines = append(s.lines, m.first+s.theme.Border.Paint(strings.Repeat("─", m.width)))
	}
	return true
}

// text adds a line of text to the open paragraph or table, or opens a
// paragraph.
func (s *Stream) text(matched int, body string) {
	within := matched == len(s.containers)
	if s.table != nil && within && isRow(body) {
		s.tableRow(body)
		return
	}
	before := s.paragraph
	pipe := within && strings.HasPrefix(body, "|") // possibly the head of a table
	if before != nil && !pipe {
		before.add("\n" + body)
		before.several = true
		return
	}
	s.closeContainers(matched)
	s.closeLeaf()
	s.openParagraph(before != nil)
	s.paragraph.add(body)
}

// ending returns the ending of a block that is complete.
func (s *Stream) ending() ending {
	if s.end == open {
		return closed
	}
	return s.end
}

// closeLeaf closes the open paragraph, code or table.
func (s *Stream) closeLeaf() {
	switch {
	case s.paragraph != nil:
		p := s.paragraph
		if s.end == guessed && p.maybeTable() {
			s.previewTable(p)
		} else {
			p.settle(s.ending())
			p.wrap.Flush()
		}
		s.paragraph = nil
	case s.code != nil:
		s.closeCode()
	case s.table != nil:
		s.closeTable()
	}
}
