package reader

import (
	"bytes"
	"image/color"
	"slices"
	"strconv"
	"strings"

	glamour "charm.land/glamour/v2/ansi"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"lifehub/tui/draw"
	"lifehub/tui/markdown"
	"lifehub/tui/markdown/layout"
	"lifehub/tui/measure"
	"lifehub/tui/safetext"
)

// Drawn is a block as rows of the screen, and its links.
type Drawn struct {
	Rows  []string
	Links []Link
	Gap   bool // the first row is the blank one above it
}

// Draw returns a block drawn so wide, with one of its links chosen; -1: none. That
// is drawn once for a width and theme.
func (d *Document) Draw(at, chosen, width int, theme *draw.Theme) Drawn {
	if d.width != width || d.theme != theme {
		d.width, d.theme, d.drawn = width, theme, map[int]Drawn{}
	}
	if drawn, ok := d.drawn[at]; ok && chosen < 0 {
		return drawn
	}
	drawn := d.draw(d.blocks[at], chosen, width, theme)
	if chosen < 0 {
		d.drawn[at] = drawn
	}
	return drawn
}

func (d *Document) draw(b block, chosen, width int, theme *draw.Theme) Drawn {
	first, rest := b.prefix(width, theme)
	inside := max(1, width-draw.Width(rest))
	var drawn Drawn
	switch b.kind {
	case front:
		for _, line := range strings.Split(b.text, "\n") {
			drawn.Rows = append(drawn.Rows, draw.StyleLines(theme.Dim.Render, draw.Wrap(safetext.Line(line), inside))...)
		}
	case rule:
		drawn.Rows = []string{theme.Markdown.Border.Paint(strings.Repeat("─", min(inside, draw.Readable)))}
	case written:
		drawn.Rows = slices.Clone(markdown.Render(b.text, inside, theme.Markdown))
	default:
		drawn = d.prose(b, max(2, min(inside, draw.Readable)), chosen)
	}
	for i, row := range drawn.Rows {
		drawn.Rows[i] = rest + row
		if i == 0 {
			drawn.Rows[i] = first + row
		}
	}
	if drawn.Gap = b.gap != nil; drawn.Gap {
		gap := block{marks: b.gap}
		_, rest := gap.prefix(width, theme)
		drawn.Rows = slices.Insert(drawn.Rows, 0, strings.TrimRight(rest, " "))
		for i := range drawn.Links {
			drawn.Links[i].Row++
		}
	}
	return drawn
}

// prefix is what stands before the first row of a block, and before the others.
// Half of the width is left to the text, however deep it stands.
func (b block) prefix(width int, theme *draw.Theme) (first, rest string) {
	marks := b.marks
	for depth := 2 * len(marks); depth > 0 && depth > width/2; depth -= 2 {
		marks = marks[1:]
	}
	for _, m := range marks {
		if m.first == m.rest { // the bar of a quote, or blanks
			bar := theme.Markdown.Border.Paint(strings.TrimRight(m.rest, " "))
			bar += m.rest[len(strings.TrimRight(m.rest, " ")):]
			first, rest = first+bar, rest+bar
			continue
		}
		first, rest = first+theme.Markdown.Marker.Paint(m.first), rest+m.rest
	}
	return first, rest
}

// prose has glamour draw a paragraph or a heading. What it cannot draw is drawn as
// in an answer.
func (d *Document) prose(b block, width, chosen int) (drawn Drawn) {
	defer func() {
		if recover() != nil {
			drawn = Drawn{Rows: slices.Clone(markdown.Render(b.text, width, d.theme.Markdown))}
		}
	}()
	x := &inline{source: []byte(b.text), theme: &d.theme.Markdown}
	context := parser.NewContext()
	for _, ref := range d.refs {
		context.AddReference(ref)
	}
	root := inlineParser.Parse(text.NewReader(x.source), parser.WithContext(context))
	document := ast.NewDocument()
	for node := root.FirstChild(); node != nil; node = root.FirstChild() {
		root.RemoveChild(root, node)
		x.children(node)
		if b.level > 0 {
			heading := ast.NewHeading(b.level)
			adopt(heading, node)
			node = heading
		}
		document.AppendChild(document, node)
	}
	var out bytes.Buffer
	options := glamour.Options{WordWrap: width, PreserveNewLines: true, Styles: styles(d.theme)}
	draws := renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(glamour.NewRenderer(options), 1000)))
	if err := draws.Render(&out, x.source, document); err != nil {
		panic(err)
	}
	drawn.Links = x.links
	for _, row := range strings.Split(strings.Trim(out.String(), "\n"), "\n") {
		rest := drawn.row(row, d.theme, chosen)
		for draw.Width(rest) > width { // this terminal counts otherwise than glamour
			fits := measure.Fit(rest, width, "")
			drawn.Rows = append(drawn.Rows, fits+ansi.ResetStyle)
			rest = measure.Method().TruncateLeft(rest, draw.Width(fits), "")
		}
		drawn.Rows = append(drawn.Rows, rest)
	}
	return drawn
}

// row lets through what glamour may write: text, styles and the marks of our
// links, which become links of the terminal where they may be ones.
func (d *Drawn) row(row string, theme *draw.Theme, chosen int) string {
	var out strings.Builder
	filled := 0 // of out, without the blanks that glamour fills a row with
	link := ""  // the style of the link that is open
	where := "" // its address, where the terminal opens it
	var text []byte
	flush := func() {
		clean := safetext.Line(string(text))
		out.WriteString(clean)
		if blanks := len(clean) - len(strings.TrimRight(clean, " ")); blanks < len(clean) {
			filled = out.Len() - blanks
		}
		text = text[:0]
	}
	closeLink := func() {
		if link == "" {
			return
		}
		out.WriteString(ansi.ResetStyle)
		if where != "" {
			out.WriteString(ansi.ResetHyperlink())
		}
		link, where, filled = "", "", out.Len()
	}
	for state := byte(0); len(row) > 0; {
		piece, _, n, next := ansi.DecodeSequence(row, state, nil)
		row, state = row[n:], next
		if piece[0] != '\x1b' {
			text = append(text, piece...)
			continue
		}
		flush()
		switch {
		case isStyle(piece):
			out.WriteString(piece + link)
		case strings.HasPrefix(piece, "\x1b]8;"):
			closeLink()
			at, ok := d.linkOf(piece)
			if !ok {
				continue
			}
			style := theme.Markdown.Link.Paint("x")
			if at == chosen {
				style = theme.Selected.Reverse(true).Render("x")
			}
			link, _, _ = strings.Cut(style, "x")
			if to := d.Links[at].To; theme.Markdown.Hyperlinks && !d.Links[at].Note && safetext.LinkAllowed(to) {
				where = to
				out.WriteString(ansi.SetHyperlink(to))
			}
			out.WriteString(link)
		}
	}
	flush()
	closeLink()
	if line := out.String()[:filled]; strings.Contains(line, "\x1b[") {
		return line + ansi.ResetStyle
	}
	return out.String()[:filled]
}

// isStyle reports whether a sequence is one that turns styles on or off.
func isStyle(piece string) bool {
	return strings.HasPrefix(piece, "\x1b[") && strings.HasSuffix(piece, "m") && strings.Trim(piece[2:len(piece)-1], "0123456789;:") == ""
}

// linkOf is the link whose mark a sequence is. The first row with it is where
// it begins.
func (d *Drawn) linkOf(piece string) (at int, ok bool) {
	_, to, _ := strings.Cut(strings.TrimSuffix(piece[len("\x1b]8;"):], "\a"), ";")
	number, ok := strings.CutPrefix(to, mine)
	at, err := strconv.Atoi(number)
	if !ok || err != nil || at < 0 || at >= len(d.Links) {
		return 0, false
	}
	if d.Links[at].Row < 0 {
		d.Links[at].Row = len(d.Rows)
	}
	return at, true
}

// styles is the theme in glamour's words.
func styles(theme *draw.Theme) glamour.StyleConfig {
	m := &theme.Markdown
	heading := glamour.StyleBlock{StylePrimitive: primitive(m.Heading)}
	return glamour.StyleConfig{
		Heading:       heading,
		H1:            glamour.StyleBlock{StylePrimitive: primitive(m.Title.Over(m.Heading))},
		Emph:          primitive(m.Emphasis),
		Strong:        primitive(m.Strong),
		Strikethrough: primitive(m.Deleted),
		Code:          glamour.StyleBlock{StylePrimitive: primitive(m.Code)},
	}
}

func primitive(s layout.Style) (p glamour.StylePrimitive) {
	on := func(a layout.Attributes) *bool {
		if s.Attributes&a == 0 {
			return nil
		}
		yes := true
		return &yes
	}
	p.Bold, p.Italic, p.Underline, p.CrossedOut = on(layout.Bold), on(layout.Italic), on(layout.Underline), on(layout.Strike)
	if name := named(s.Foreground); name != "" {
		p.Color = &name
	}
	return p
}

// named is a colour as glamour takes it: a number of the terminal's, or #rrggbb.
func named(c color.Color) string {
	switch c := c.(type) {
	case nil:
		return ""
	case ansi.BasicColor:
		return strconv.Itoa(int(c))
	case ansi.IndexedColor:
		return strconv.Itoa(int(c))
	}
	r, g, b, _ := c.RGBA()
	hex := strconv.FormatUint(uint64(1<<24|r>>8<<16|g>>8<<8|b>>8), 16)
	return "#" + hex[1:]
}
