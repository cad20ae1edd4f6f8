// Package frame is what stands around the conversation: which rows a window has
// room for, the header, the status line and the welcome.
package frame

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// Rows is what a window has room for. What is least needed goes first when it is
// small: rules, header, status line; the composer and the keys of a question
// stay.
type Rows struct {
	Header, Rule, Divider, Status bool
	Composer                      int // at most so many of what is written
}

// Layout divides a window of a height. asked says that a question waits for the
// user, inline that the picture stands below the terminal's own scrollback.
func Layout(height int, asked, inline bool) Rows {
	r := Rows{
		Header:   height >= 4 && !(height < 12 && asked) && !inline,
		Rule:     height >= 10 && !(height < 16 && asked) && !inline,
		Divider:  height >= 7 && !(height < 16 && asked),
		Status:   height >= 3 && !(height < 10 && asked),
		Composer: max(1, height/3),
	}
	switch {
	case asked && height < 6:
		r.Composer = 0 // the question needs it; what is typed is kept
	case asked:
		r.Composer = max(1, min(3, height/6))
	}
	return r
}

// Fit takes away of what stands at the top and the bottom of a window what above,
// the number of lines that ask for attention, leaves no room for.
func Fit(height, above int, top, bottom []string) (fitTop, fitBottom []string) {
	if above <= height-len(bottom)-len(top) {
		return top, bottom
	}
	if fits := height - len(bottom); above > fits {
		bottom = bottom[min(len(bottom), above-fits):]
	}
	return nil, bottom
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

// Header is the first line: what LifeHub does now, with what, over how many
// notes. Where there is no room for all, what it does comes first. state is what
// a turn is doing, "" when none runs.
func Header(width, beat int, state, title string, parts []string, theme *draw.Theme) string {
	left := " " + theme.Brand.Render("LifeHub")
	need := 12 // cells of a title that are worth showing
	if state == "" {
		state = draw.Summary(title, width)
	} else {
		need = draw.Width(state) + 2
		state = theme.Running.Render(draw.Spinner[beat%len(draw.Spinner)]) + " " + state
	}
	need = min(need, draw.Width(state))
	right := strings.Join(parts, " · ")
	for len(parts) > 0 && draw.Width(left)+2+need+2+draw.Width(right)+1 > width {
		parts = parts[:len(parts)-1]
		right = strings.Join(parts, " · ")
	}
	if right != "" {
		right = theme.Dim.Render(right) + " "
	}
	if room := width - draw.Width(left) - draw.Width(right) - 4; state != "" && room > 3 {
		left += "  " + draw.Truncate(state, room)
	}
	return draw.Justify(left, right, width)
}

// Status is the last line: a hint, or figures, and the keys of the moment.
func Status(width int, hint, keys string, parts []string, theme *draw.Theme) string {
	right := theme.Dim.Render(keys + " ")
	if hint != "" {
		return draw.Justify(" "+theme.Warning.Render(safetext.Line(hint)), right, width)
	}
	left := ""
	for len(parts) > 0 {
		left = " " + strings.Join(parts, " · ")
		if draw.Width(left)+draw.Width(right)+1 <= width {
			break
		}
		parts = parts[:len(parts)-1]
		left = ""
	}
	return draw.Justify(theme.Dim.Render(left), right, width)
}

// Welcome is the screen before the first question.
// opening says that nobody knows yet what there is.
func Welcome(width int, s backend.Status, opening bool, k *keys.Map, theme *draw.Theme) []string {
	lines := []string{""}
	add := func(text string) { lines = append(lines, draw.Hang("  ", text, width)...) }
	add(theme.Strong.Render("Ask your notes anything."))
	if s.Provider == "offline" {
		add(theme.Warning.Render(backend.OfflineText))
	}
	switch {
	case opening:
	case s.Notes == 0 && !s.Indexing:
		add(theme.Dim.Render("No notes yet: lifehub index DIR names a folder of them."))
	default:
		add(theme.Dim.Render("what did I write last week? · when is the rent due? · add task call Tom"))
	}
	lines = append(lines, "")
	for _, hint := range []struct {
		key  key.Binding
		what string
	}{
		{k.Send, "send"},
		{k.Newline, "new line"},
		{k.Palette, "commands"},
		{k.Conversations, "earlier conversations"},
		{k.HelpOnEmpty, "all keys"},
	} {
		if hint.key.Enabled() {
			lines = append(lines, draw.Truncate(fmt.Sprintf("  %s%s%s", theme.Key.Render(hint.key.Help().Key), strings.Repeat(" ", max(1, 9-draw.Width(hint.key.Help().Key))), theme.Dim.Render(hint.what)), width))
		}
	}
	return lines
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
