// Package composer is the input: its text, history, pastes and queued messages, and the lists
// of commands and names.
package composer

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Longer messages and pastes are shown by name. A paste also if it has several lines.
const (
	LongLines = 30
	longBytes = 4000
)

// Model is the input with its history, pastes and queue.
type Model struct {
	Area        textarea.Model
	History     []string // earlier prompts, newest first
	At          int      // index in History of the prompt shown; -1 if none
	Draft       string   // the input before History was shown
	Pastes      []Paste
	Queue       []string         // messages to ask one by one after the turn
	restored    int              // number of messages at the start of Queue that are asked only on request
	Steering    []agent.Steering // messages offered to the running turn, which has not taken them yet
	Place       int              // index in Queue from which a message was taken for editing; -1 if none
	wasRestored bool             // that message was restored
	InEditor    bool             // the input is open in the user's editor
	Edits       int              // number of changes of the input and the queue
	Lines       []string         // the lines drawn
	cursor      *tea.Cursor
	changes     undo
	invitation  string // placeholder of the empty input
}

type Paste struct {
	Name, Text string
	Own        bool // a message of the user, not pasted
}

func New(keys *draw.Keys, theme *draw.Theme) Model {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.DynamicHeight, area.MinHeight, area.MaxHeight = true, 1, 1
	area.MaxContentHeight = 10_000
	area.CharLimit = 0
	area.EndOfBufferCharacter = ' '
	area.SetVirtualCursor(false)
	area.Prompt = ""
	area.KeyMap.InsertNewline = key.NewBinding(key.WithKeys(keys.Newline.Keys()...))
	// These keys belong to the screen.
	area.KeyMap.LinePrevious.SetKeys("up")
	area.KeyMap.LineNext.SetKeys("down")
	area.KeyMap.TransposeCharacterBackward.SetEnabled(false)
	area.KeyMap.SelectAll.SetEnabled(false)
	area.KeyMap.PageUp.SetEnabled(false)
	area.KeyMap.PageDown.SetEnabled(false)
	area.KeyMap.InputBegin.SetKeys("alt+<")
	area.KeyMap.InputEnd.SetKeys("alt+>")
	// The terminal pastes from the clipboard.
	area.KeyMap.Paste.SetEnabled(false)
	area.Focus()
	c := Model{Area: area, At: -1, Place: -1}
	c.Restyle(theme)
	return c
}

func (c *Model) Restyle(theme *draw.Theme) {
	c.Area.SetStyles(draw.AreaStyles(theme))
	c.Draw()
}

// Invite sets the placeholder.
func (c *Model) Invite(text string) {
	if c.invitation != text {
		c.invitation = text
		c.Draw()
	}
}

// Resize sets the width and the maximum height.
func (c *Model) Resize(width, height int) {
	if width, height = max(4, width), max(1, height); width == c.Area.Width() && height == c.Area.MaxHeight {
		return
	}
	c.Area.MaxHeight = height
	c.Area.SetWidth(width)
	c.Area, _ = c.Area.Update(nil) // makes the area compute its height
	c.Draw()
}

// Draw draws the lines after a change.
func (c *Model) Draw() {
	c.Area.Placeholder = draw.Truncate(c.invitation, c.Area.Width()) // otherwise the area would wrap it out of view
	c.Lines = strings.Split(c.Area.View(), "\n")
	c.cursor = c.Area.Cursor()
	c.remeasure()
}

// remeasure fits the lines and the cursor to the widths that the terminal uses, which differ
// from those of the text area.
func (c *Model) remeasure() {
	for y, line := range c.Lines {
		if c.cursor != nil && y == c.cursor.Y {
			row := []rune(ansi.Strip(line))
			before := min(c.Area.LineInfo().ColumnOffset, len(row))
			c.cursor.X = min(draw.Width(string(row[:before])), c.Area.Width()-1)
		}
		switch most := c.Area.Width(); {
		case draw.Width(line) <= most:
		case draw.Width(strings.TrimRight(ansi.Strip(line), " ")) <= most:
			c.Lines[y] = draw.Fit(line, most, "")
		default:
			c.Lines[y] = draw.Truncate(line, most)
		}
	}
}

// CursorAt returns the cursor and its place in the frame, or nil.
func (c *Model) CursorAt() *tea.Cursor {
	if c.cursor == nil {
		return nil
	}
	at := *c.cursor
	return &at
}

func (c *Model) Text() string { return c.Area.Value() }
func (c *Model) Empty() bool  { return c.Area.Length() == 0 }

// Before returns the text before the cursor.
func (c *Model) Before() string {
	lines := strings.SplitAfter(c.Text(), "\n")
	at := min(c.Area.Line(), len(lines)-1)
	last := []rune(lines[at])
	return strings.Join(lines[:at], "") + string(last[:min(c.Area.Column(), len(last))])
}

// Replace replaces a number of bytes before the cursor.
func (c *Model) Replace(size int, text string) {
	before := c.Before()
	for range []rune(before[max(0, len(before)-size):]) {
		c.Area, _ = c.Area.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	c.Area.InsertString(text)
	c.Area, _ = c.Area.Update(nil)
	c.Changed("", "")
}

// Set replaces the text by a message. Long text and attachments are shown by name.
func (c *Model) Set(text string) {
	if m := agent.ParseMessage(text); len(m.Attached) == 0 {
		text = c.named(text, true)
	} else {
		text = c.named(agent.Message{Text: m.Text, Tools: m.Tools}.String(), true)
		for _, a := range m.Attached {
			name := "[" + a.Name + "]"
			if !strings.Contains(m.Text, name) {
				text += " " + name
			}
			c.Pastes = append(c.Pastes, Paste{Name: name, Text: a.Text, Own: false})
		}
	}
	c.Area.SetValue(text)
	c.Area.MoveToEnd()
	c.Area, _ = c.Area.Update(nil)
	c.Changed("", "")
}

// Clear empties the input and resets the position in the history.
func (c *Model) Clear() {
	c.At, c.Draft, c.Pastes, c.Place = -1, "", nil, -1
	c.Set("")
}

// Take empties the input and returns its text with the pastes attached.
func (c *Model) Take() string {
	text := Written{Text: Unquoted(c.Text()), Pastes: c.Pastes}.Message()
	c.Clear()
	c.ForgetUndo()
	return text
}

// Message returns the message with pastes attached, so that they do not count as the user's own
// words.
func (w Written) Message() string {
	m := agent.Message{Text: w.Text}
	for _, p := range slices.Backward(w.Pastes) { // a later one may contain the name of an earlier one
		if p.Own {
			m.Text = strings.Replace(m.Text, p.Name, p.Text, 1)
		}
	}
	for _, p := range w.Pastes {
		if !p.Own && strings.Contains(m.Text, p.Name) {
			m.Attached = append(m.Attached, agent.Attachment{Name: strings.Trim(p.Name, "[]"), Text: p.Text})
		}
	}
	if len(m.Attached) == 0 {
		return m.Text
	}
	return m.String()
}

// Quote delimits a text of several lines, in which Enter inserts a new line.
const Quote = `"""`

// Quoting reports whether a text of several lines is open.
func (c *Model) Quoting() bool {
	text := strings.TrimSpace(c.Text())
	return strings.HasPrefix(text, Quote) && strings.Count(text, Quote)%2 == 1
}

// Unquoted removes the quotes of a text of several lines.
func Unquoted(text string) string {
	trimmed := strings.TrimSpace(text)
	if len(trimmed) < 2*len(Quote) || !strings.HasPrefix(trimmed, Quote) || !strings.HasSuffix(trimmed, Quote) {
		return text
	}
	return strings.Trim(trimmed[len(Quote):len(trimmed)-len(Quote)], "\n")
}

// Remember puts a prompt at the front of the history.
func (c *Model) Remember(prompt string) {
	if len(c.History) == 0 || c.History[0] != prompt {
		c.History = slices.Insert(c.History[:min(len(c.History), SavedPrompts)], 0, prompt)
	}
}

// Press handles a key that edits the text.
func (c *Model) Press(pressed tea.KeyPressMsg) tea.Cmd {
	var cmd tea.Cmd
	pressed.Text = safetext.Text(pressed.Text)
	c.Area, cmd = c.Area.Update(pressed)
	run := pressed.String() // so that characters deleted one by one are restored together
	if pressed.Text != "" {
		run = typing
	}
	c.Changed(run, pressed.Text)
	return cmd
}

// Type inserts text that was typed at once.
func (c *Model) Type(text string) {
	c.Area.InsertString(safetext.Text(text))
	c.Area, _ = c.Area.Update(nil)
	c.Changed("", "")
}

func (c *Model) Newline() {
	c.Area.InsertRune('\n')
	c.Area, _ = c.Area.Update(nil)
	c.Changed("", "")
}

// Paste inserts pasted text. It is never sent automatically.
func (c *Model) Paste(text string) {
	text = safetext.Text(text)
	if line := strings.TrimRight(text, "\n"); !strings.Contains(line, "\n") {
		text = line
	}
	text = c.named(text, false)
	c.Area, _ = c.Area.Update(tea.PasteMsg{Content: text})
	c.Changed("", "")
}

// Ask inserts a request to do what a text that somebody else wrote asks. The text is sent as an
// attachment of this name.
func (c *Model) Ask(name, text string) {
	name = "[" + safetext.Line(name) + "]"
	c.Pastes = append(c.Pastes, Paste{Name: name, Text: safetext.Text(text)})
	c.Area, _ = c.Area.Update(tea.PasteMsg{Content: agent.DoAsAsked(name)})
	c.Changed("", "")
}

// PicturePath returns the path of an image if a paste consists of nothing else. The
// path is absolute, as terminals paste a file dropped on them, and may be quoted, have
// escaped spaces, or be a file URL. Otherwise it returns "".
func PicturePath(text string) string {
	path := strings.TrimSpace(text)
	if address, err := url.Parse(path); err == nil && address.Scheme == "file" {
		path = address.Path
	}
	if len(path) > 1 && (path[0] == '\'' || path[0] == '"') && path[len(path)-1] == path[0] {
		path = path[1 : len(path)-1]
	} else if filepath.Separator == '/' {
		path = strings.ReplaceAll(path, `\ `, " ")
	}
	if !filepath.IsAbs(path) || !agent.IsPicture(path) || strings.ContainsAny(path, "\"\n") ||
		safetext.Line(path) != path {
		return ""
	}
	return path
}

// named stores a text and returns its name; a short text is returned unchanged.
func (c *Model) named(text string, own bool) string {
	lines, most := 1+strings.Count(text, "\n"), 1
	if own {
		most = LongLines
	}
	if lines <= most && len(text) <= longBytes {
		return text
	}
	size := draw.Count(1+strings.Count(strings.TrimSuffix(text, "\n"), "\n"), "line")
	if lines == 1 {
		size = draw.Bytes(int64(len(text)))
	}
	name := fmt.Sprintf("[paste %d · %s]", len(c.Pastes)+1, size)
	c.Pastes = append(c.Pastes, Paste{Name: name, Text: text, Own: own})
	return name
}

// Earlier shows the previous queued message or the earlier prompt. It reports false if
// the cursor is not on the first line.
func (c *Model) Earlier() bool {
	if !c.firstLine() {
		return false
	}
	switch {
	case c.Place == 0: // it is the first
		return true
	case c.Place > 0:
		before := c.Place - 1
		c.Requeue()
		c.dequeue(before)
		return true
	case c.Empty() && len(c.Queue) > 0:
		c.dequeue(len(c.Queue) - 1)
		return true
	}
	if c.At+1 < len(c.History) {
		if c.At < 0 {
			c.Draft = c.Text()
		}
		c.At++
		c.Set(safetext.Text(c.History[c.At]))
	}
	return true
}

// Later reverses Earlier, ending with the draft.
func (c *Model) Later() bool {
	if c.Area.Line() != c.Area.LineCount()-1 || c.Area.LineInfo().RowOffset < c.Area.LineInfo().Height-1 {
		return false
	}
	switch {
	case c.Place >= 0:
		if behind := c.Requeue(); behind < len(c.Queue) {
			c.dequeue(behind)
		}
	case c.At > 0:
		c.At--
		c.Set(safetext.Text(c.History[c.At]))
	case c.At == 0:
		c.At = -1
		c.Set(c.Draft)
	}
	return true
}

func (c *Model) firstLine() bool {
	return c.Area.Line() == 0 && c.Area.LineInfo().RowOffset == 0
}

// SavedPrompts is the maximum length of the history.
const SavedPrompts = 500
