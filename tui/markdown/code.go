package markdown

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lifehub/tui/layout"
	"lifehub/tui/safetext"
)

type codeKind int

const (
	fenced codeKind = iota
	indented
	tags    // HTML, shown literally
	formula // $$ … $$ or \[ … \]
)

// code is an open block of literal lines.
type code struct {
	kind   codeKind
	fence  string // what ends the block: the opening fence, "-->", "$$"; "" for a blank line
	info   string // text after the opening fence
	indent int    // of the opening fence
	name   *layout.Language
	state  layout.State // state of highlighting between two pieces
	wrap   layout.Wrapper
	style  layout.Style
	rest   string // part of the current line that is not laid out yet
	blanks int    // blank lines that belong to the block only if more lines follow
	lower  string // lower edge of the frame; "" without a frame
	theme  *layout.Theme
}

// fence is the position of fenced code in the source.
type fence struct {
	from, to int // line numbers of the code, from 0; to is excluded
	column   int // column in which its lines begin
}

// Code returns the fenced code blocks of a text in the order of their numbers,
// as they are in the source.
func Code(src string) (blocks []string) {
	src = safetext.Source(src)
	lines := append(strings.SplitAfter(src, "\n"), "")
	s := New(1, 1, layout.Theme{})
	s.Write(src)
	s.Close()
	for _, f := range s.fences {
		text := ""
		for _, line := range lines[f.from:min(f.to, len(lines))] {
			text += dropColumns(line, f.column)
		}
		blocks = append(blocks, text)
	}
	return blocks
}

// dropColumns removes the blanks and quotation marks in the first columns of a
// line.
func dropColumns(line string, columns int) string {
	at := 0
	for ; at < columns && line != "" && strings.IndexByte(" >\t", line[0]) >= 0; line = line[1:] {
		if at++; line[0] == '\t' {
			at += tabStop - 1 - (at-1)%tabStop
		}
	}
	return layout.Spaces(at-columns) + line
}

// maxPiece bounds the part of a long code line, in bytes, that is redrawn with
// each token.
const maxPiece = 64

// codeStart parses the first line of a code block that is not indented code. It
// returns nil if body is none.
func codeStart(body string, within bool) *code {
	switch body[0] {
	case '`', '~':
		n := leading(body, body[:1])
		if n < 3 || body[0] == '`' && strings.IndexByte(body[n:], '`') >= 0 {
			return nil
		}
		info := strings.Trim(body[n:], " ")
		name, _, _ := strings.Cut(info, " ")
		return &code{kind: fenced, fence: body[:n], info: safetext.Line(unescape(info)), name: layout.Named(strings.Trim(name, "{}."))}
	case '<':
		if end, ok := tagStart(body, within); ok {
			return &code{kind: tags, fence: end}
		}
	case '$':
		if strings.HasPrefix(body, "$$") && (strings.Trim(body, "$ ") == "" || strings.HasSuffix(strings.TrimRight(body[2:], " "), "$$") || strings.Count(body, "$$") == 1) {
			return &code{kind: formula, fence: "$$"}
		}
	case '\\':
		if strings.HasPrefix(body, `\[`) && (strings.Trim(body, `\[ `) == "" || strings.HasSuffix(strings.TrimRight(body, " "), `\]`) || !strings.Contains(body, `\]`)) {
			return &code{kind: formula, fence: `\]`}
		}
	}
	return nil
}

// blockTags are the elements that begin a block of HTML even inside a
// paragraph: those of CommonMark 0.31, HTML blocks of type 6, that are in use.
var blockTags = " address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu nav ol optgroup option p section source summary table tbody td tfoot th thead title tr track ul "

// tagStart reports whether body begins a block of HTML, and what ends that
// block.
func tagStart(body string, within bool) (end string, ok bool) {
	switch {
	case strings.HasPrefix(body, "<!--"):
		return "-->", true
	case strings.HasPrefix(body, "<?"):
		return "?>", true
	case strings.HasPrefix(body, "<!") && len(body) > 2 && isLetter(body[2]):
		return ">", true
	}
	name := strings.TrimPrefix(body[1:], "/")
	n := 0
	for n < len(name) && (isLetter(name[n]) || n > 0 && (name[n] >= '0' && name[n] <= '9' || name[n] == '-')) {
		n++
	}
	if n == 0 || n < len(name) && strings.IndexByte(" />", name[n]) < 0 {
		return "", false
	}
	tag := strings.ToLower(name[:n])
	switch tag {
	case "script", "pre", "style", "textarea":
		return "</" + tag + ">", body[1] != '/'
	}
	if strings.Contains(blockTags, " "+tag+" ") {
		return "", true
	}
	alone := strings.IndexByte(body, '>') == len(strings.TrimRight(body, " "))-1
	return "", alone && !within && tag != "br"
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// openCode opens a code block.
func (s *Stream) openCode(c *code) {
	s.code = c
	d := apart
	if c.kind == tags {
		d = inText
	}
	s.separate(d)
	m := s.margin()
	switch c.kind {
	case tags:
		c.style = s.theme.HTML
	case formula:
		c.style = s.theme.Math
	}
	if c.kind == fenced {
		s.fences = append(s.fences, fence{from: s.row + 1, column: s.codeColumn()})
	}
	roomy := m.width >= 2*leastWidth
	switch {
	case c.kind == fenced && roomy && s.wider:
		s.frame(c, s.wide(m))
	case c.kind == fenced && roomy:
		s.frame(c, m)
	case c.kind != tags && roomy:
		c.wrap = s.wrapper(margin{m.first + "  ", m.rest + "  ", m.width - 2})
	default:
		c.wrap = s.wrapper(m)
	}
	c.theme = &s.theme
	c.wrap.Hard = true
}

// frame draws the upper edge of a frame around the code. Lines in a frame are
// truncated instead of wrapped.
func (s *Stream) frame(c *code, m margin) {
	border := func(text ...string) string { return s.theme.Border.Paint(strings.Join(text, "")) }
	copied := ""
	if s.Copy != "" {
		copied = border(fmt.Sprintf(s.Copy, len(s.fences)))
	}
	s.lines = append(s.lines, m.first+layout.Edge("╭", c.info, copied, "╮", m.width, border))
	c.lower = m.rest + layout.Edge("╰", "", "", "╯", m.width, border)
	m.first, m.rest, m.width = m.rest+border("│")+" ", m.rest+border("│")+" ", m.width-len("|  |")
	c.wrap = s.wrapper(m)
	c.wrap.Padded, c.wrap.Side = true, border("│")
}

// codeStarted parses the line that opened the block.
func (s *Stream) codeStarted(body string) {
	switch c := s.code; c.kind {
	case fenced:
		if c.info != "" && c.lower == "" {
			c.wrap.Add(s.theme.Border.Over(c.style).Span(c.info))
			c.wrap.Newline()
		}
	case formula:
		if body = strings.TrimSpace(body[2:]); body != "" {
			s.codeLine(body)
		}
	case tags:
		if !s.codeLine(body) {
			s.closeLeaf()
		}
	}
}

// mayEnd reports whether line may be the beginning of the line that ends the
// code.
func (c *code) mayEnd(line string) bool {
	switch line = strings.TrimLeft(line, " "); c.kind {
	case fenced:
		return strings.Trim(line, c.fence[:1]+" ") == ""
	case formula:
		return strings.Trim(line, `$\] `) == ""
	}
	return false
}

// isCertain reports whether a line with this beginning, which is not blank, is
// part of the code and not its last line.
func (c *code) isCertain(line string) bool {
	switch c.kind {
	case fenced:
		return !c.mayEnd(line)
	case indented:
		return indentation(line) >= 4
	}
	return c.fence == "" || len(line) > maxMarkup && !c.endsIn(line)
}

// endsIn reports whether a line contains the end of a block of HTML.
func (c *code) endsIn(line string) bool {
	return c.kind == tags && c.fence != "" && strings.Contains(strings.ToLower(line[:min(len(line), maxMarkup)]), c.fence)
}

// codeLine parses a line, or the beginning of one if s.middle is set. It
// reports whether the line belongs to the code.
func (s *Stream) codeLine(line string) bool {
	c := s.code
	blank := strings.TrimLeft(line, " ") == ""
	switch c.kind {
	case fenced:
		trimmed := strings.TrimRight(line, " ")
		if body := strings.TrimLeft(trimmed, " "); len(line)-len(strings.TrimLeft(line, " ")) <= 3 && len(body) >= len(c.fence) && strings.Trim(body, c.fence[:1]) == "" {
			s.closeLeaf()
			return true
		}
		line = line[min(c.indent, indentation(line)):]
	case indented:
		if blank {
			c.blanks++
			return true
		}
		if indentation(line) < 4 {
			return false
		}
		line = line[4:]
	case tags:
		if c.fence == "" && blank {
			return false
		}
	case formula:
		if before, ok := strings.CutSuffix(strings.TrimRight(line, " "), c.fence); ok && len(line) <= maxMarkup {
			if before = strings.TrimSpace(before); before != "" {
				c.add(before)
				c.endLine()
			}
			s.closeLeaf()
			return true
		}
	}
	for ; c.blanks > 0; c.blanks-- {
		c.wrap.Newline()
	}
	c.add(line)
	if !s.middle {
		c.endLine()
	}
	s.cut = s.cut || c.wrap.Cut && s.end != guessed
	if c.endsIn(line) {
		s.closeLeaf()
	}
	return true
}

// add adds to the current line and lays out what is far enough from its end.
func (c *code) add(text string) {
	c.rest += text
	if n := len(c.rest) - 1; c.name == nil && n > 0 && c.rest[n] < utf8.RuneSelf && c.rest[n-1] < utf8.RuneSelf {
		c.lay(c.rest[:n]) // without highlighting, only a combining character could change the last one
		c.rest = c.rest[n:]
		return
	}
	for len(c.rest) > maxPiece {
		n, at := 0, 0 // ends of the last separator and of the last grapheme that fits
		for {
			char, _ := layout.First(c.rest[at:])
			if at == 0 && len(char) == len(c.rest) {
				return // the grapheme may continue
			}
			if at > 0 && at+len(char) > maxPiece {
				break
			}
			if at += len(char); len(char) == 1 && strings.Contains(" ,;(){}[]", char) {
				n = at
			}
		}
		if n < maxPiece/2 {
			n = at
		}
		c.lay(c.rest[:n])
		c.rest = c.rest[n:]
	}
}

func (c *code) endLine() {
	c.lay(c.rest)
	c.rest = ""
	c.wrap.Newline()
	c.state = c.name.LineEnd(c.state)
}

func (c *code) lay(text string) {
	c.state = c.name.Highlight(text, c.state, func(text string, k layout.Token) {
		c.wrap.Add(c.theme.Tokens[k].Over(c.style).Span(text))
	})
}

// closeCode draws the rest of the current line and the lower edge of the frame.
// A preview omits the edge, which would have to be redrawn with each line.
func (s *Stream) closeCode() {
	c := s.code
	s.code = nil
	if c.kind == fenced {
		s.fences[len(s.fences)-1].to = s.row
	}
	if c.rest != "" || c.wrap.Column > 0 {
		c.endLine()
	}
	s.cut = s.cut || c.wrap.Cut && s.end != guessed
	if c.lower != "" && s.end != guessed {
		s.lines = append(s.lines, c.lower)
	}
	if c.blanks > 0 {
		s.blank = true
	}
}
