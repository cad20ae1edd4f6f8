package markdown

import (
	"slices"
	"strings"

	"lifehub/tui/layout"
)

// maxMarkup is the longest line, in bytes, that is anything but text: no
// heading, rule, fence, tag or definition is longer.
const maxMarkup = 1024

// blocks is the state between two lines of the source. It is copied to draw a
// line that has not arrived whole.
type blocks struct {
	containers []container
	paragraph  *paragraph // at most one of these three is open
	code       *code
	table      *table
	middle     bool // the open paragraph or code has part of the current line
	row        int  // of the current line
	fences     []fence
	spacing
}

// spacing decides about a blank line before the next block.
type spacing struct {
	blank  bool     // blank lines came since the last block
	shared int      // how many containers the current line resumes
	last   distance // of the last block
	quotes int      // how many quotations it stood in
}

// spare is memory for a copy of blocks: one is made for each picture.
type spare struct {
	containers []container
	wrap       layout.Wrapper
	inline     parser
	paragraph  paragraph
	code       code
}

// clone returns a copy of b in spare memory whose changes do not touch b.
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

// leading returns how many bytes s begins with that are in set.
func leading(s, set string) int { return len(s) - len(strings.TrimLeft(s, set)) }

func indentation(s string) int { return leading(s, " ") }

// line takes a line of the source without its end, or the beginning of one.
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

// blankLine ends what a blank line ends: all but lists and footnotes.
func (s *Stream) blankLine(matched int) {
	s.closeLeaf()
	for i := matched; i < len(s.containers); i++ {
		if c := s.containers[i]; c.kind == quote || c.empty {
			s.closeContainers(i)
		}
	}
	s.blank = true
}

// open reads what stands in the matched containers: more of them, then a block.
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

// markup takes body if it is a block of one line, or the first line of code.
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

// text adds a line of text to the open paragraph or table, or begins a
// paragraph.
func (s *Stream) text(matched int, body string) {
	within := matched == len(s.containers)
	if s.table != nil && within && isRow(body) {
		s.tableRow(body)
		return
	}
	before := s.paragraph
	pipe := within && strings.HasPrefix(body, "|") // perhaps the head of a table
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

// ending is that of a block which is known to be whole.
func (s *Stream) ending() ending {
	if s.end == open {
		return closed
	}
	return s.end
}

// closeLeaf ends the open paragraph, code or table.
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
