package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Rows is what a window has room for. What is least needed goes first when it is
// small: blank lines, the box around the composer, header, last line; what is
// written and the keys of a question stay.
type Rows struct {
	Header   int  // 2: with a blank line below
	Air      bool // a blank line above the composer
	Edge     Edge
	Status   bool
	Composer int // at most so many lines of what is written
}

// Edge is what stands around what the user writes.
type Edge int

// The edges, from the one that takes least room.
const (
	Bare Edge = iota
	Ruled
	Boxed
)

// Narrow is the width below which there is no gutter, and no box.
const Narrow = 24

// Gutter is how many cells stay blank at the left and at the right of everything.
const Gutter = 2

// WritingWidth is how wide what the user writes is in a window of a width.
func WritingWidth(width int) int {
	if width < Narrow {
		return width - Gutter
	}
	return width - 2*Gutter - draw.BoxSides
}

// Layout divides a window. asked says that a question waits for the user, which
// has the room of what is least needed; inline that the picture stands below the
// terminal's own scrollback.
func Layout(width, height int, asked, inline bool) Rows {
	room := height
	if asked {
		room -= 8
	}
	r := Rows{Air: room >= 28 || inline && room >= 7, Status: height >= 3 && room >= 2, Composer: max(1, height/3)}
	switch {
	case inline || room < 4:
	case room < 20:
		r.Header = 1
	default:
		r.Header = 2
	}
	switch {
	case width < Narrow:
	case room >= 12:
		r.Edge = Boxed
	case room >= 7:
		r.Edge = Ruled
	}
	switch {
	case asked && height < 6:
		r.Composer = 0 // the question needs it; what is typed is kept
	case asked:
		r.Composer = max(1, min(3, height/6))
	}
	return r
}

// writing puts the edge around what is written. box has what stands in it. The
// text begins at column x of line y.
func (r Rows) writing(written []string, box draw.Box, width int, theme *draw.Theme) (lines []string, x, y int) {
	gutter := strings.Repeat(" ", Gutter)
	if r.Edge == Boxed {
		for _, line := range box.View(written, width-2*Gutter) {
			lines = append(lines, gutter+line)
		}
		return lines, Gutter + draw.BoxSides/2, 1
	}
	if r.Edge == Ruled {
		lines = append(lines, gutter+box.Rule(width-2*Gutter))
	}
	y = len(lines)
	for i, line := range written {
		prompt := gutter
		if i == 0 {
			prompt = theme.Brand.Render("> ")
		}
		lines = append(lines, prompt+line)
	}
	return lines, Gutter, y
}

// Bottom is all that stands below the conversation, with what is written at
// column x of line y.
func (r Rows) Bottom(written []string, box draw.Box, status string, width int, theme *draw.Theme) (lines []string, x, y int) {
	lines, x, y = r.writing(written, box, width, theme)
	if r.Air {
		lines, y = append([]string{""}, lines...), y+1
	}
	if r.Status {
		lines = append(lines, status)
	}
	return lines, x, y
}

// WritingBox is the box around the composer: doing is in its upper edge, the
// mode and the gauge of the context window in its lower one. While keys write
// there, its border has the colour of the mode.
func WritingBox(width int, doing, mode, gauge string, readOnly, mentions, keys bool, theme *draw.Theme) draw.Box {
	b := draw.Box{Title: doing, Figures: gauge}
	style := theme.Border
	switch {
	case !keys:
	case mode == "loop", mode == "auto: loop":
		style = theme.You.Bold(false)
	case mode == "team":
		style = theme.Reference
	default:
		style = theme.Brand.Bold(false)
	}
	b.Border = style
	more := "/ commands"
	if mentions {
		more = "@ notes · " + more
	}
	mode = safetext.Line(mode)
	if readOnly {
		mode = strings.TrimPrefix(mode+" · read-only", " · ")
	}
	b.Keys = theme.Dim.Render(more)
	if mode != "" {
		b.Keys = style.Render(mode)
		if with := b.Keys + style.Render(" ─ ") + theme.Dim.Render(more); draw.Width(with)+draw.Width(gauge)+7 <= width-2*Gutter {
			b.Keys = with
		}
	}
	return b
}

// Cursor moves a cursor by where the text begins that it stands in; nil where that
// is outside of the window.
func Cursor(at *tea.Cursor, x, y, width, height int) *tea.Cursor {
	if at == nil || at.Y+y < 0 || at.Y+y >= height || at.X+x >= width {
		return nil
	}
	at.X, at.Y = at.X+x, at.Y+y
	return at
}

// Inset puts lines into the gutter of a window of a width.
func Inset(lines []string, width int) []string {
	if width < Narrow {
		return lines
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", Gutter) + line
		}
	}
	return lines
}

// Inside is the width between the gutters of a window.
func Inside(width int) int {
	if width < Narrow {
		return width
	}
	return width - 2*Gutter
}

// Line is a line that is rebuilt only when what it tells has changed.
type Line struct {
	theme *draw.Theme
	key   string
	line  string
}

// Get returns the line, built if what key stands for has changed.
func (k *Line) Get(theme *draw.Theme, key string, build func() string) string {
	if k.theme != theme || k.key != key || k.line == "" {
		k.theme, k.key, k.line = theme, key, build()
	}
	return k.line
}

// Header is the first line: the conversation, and what answers over how many
// notes. Of the latter what has no room is left out.
func Header(width int, title string, parts []string, theme *draw.Theme) string {
	width = Inside(width)
	name := theme.Brand.Render("LifeHub")
	if title != "" {
		name = theme.Text.Render(draw.Summary(title, width))
	}
	need := min(width/2, draw.Width(name)) // so much of a title goes before the rest
	for len(parts) > 0 && need+2+draw.Width(strings.Join(parts, " · ")) > width {
		parts = parts[:len(parts)-1]
	}
	right := strings.Join(parts, " · ")
	if right != "" {
		name = draw.Truncate(name, width-draw.Width(right)-2)
	}
	return Inset([]string{draw.Justify(name, theme.Dim.Render(right), width)}, width)[0]
}

// Status is the last line: a hint, or the keys of the moment, and figures.
// keys and figures that have no room are left out, those that are last first.
func Status(width int, hint string, keys, figures []string, theme *draw.Theme) string {
	width = Inside(width)
	inset := func(left, right string) string {
		return Inset([]string{draw.Justify(left, theme.Dim.Render(right), width)}, width)[0]
	}
	if hint != "" {
		return inset(theme.Warning.Render(safetext.Line(hint)), strings.Join(figures, " · "))
	}
	left, right := strings.Join(keys, " · "), strings.Join(figures, " · ")
	for len(figures) > 0 && draw.Width(left)+2+draw.Width(right) > width {
		figures = figures[:len(figures)-1]
		right = strings.Join(figures, " · ")
	}
	return inset(theme.Dim.Render(left), right)
}

// maxWindowTitle is how many columns a terminal's tab shows of its title.
const maxWindowTitle = 40

// WindowTitle names the conversation and whether a question waits.
func WindowTitle(conversation string, asked bool) string {
	title := "LifeHub"
	if conversation != "" {
		title += " · " + draw.Summary(conversation, maxWindowTitle)
	}
	if asked {
		title = "? " + title
	}
	return draw.Truncate(title, maxWindowTitle)
}
