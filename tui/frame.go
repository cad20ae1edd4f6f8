package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// rows are the parts of the screen that a window has room for. In a small window
// the least needed are left out first: blank lines, the header, the mode below the
// input, the last line. The input and the keys of a question always stay.
type rows struct {
	Header   int  // number of lines; the second is blank
	Air      bool // a blank line above the composer
	Roomy    bool // a shaded blank line above and below the input
	Mode     bool // the last row of the composer, with the mode and the model
	Status   bool
	Composer int // maximum number of lines of the input
}

// writingWidth returns the width of the input in a window. Its right margin is as
// wide as its left one.
func writingWidth(width int) int { return draw.ColumnOf(width).TextWidth() - draw.Inset }

// rowsFor divides a window. If asked is set, a question waits for the user and takes
// the room of the least needed parts. If inline is set, the frame is below the
// terminal's scrollback.
func rowsFor(width, height int, asked, inline bool) rows {
	room := height
	if asked {
		room -= 8
	}
	r := rows{
		Air: room >= 28 || inline && room >= 7, Roomy: room >= 20, Mode: room >= 7 && width >= draw.Narrow,
		Status: height >= 3 && room >= 2, Composer: max(1, height/3),
	}
	switch {
	case inline || room < 4:
	case room < 20:
		r.Header = 1
	default:
		r.Header = 2
	}
	switch {
	case asked && height < 6:
		r.Composer = 0 // the question needs the space; the input is unchanged
	case asked:
		r.Composer = max(1, min(3, height/6))
	}
	return r
}

// composerBlock is the composer: the input on a shaded background, behind a bar.
type composerBlock struct {
	Bar         lipgloss.Style // in the colour of the mode while keys write there
	Mode, Gauge string         // shown below the input: mode and model, and how full the context window is
}

// Bottom returns all lines below the conversation, with the input beginning at
// column x of line y.
func (r rows) Bottom(written []string, block composerBlock, status string, width int,
	theme *draw.Theme,
) (lines []string, x, y int) {
	column := draw.ColumnOf(width)
	bar := block.Bar.Render("▌") + strings.Repeat(" ", draw.Inset-1)
	row := func(text string) {
		lines = append(lines, strings.Repeat(" ", column.Left)+draw.Shaded(draw.Truncate(bar+text, column.Width()),
			column.Width(), theme))
	}
	if r.Air {
		lines = append(lines, "")
	}
	if r.Roomy {
		row("")
	}
	y = len(lines)
	for _, line := range written {
		row(line)
	}
	if r.Roomy {
		row("")
	}
	if r.Mode {
		row(bothEnds(block.Mode, block.Gauge, column.TextWidth()-draw.Inset))
	}
	if r.Air { // half a row of shade
		lines = append(lines, strings.Repeat(" ", column.Left)+block.Bar.Render("▘")+draw.UpperHalf(column.Width()-1,
			theme))
	}
	if r.Status {
		lines = append(lines, status)
	}
	return lines, column.Text, y
}

// bothEnds returns a line with a text at each end. The right one is left out if
// there is no room for both.
func bothEnds(left, right string, width int) string {
	if left != "" && draw.Width(left)+2+draw.Width(right) > width {
		return draw.Truncate(left, width)
	}
	return draw.Justify(left, right, width)
}

// newComposerBlock returns the block of the composer, with the mode as it is shown. While
// keys write there, its bar has the colour of the mode that runs.
func newComposerBlock(mode string, running agent.Mode, model, gauge string, readOnly, keys bool,
	theme *draw.Theme,
) composerBlock {
	b := composerBlock{Bar: theme.Border, Gauge: gauge}
	name := theme.Dim
	if keys {
		switch running {
		case agent.TeamMode:
			b.Bar = theme.Reference
		case agent.LoopMode:
			b.Bar = theme.You.Bold(false)
		default:
			b.Bar = theme.Brand.Bold(false)
		}
		name = b.Bar
	}
	var parts []string
	if mode != "" {
		parts = append(parts, name.Render(safetext.Line(mode)))
	}
	if readOnly {
		parts = append(parts, theme.Text.Render("read-only"))
	}
	if model != "" {
		parts = append(parts, theme.Dim.Render(safetext.Line(model)))
	}
	b.Mode = strings.Join(parts, "   ")
	return b
}

// placeCursor moves a cursor from the coordinates of a text to those of the window. It
// returns nil if that is outside of the window.
func placeCursor(at *tea.Cursor, x, y, width, height int) *tea.Cursor {
	if at == nil || at.Y+y < 0 || at.Y+y >= height || at.X+x >= width {
		return nil
	}
	at.X, at.Y = at.X+x, at.Y+y
	return at
}

// indented indents the lines that are not empty, in place, and returns them.
func indented(lines []string, cells int) []string {
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", cells) + line
		}
	}
	return lines
}

// cachedLine is a line that is rebuilt only if its contents have changed.
type cachedLine struct {
	theme *draw.Theme
	key   string
	line  string
}

// Get returns the line, rebuilding it if key or theme differ from the last call.
func (k *cachedLine) Get(theme *draw.Theme, key string, build func() string) string {
	if k.theme != theme || k.key != key || k.line == "" {
		k.theme, k.key, k.line = theme, key, build()
	}
	return k.line
}

// headerLine returns the first line: the question of the visible answer, or the title
// of the conversation, and at the right as many of parts as fit.
func headerLine(width int, asked, title string, parts []string, theme *draw.Theme) string {
	column := draw.ColumnOf(width)
	width = column.TextWidth()
	name := theme.Brand.Render("LifeHub")
	if asked != "" || title != "" {
		name = theme.Text.Render(draw.Summary(cmp.Or(asked, title), width))
	}
	need := min(width/2, draw.Width(name)) // so much of a title goes before the rest
	for len(parts) > 0 && need+2+draw.Width(strings.Join(parts, " · ")) > width {
		parts = parts[:len(parts)-1]
	}
	right := strings.Join(parts, " · ")
	if right != "" {
		name = draw.Truncate(name, width-draw.Width(right)-2)
	}
	line := draw.Justify(name, theme.Dim.Render(right), width)
	if asked != "" {
		return indented([]string{theme.You.Render("▌") + strings.Repeat(" ", max(0, column.Text-column.Left-1)) + line},
			column.Left)[0]
	}
	return indented([]string{line}, column.Text)[0]
}

// statusLine returns the last line: the current activity or a hint, and at the right
// figures and keys. Where room is short, keys are left out from the first on, all but
// the last, then figures.
func statusLine(width int, doing string, figures, keys []string, theme *draw.Theme) string {
	column := draw.ColumnOf(width)
	right := func() string {
		var shown []string
		for _, figure := range figures {
			shown = append(shown, theme.Dim.Render(figure))
		}
		for _, hint := range keys {
			name, does, _ := strings.Cut(hint, " ")
			shown = append(shown, theme.Text.Render(name)+" "+theme.Dim.Render(does))
		}
		return strings.Join(shown, "   ")
	}
	fits := func() bool { return draw.Width(doing)+3+draw.Width(right()) <= column.TextWidth() }
	for len(keys) > 1 && !fits() {
		keys = keys[1:]
	}
	for len(figures) > 0 && !fits() {
		figures = figures[1:]
	}
	return indented([]string{bothEnds(doing, right(), column.TextWidth())}, column.Text)[0]
}

// maxWindowTitle is the width of a title that the tab of a terminal shows.
const maxWindowTitle = 40

// windowTitle returns the title of the window, which begins with "?" if a question
// waits for the user.
func windowTitle(conversation string, asked bool) string {
	title := "LifeHub"
	if conversation != "" {
		title += " · " + draw.Summary(conversation, maxWindowTitle)
	}
	if asked {
		title = "? " + title
	}
	return draw.Truncate(title, maxWindowTitle)
}
