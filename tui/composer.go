package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/measure"
	"lifehub/tui/safetext"
)

// A message of the user's of more than this becomes a name in the text. A paste
// does with its second line.
const (
	longLines = 30
	longBytes = 4000
)

// composer is where the user writes. It keeps what was asked before, what was
// pasted and what waits to be asked.
type composer struct {
	area    textarea.Model
	history []string // newest first
	at      int      // the prompt of history that is shown; -1: none
	draft   string   // what stood here before history was shown
	pastes  []paste
	queue   []string // asked one by one when the turn is over
	held    int      // of queue, the first ones that are asked only when the user says so
	place   int      // in the queue, of the message that was taken out of it to be changed; -1: none was
	wasHeld bool     // and it was one of held
	away    bool     // the user's editor has what is written
	edits   int      // counts the changes of what is written and waits
	lines   []string // the picture
	cursor  *tea.Cursor
	vi      viMode
	typed   string // of a command of vi, what is not all of it yet
	changes undo
}

type paste struct {
	name, text string
	own        bool // it is a message of the user's, not from the clipboard
}

func newComposer(keys *keys.Map, look *draw.Theme) composer {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.DynamicHeight, area.MinHeight, area.MaxHeight = true, 1, 1
	area.MaxContentHeight = 10_000
	area.CharLimit = 0
	area.EndOfBufferCharacter = ' '
	area.SetVirtualCursor(false)
	area.SetPromptFunc(2, func(line textarea.PromptInfo) string {
		if line.LineNumber == 0 {
			return "> "
		}
		return "  "
	})
	area.KeyMap.InsertNewline = key.NewBinding(key.WithKeys(keys.Newline.Keys()...))
	// Keys that are the screen's are not the text's.
	area.KeyMap.LinePrevious.SetKeys("up")
	area.KeyMap.LineNext.SetKeys("down")
	area.KeyMap.TransposeCharacterBackward.SetEnabled(false)
	area.KeyMap.SelectAll.SetEnabled(false)
	area.KeyMap.PageUp.SetEnabled(false)
	area.KeyMap.PageDown.SetEnabled(false)
	area.KeyMap.InputBegin.SetKeys("alt+<")
	area.KeyMap.InputEnd.SetKeys("alt+>")
	// The clipboard of the machine is the terminal's to paste.
	area.KeyMap.Paste.SetEnabled(false)
	area.Focus()
	c := composer{area: area, at: -1, place: -1}
	c.restyle(look)
	return c
}

func (c *composer) restyle(look *draw.Theme) {
	c.area.SetStyles(draw.AreaStyles(look))
	c.draw()
}

// invite shows a text while nothing is written.
func (c *composer) invite(text string) {
	if c.area.Placeholder != text {
		c.area.Placeholder = text
		c.draw()
	}
}

// resize tells the width and the most lines that the composer may take.
func (c *composer) resize(width, height int) {
	c.area.MaxHeight = max(1, height)
	c.area.SetWidth(max(4, width))
	c.area, _ = c.area.Update(nil) // lets the area find its height
	c.draw()
}

// draw makes the picture, after anything changed.
func (c *composer) draw() {
	c.lines = strings.Split(c.area.View(), "\n")
	c.cursor = c.area.Cursor()
	c.remeasure()
}

// remeasure cuts the lines, and sets the cursor, by how the terminal shows
// them: the text area counts clusters in a way of its own.
func (c *composer) remeasure() {
	prompt := draw.Cells(c.area.Prompt)
	for y, line := range c.lines {
		if c.cursor != nil && y == c.cursor.Y {
			row := []rune(ansi.Strip(line))
			before := min(len([]rune(c.area.Prompt))+c.area.LineInfo().ColumnOffset, len(row))
			c.cursor.X = min(draw.Cells(string(row[:before])), c.area.Width()+prompt-1)
		}
		switch most := c.area.Width() + prompt; {
		case draw.Cells(line) <= most:
		case draw.Cells(strings.TrimRight(ansi.Strip(line), " ")) <= most:
			c.lines[y] = measure.Fit(line, most, "")
		default:
			c.lines[y] = draw.Fit(line, most)
		}
	}
}

// cursorAt is where the cursor stands in the picture, nil when there is none.
func (c *composer) cursorAt() *tea.Cursor {
	if c.cursor == nil {
		return nil
	}
	at := *c.cursor
	switch c.vi {
	case viInsert:
		at.Shape = tea.CursorBar
	case viNormal:
		at.Shape = tea.CursorBlock
	}
	return &at
}

func (c *composer) text() string { return c.area.Value() }
func (c *composer) empty() bool  { return c.area.Length() == 0 }

// before is the text before the cursor.
func (c *composer) before() string {
	lines := strings.SplitAfter(c.text(), "\n")
	at := min(c.area.Line(), len(lines)-1)
	last := []rune(lines[at])
	return strings.Join(lines[:at], "") + string(last[:min(c.area.Column(), len(last))])
}

// replace puts text in place of so many bytes before the cursor.
func (c *composer) replace(size int, text string) {
	before := c.before()
	for range []rune(before[max(0, len(before)-size):]) {
		c.area, _ = c.area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	c.area.InsertString(text)
	c.area, _ = c.area.Update(nil)
	c.changed("", "")
}

// set puts a message in place of what is written. A long one is there by name,
// and so is what is attached to it.
func (c *composer) set(text string) {
	if m := agent.ParseMessage(text); len(m.Attached) == 0 {
		text = c.named(text, true)
	} else {
		text = c.named(m.Text, true)
		for _, a := range m.Attached {
			name := "[" + a.Name + "]"
			if !strings.Contains(m.Text, name) {
				text += " " + name
			}
			c.pastes = append(c.pastes, paste{name, a.Text, false})
		}
	}
	c.area.SetValue(text)
	c.area.MoveToEnd()
	c.area, _ = c.area.Update(nil)
	c.changed("", "")
}

// clear empties the composer and forgets where in the history we were.
func (c *composer) clear() {
	c.at, c.draft, c.pastes, c.place = -1, "", nil, -1
	if c.vi == viNormal {
		c.vi = viInsert
	}
	c.typed = ""
	c.set("")
}

// take empties the composer and returns what it held, pastes attached.
func (c *composer) take() string {
	text := written{text: unquoted(c.text()), pastes: c.pastes}.whole()
	c.clear()
	c.afresh()
	return text
}

// whole is the message that is written: what was pasted is attached to it, so
// that nothing in it is read as the user's own words.
func (w written) whole() string {
	m := agent.Message{Text: w.text}
	for _, p := range slices.Backward(w.pastes) { // a later one can name an earlier one
		if p.own {
			m.Text = strings.Replace(m.Text, p.name, p.text, 1)
		}
	}
	for _, p := range w.pastes {
		if !p.own && strings.Contains(m.Text, p.name) {
			m.Attached = append(m.Attached, agent.Attachment{Name: strings.Trim(p.name, "[]"), Text: p.text})
		}
	}
	if len(m.Attached) == 0 {
		return m.Text
	}
	return m.String()
}

// quote begins and ends a text of several lines, in which enter is a new line.
const quote = `"""`

// quoting tells whether a text of several lines is begun and not ended.
func (c *composer) quoting() bool {
	text := strings.TrimSpace(c.text())
	return strings.HasPrefix(text, quote) && strings.Count(text, quote)%2 == 1
}

// unquoted takes the quotes of a text of several lines away.
func unquoted(text string) string {
	whole := strings.TrimSpace(text)
	if len(whole) < 2*len(quote) || !strings.HasPrefix(whole, quote) || !strings.HasSuffix(whole, quote) {
		return text
	}
	return strings.Trim(whole[len(quote):len(whole)-len(quote)], "\n")
}

// remember puts a prompt at the front of the history.
func (c *composer) remember(prompt string) {
	if len(c.history) == 0 || c.history[0] != prompt {
		c.history = slices.Insert(c.history[:min(len(c.history), keptPrompts)], 0, prompt)
	}
}

// press edits the text.
func (c *composer) press(pressed tea.KeyPressMsg) tea.Cmd {
	var cmd tea.Cmd
	pressed.Text = safetext.Text(pressed.Text)
	c.area, cmd = c.area.Update(pressed)
	run := pressed.String() // so that letters deleted one by one come back together
	if pressed.Text != "" {
		run = typing
	}
	c.changed(run, pressed.Text)
	return cmd
}

func (c *composer) newline() {
	c.area.InsertRune('\n')
	c.area, _ = c.area.Update(nil)
	c.changed("", "")
}

// paste puts in text from the terminal; it is never sent by itself.
func (c *composer) paste(text string) {
	text = safetext.Text(text)
	if line := strings.TrimRight(text, "\n"); !strings.Contains(line, "\n") {
		text = line
	}
	text = c.named(text, false)
	c.area, _ = c.area.Update(tea.PasteMsg{Content: text})
	c.changed("", "")
}

// named sets a text aside and returns the name that stands for it, or the text
// itself: a short message of the user's, or one line of a paste.
func (c *composer) named(text string, own bool) string {
	lines, most := 1+strings.Count(text, "\n"), 1
	if own {
		most = longLines
	}
	if lines <= most && len(text) <= longBytes {
		return text
	}
	size := draw.Count(lines, "line")
	if lines == 1 {
		size = draw.Bytes(int64(len(text)))
	}
	name := fmt.Sprintf("[paste %d · %s]", len(c.pastes)+1, size)
	c.pastes = append(c.pastes, paste{name, text, own})
	return name
}

// earlier takes back the message that waits before the one shown, from the last
// on, or shows the prompt before. It reports false where the key belongs to the
// text: not on its first line.
func (c *composer) earlier() bool {
	if !c.firstLine() {
		return false
	}
	switch {
	case c.place == 0: // it is the first
		return true
	case c.place > 0:
		before := c.place - 1
		c.putBack()
		c.takeBack(before)
		return true
	case c.empty() && len(c.queue) > 0:
		c.takeBack(len(c.queue) - 1)
		return true
	}
	if c.at+1 < len(c.history) {
		if c.at < 0 {
			c.draft = c.text()
		}
		c.at++
		c.set(safetext.Text(c.history[c.at]))
	}
	return true
}

// later is the way back of earlier, down to what was being written.
func (c *composer) later() bool {
	if c.area.Line() != c.area.LineCount()-1 || c.area.LineInfo().RowOffset < c.area.LineInfo().Height-1 {
		return false
	}
	switch {
	case c.place >= 0:
		if behind := c.putBack(); behind < len(c.queue) {
			c.takeBack(behind)
		}
	case c.at > 0:
		c.at--
		c.set(safetext.Text(c.history[c.at]))
	case c.at == 0:
		c.at = -1
		c.set(c.draft)
	}
	return true
}

func (c *composer) firstLine() bool {
	return c.area.Line() == 0 && c.area.LineInfo().RowOffset == 0
}
