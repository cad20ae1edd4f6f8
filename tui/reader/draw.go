package reader

import (
	"bytes"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	xansi "github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"lifehub/internal/pattern"
	"lifehub/tui/draw"
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

// draw has glamour draw a block. What it cannot draw, or not soon or not so narrow,
// is shown as it is written.
func (d *Document) draw(b block, chosen, width int) (drawn Drawn) {
	defer func() {
		if recover() != nil {
			drawn = asWritten(b, width)
		}
	}()
	if b.kind == front {
		for _, line := range strings.Split(b.text, "\n") {
			drawn.Rows = append(drawn.Rows, draw.StyleLines(d.theme.Dim.Render, draw.Wrap(safetext.Line(line), width))...)
		}
		return drawn
	}
	if len(b.text) > 2*maxBytes {
		return asWritten(b, width)
	}
	x := newTree(b, d.refs, &d.theme.Markdown)
	if x.deepest > maxDepth || x.deepest*len(b.text) > 4*maxBytes {
		return asWritten(b, width)
	}
	rows := x.fitted(width)
	if rows == nil {
		return asWritten(b, width)
	}
	w := wrapper{drawn: Drawn{Links: x.links}, theme: d.theme, chosen: chosen, width: width, isCode: b.kind == code}
	if len(x.tables) == 0 && !w.isCode {
		w.width = min(width, draw.Readable)
	}
	for _, row := range rows {
		w.add(row)
	}
	for last := len(w.drawn.Rows) - 1; last > 0 && w.drawn.Rows[last] == ""; last-- {
		w.drawn.Rows = w.drawn.Rows[:last]
	}
	return w.drawn
}

// fitted are the rows that glamour draws, broken only where a table would be too
// wide; nil: it cannot be so narrow without losing a part of it.
func (x *tree) fitted(width int) []string {
	if first := x.root.FirstChild(); first != nil && first.Kind() == ast.KindThematicBreak {
		x.rule = min(width, draw.Readable)
	}
	rows := x.draw(0)
	if len(x.tables) == 0 || widest(rows) <= width {
		return rows
	}
	all := letters(rows)
	if rows = x.draw(width); letters(rows) < all {
		x.headsAsRows()
		rows = x.draw(width)
	}
	if widest(rows) > width || letters(rows) < all {
		return nil
	}
	return rows
}

// draw has glamour draw the block, with lines broken at a width; 0: nowhere.
func (x *tree) draw(width int) []string {
	options := ansi.Options{WordWrap: width, PreserveNewLines: true, Styles: x.styles(), ChromaFormatter: formatter}
	var out bytes.Buffer
	draws := renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(ansi.NewRenderer(options), 1000)))
	if err := draws.Render(&out, x.source, x.root); err != nil {
		panic(err) // the block is shown as it is written
	}
	return strings.Split(strings.Trim(out.String(), "\n"), "\n")
}

func widest(rows []string) (cells int) {
	for _, row := range rows {
		cells = max(cells, draw.Width(strings.TrimRight(xansi.Strip(row), " ")))
	}
	return cells
}

// letters is how many characters there are in rows, without those of a table's lines.
func letters(rows []string) (n int) {
	for _, r := range xansi.Strip(strings.Join(rows, "")) {
		if !strings.ContainsRune(" │─┼…", r) {
			n++
		}
	}
	return n
}

// asWritten is a block as its source.
func asWritten(b block, width int) (drawn Drawn) {
	for line := range strings.SplitSeq(strings.TrimRight(b.text, "\n"), "\n") {
		for _, row := range draw.Wrap(safetext.Line(line), width) {
			drawn.Rows = append(drawn.Rows, safetext.Line(row)) // broken within a character it needs that again
		}
	}
	return drawn
}

// wrapper breaks what glamour drew into rows, and lets through of it what may
// reach the terminal.
type wrapper struct {
	drawn  Drawn
	theme  *draw.Theme
	chosen int // link
	width  int
	isCode bool
	last   string // row that was added, without styles
}

// heads are what a row of a quote or of an item begins with.
var heads = pattern.Lazy(`^[ │]*(?:(?:•|\d{1,9}\.|\[[ x]\]) +)*`)

// add breaks a row, with what continues it below the beginning of its text.
func (w *wrapper) add(row string) {
	plain := strings.TrimRight(xansi.Strip(row), " ")
	head := plain[:len(plain)-len(strings.TrimLeft(plain, " "))]
	if !w.isCode {
		head = heads.FindString(plain)
		if blank := strings.Trim(plain, "│ ") == ""; blank && (plain == w.last || len(w.drawn.Rows) == 0) {
			return
		}
	}
	w.last = plain
	rest := measure.Method().TruncateLeft(row, draw.Width(head), "")
	if draw.Width(plain) > w.width {
		head = measure.Fit(head, w.width/2, "")
	}
	for _, line := range broken(rest, max(2, w.width-draw.Width(head))) {
		w.drawn.Rows = append(w.drawn.Rows, strings.TrimRight(w.painted(head)+w.row(line), " "))
		head = strings.Map(func(r rune) rune {
			if r == '│' {
				return r
			}
			return ' '
		}, head)
	}
}

// broken are the lines of a row, each with its own styles.
func broken(row string, width int) []string {
	lines := draw.Wrap(row, width)
	if len(lines) == 1 {
		return lines
	}
	var out bytes.Buffer
	whole := lipgloss.NewWrapWriter(&out)
	_, _ = whole.Write([]byte(strings.Join(lines, "\n"))) // a buffer takes all
	_ = whole.Close()
	return strings.Split(out.String(), "\n")
}

// painted is what a row begins with, in colour.
func (w *wrapper) painted(head string) string {
	var out strings.Builder
	for head != "" {
		bars := head[:len(head)-len(strings.TrimLeft(head, "│ "))]
		head = head[len(bars):]
		marks, _, _ := strings.Cut(head, "│")
		head = head[len(marks):]
		out.WriteString(strings.ReplaceAll(bars, "│", w.theme.Markdown.Border.Paint("│")))
		marks, blanks := strings.TrimRight(marks, " "), marks[len(strings.TrimRight(marks, " ")):]
		out.WriteString(w.theme.Markdown.Marker.Paint(marks) + blanks)
	}
	return out.String()
}

// row lets through what glamour may write: text, styles and our own marks. Those of
// links become links of the terminal where they may be ones.
func (w *wrapper) row(row string) string {
	var out strings.Builder
	marked := "" // the style of the mark that is open
	where := ""  // the address of its link, where the terminal opens it
	var text []byte
	flush := func() {
		out.WriteString(safetext.Line(string(text)))
		text = text[:0]
	}
	closeMark := func() {
		if marked != "" {
			out.WriteString(xansi.ResetStyle)
		}
		if where != "" {
			out.WriteString(xansi.ResetHyperlink())
		}
		marked, where = "", ""
	}
	for state := byte(0); len(row) > 0; {
		piece, _, n, next := xansi.DecodeSequence(row, state, nil)
		row, state = row[n:], next
		if piece[0] != '\x1b' {
			text = append(text, piece...)
			continue
		}
		flush()
		switch {
		case isStyle(piece):
			out.WriteString(piece + marked)
		case strings.HasPrefix(piece, "\x1b]8;"):
			closeMark()
			marked, where = w.meaning(piece)
			if where != "" {
				out.WriteString(xansi.SetHyperlink(where))
			}
			out.WriteString(marked)
		}
	}
	flush()
	closeMark()
	line := strings.TrimRight(out.String(), " ")
	if strings.TrimSpace(xansi.Strip(line)) == "" {
		return ""
	}
	if strings.Contains(line, "\x1b[") {
		line += xansi.ResetStyle
	}
	return line
}

// isStyle reports whether a sequence is one that turns styles on or off.
func isStyle(piece string) bool {
	return strings.HasPrefix(piece, "\x1b[") && strings.HasSuffix(piece, "m") && strings.Trim(piece[2:len(piece)-1], "0123456789;:") == ""
}

// meaning is the style that a mark stands for, and for that of a link of the web
// its address. The first row with the mark of a link is where it begins.
func (w *wrapper) meaning(piece string) (style, where string) {
	_, to, _ := strings.Cut(strings.TrimSuffix(piece[len("\x1b]8;"):], "\a"), ";")
	if number, ok := strings.CutPrefix(to, token); ok {
		if at, err := strconv.Atoi(number); err == nil && at >= 0 && at < len(w.theme.Markdown.Tokens) {
			style, _, _ = strings.Cut(w.theme.Markdown.Tokens[at].Paint("x"), "x")
		}
		return style, ""
	}
	number, ok := strings.CutPrefix(to, mine)
	at, err := strconv.Atoi(number)
	if !ok || err != nil || at < 0 || at >= len(w.drawn.Links) {
		return "", ""
	}
	link := &w.drawn.Links[at]
	if link.Row < 0 {
		link.Row = len(w.drawn.Rows)
	}
	style = w.theme.Markdown.Link.Paint("x")
	if at == w.chosen {
		style = w.theme.Selected.Reverse(true).Render("x")
	}
	style, _, _ = strings.Cut(style, "x")
	if w.theme.Markdown.Hyperlinks && !link.Note && safetext.LinkAllowed(link.To) {
		where = link.To
	}
	return style, where
}

// styles is the theme in glamour's words.
func (x *tree) styles() ansi.StyleConfig {
	m := x.theme
	one, step := uint(1), uint(x.step)
	bar, column, row, cross := "│ ", m.Border.Paint("│"), m.Border.Paint("─"), m.Border.Paint("┼")
	return ansi.StyleConfig{
		BlockQuote:     ansi.StyleBlock{StylePrimitive: primitive(m.Quote), Indent: &one, IndentToken: &bar},
		List:           ansi.StyleList{LevelIndent: step},
		Heading:        ansi.StyleBlock{StylePrimitive: primitive(m.Heading)},
		H1:             ansi.StyleBlock{StylePrimitive: primitive(m.Title.Over(m.Heading))},
		Strikethrough:  primitive(m.Deleted),
		Emph:           primitive(m.Emphasis),
		Strong:         primitive(m.Strong),
		HorizontalRule: ansi.StylePrimitive{Prefix: m.Border.Paint(strings.Repeat("─", x.rule))},
		Item:           ansi.StylePrimitive{Prefix: "• "},
		Enumeration:    ansi.StylePrimitive{BlockPrefix: ". "},
		Task:           ansi.StyleTask{Ticked: "[x] ", Unticked: "[ ] "},
		Code:           ansi.StyleBlock{StylePrimitive: primitive(m.Code)},
		CodeBlock:      ansi.StyleCodeBlock{StyleBlock: ansi.StyleBlock{Indent: &step}, Theme: "bw"},
		Table:          ansi.StyleTable{ColumnSeparator: &column, RowSeparator: &row, CenterSeparator: &cross},
	}
}

func primitive(s layout.Style) (p ansi.StylePrimitive) {
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
	case xansi.BasicColor:
		return strconv.Itoa(int(c))
	case xansi.IndexedColor:
		return strconv.Itoa(int(c))
	}
	r, g, b, _ := c.RGBA()
	hex := strconv.FormatUint(uint64(1<<24|r>>8<<16|g>>8<<8|b>>8), 16)
	return "#" + hex[1:]
}
