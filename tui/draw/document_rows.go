package draw

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	xansi "github.com/charmbracelet/x/ansi"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"lifehub/tui/safetext"
)

// Drawn is a block drawn as rows, and its links.
type Drawn struct {
	Rows  []string
	Links []DocumentLink
	Gap   bool // the first row is a blank one above the block
}

// Draw returns a block drawn at a width, with one of its links highlighted; -1 highlights none.
// Blocks without a highlighted link are cached for one width and theme.
func (d *Document) Draw(at, chosen, width int, theme *Theme) Drawn {
	if d.width != width || d.theme != theme {
		d.width, d.theme, d.drawn = width, theme, map[int]Drawn{}
	}
	if drawn, ok := d.drawn[at]; ok && chosen < 0 {
		return drawn
	}
	b := d.blocks[at]
	drawn := d.draw(b, chosen, width)
	if drawn.Gap = at > 0 && !b.tight; drawn.Gap {
		drawn.Rows = slices.Insert(drawn.Rows, 0, "")
		for i := range drawn.Links {
			drawn.Links[i].Row++
		}
	}
	if chosen < 0 {
		d.drawn[at] = drawn
	}
	return drawn
}

// draw draws a block with glamour. A block that glamour cannot draw, or not fast enough or not in
// this width, is shown as written.
func (d *Document) draw(b block, chosen, width int) (drawn Drawn) {
	defer func() {
		if recover() != nil {
			drawn = asWritten(b, width, "")
		}
	}()
	if b.kind == front {
		for _, line := range strings.Split(b.text, "\n") {
			drawn.Rows = append(drawn.Rows, StyleLines(d.theme.Dim.Render, Wrap(safetext.Line(line), width))...)
		}
		return drawn
	}
	switch {
	case b.kind == code && b.fence.number > 0 && width >= leastFrame:
		drawn.Rows = d.framed(b, width)
		return drawn
	case b.kind == code:
		return asWritten(b, width, "  ")
	case b.open && b.isTable(): // its columns change with each row
		return asWritten(b, width, "")
	case len(b.text) > 2*maxBytes || slices.ContainsFunc(strings.Split(b.text, "\n"),
		func(line string) bool { return tooDeep(line, maxDepth) }):
		return asWritten(b, width, "")
	}
	x := newTree(b, d)
	x.rule = min(width, Readable)
	rows := x.draw(0) // do not wrap: glamour counts cells differently from this terminal
	if len(x.tables) > 0 && widest(rows) > width {
		if columns := x.headsAsRows(); columns*leastColumn > width {
			return asWritten(b, width, "") // glamour would omit columns
		}
		rows = x.draw(width)
	}
	w := wrapper{drawn: Drawn{Links: x.links}, theme: d.theme, chosen: chosen, width: width, dense: d.answer}
	if len(x.tables) == 0 {
		w.width = min(width, Readable)
	}
	_, isTable := x.root.FirstChild().(*east.Table)
	isTable = isTable && x.root.ChildCount() == 1
	for _, row := range rows {
		if isTable {
			row = Method().TruncateLeft(row, 1, "") // the padding of the first column
		}
		w.add(row)
	}
	return w.drawn
}

// leastColumn is the minimum width of a table column in cells.
const leastColumn = 6

// draw draws the block with glamour, wrapped at width unless that is 0.
func (x *inlineTree) draw(width int) []string {
	options := ansi.Options{WordWrap: width, PreserveNewLines: true, Styles: x.styles()}
	var out bytes.Buffer
	draws := renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(ansi.NewRenderer(options), 1000)))
	if err := draws.Render(&out, x.source, x.root); err != nil {
		panic(err) // recovered by the caller, which shows the block as written
	}
	return strings.Split(strings.Trim(out.String(), "\n"), "\n")
}

// widest returns the width of the widest table row.
func widest(rows []string) (cells int) {
	for _, row := range rows {
		if strings.Contains(row, "│") || strings.Contains(row, "─") {
			cells = max(cells, Width(row))
		}
	}
	return cells
}

// asWritten returns a block as its source text, indented.
func asWritten(b block, width int, indent string) (drawn Drawn) {
	if width < leastFrame {
		indent = ""
	}
	for line := range strings.SplitSeq(strings.TrimRight(withoutSigns(b.text), "\n"), "\n") {
		line = strings.ReplaceAll(line, "\t", tab)
		for _, row := range Wrap(safetext.Line(line), max(1, width-len(indent))) {
			// a break inside a grapheme may leave text to clean
			drawn.Rows = append(drawn.Rows, indent+safetext.Line(row))
		}
	}
	return drawn
}

// wrapper breaks glamour's output into rows and removes everything that must not reach the
// terminal.
type wrapper struct {
	drawn  Drawn
	theme  *Theme
	chosen int // highlighted link
	width  int
	dense  bool     // a paragraph in a quotation has a mark instead of a blank row above it
	blanks []string // pending blank row
}

// itemHeads matches the beginning of a row of a quote or a list item.
var itemHeads = regexp.MustCompile(`^[ │]*(?:(?:•|\d{1,9}\.|\[[ x]\]) +)*`)

// add wraps a row. Continuation lines are aligned with the beginning of its text.
func (w *wrapper) add(row string) {
	plain := strings.TrimRight(xansi.Strip(row), " ")
	head := itemHeads.FindString(plain)
	if strings.Trim(plain, "│ ") == "" {
		w.blanks = []string{w.painted(plain)}
		return
	}
	marked := w.dense && len(w.blanks) > 0 && len(w.drawn.Rows) > 0 && strings.Contains(xansi.Strip(w.blanks[0]), "│")
	if len(w.drawn.Rows) > 0 && !marked {
		w.drawn.Rows = append(w.drawn.Rows, w.blanks...)
	}
	w.blanks = nil
	rest := Method().TruncateLeft(row, Width(head), "")
	if Width(plain) > w.width {
		head = Fit(head, w.width/2, "")
	}
	lines := strings.Join(Wrap(rest, max(2, w.width-Width(head))), "\n")
	for line := range strings.SplitSeq(lipgloss.Wrap(lines, 0, ""), "\n") { // so that each line has complete styles
		begin := w.painted(head)
		if at := strings.LastIndex(begin, "│"); marked && at >= 0 {
			begin, marked = begin[:at]+"├"+begin[at+len("│"):], false
		}
		w.drawn.Rows = append(w.drawn.Rows, strings.TrimRight(begin+w.row(line), " "))
		head = strings.Map(func(r rune) rune {
			if r == '│' {
				return r
			}
			return ' '
		}, head)
	}
}

// painted returns the beginning of a row in colour.
func (w *wrapper) painted(head string) string {
	marks := strings.Trim(head, "│ ")
	bars, blanks, _ := strings.Cut(head+"\n", cmp.Or(marks, "\n"))
	return strings.ReplaceAll(bars, "│", w.theme.Markdown.Border.Paint("│")) + w.theme.Markdown.Marker.Paint(marks) + strings.TrimSuffix(blanks, "\n")
}

// styledPieces matches what is read of a row: styles, beginnings and ends of links, text.
var styledPieces = regexp.MustCompile(`\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b\a]*\a|[^\x1b]+`)

// row filters a row: only text, styles and our own marks pass. The marks of links become terminal
// hyperlinks if their addresses are allowed.
func (w *wrapper) row(row string) string {
	var out strings.Builder
	var style, where string // of the open mark
	for _, piece := range styledPieces.FindAllString(row+xansi.ResetHyperlink(), -1) {
		switch {
		case strings.HasPrefix(piece, "\x1b["):
			out.WriteString(piece + style)
		case strings.HasPrefix(piece, "\x1b]"):
			if style != "" {
				out.WriteString(xansi.ResetStyle)
			}
			if where != "" {
				out.WriteString(xansi.ResetHyperlink())
			}
			if style, where = w.meaning(piece); where != "" {
				out.WriteString(xansi.SetHyperlink(where))
			}
			out.WriteString(style)
		default:
			out.WriteString(safetext.Line(piece))
		}
	}
	line := strings.TrimRight(out.String(), " ")
	if strings.Contains(line, "\x1b[") {
		line += xansi.ResetStyle
	}
	return line
}

// meaning returns the style that a mark stands for and, for a web link, its address. The first row
// with the mark of a link is recorded as the link's row.
func (w *wrapper) meaning(piece string) (style, where string) {
	m := &w.theme.Markdown
	_, to, _ := strings.Cut(strings.TrimSuffix(piece[len("\x1b]8;"):], "\a"), ";")
	number, isLink := strings.CutPrefix(to, mine)
	at, err := strconv.ParseUint(number, 10, 31)
	if err != nil || !isLink || at >= uint64(len(w.drawn.Links)) {
		return "", ""
	}
	link := &w.drawn.Links[at]
	if link.Row < 0 {
		link.Row = len(w.drawn.Rows)
	}
	if !link.Note && safetext.LinkAllowed(link.To) {
		where = link.To
	}
	if style = m.Link.Paint("x"); int(at) == w.chosen {
		style = w.theme.Selected.Reverse(true).Render("x")
	}
	style, _, _ = strings.Cut(style, "x")
	return style, where
}

// styles returns the theme as a glamour style.
func (x *inlineTree) styles() ansi.StyleConfig {
	m := x.theme
	block := func(s Style) ansi.StyleBlock { return ansi.StyleBlock{StylePrimitive: primitive(s)} }
	return ansi.StyleConfig{
		BlockQuote:     ansi.StyleBlock{Indent: new(uint(1)), IndentToken: new("│ ")},
		List:           ansi.StyleList{LevelIndent: 2},
		Heading:        block(m.Heading),
		H1:             block(m.Title.Over(m.Heading)),
		Strikethrough:  primitive(m.Deleted),
		Emph:           primitive(m.Emphasis),
		Strong:         primitive(m.Strong),
		HorizontalRule: ansi.StylePrimitive{Prefix: m.Border.Paint(strings.Repeat("─", x.rule))},
		Item:           ansi.StylePrimitive{Prefix: "• "},
		Enumeration:    ansi.StylePrimitive{BlockPrefix: ". "},
		Task:           ansi.StyleTask{Ticked: "[x] ", Unticked: "[ ] "},
		Table: ansi.StyleTable{
			ColumnSeparator: new(m.Border.Paint("│")),
			RowSeparator:    new(m.Border.Paint("─")),
			CenterSeparator: new(m.Border.Paint("┼")),
		},
	}
}

func primitive(s Style) (p ansi.StylePrimitive) {
	on := func(a Attributes) *bool {
		if s.Attributes&a == 0 {
			return nil // inherited
		}
		return new(true)
	}
	p.Bold, p.Italic, p.Underline, p.CrossedOut = on(Bold), on(Italic), on(Underline), on(Strike)
	if s.Foreground != nil {
		p.Color = new(named(s.Foreground))
	}
	return p
}

// named formats a colour for glamour, as a terminal colour number or #rrggbb.
func named(c color.Color) string {
	switch c.(type) {
	case xansi.BasicColor, xansi.IndexedColor:
		return fmt.Sprint(c)
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
