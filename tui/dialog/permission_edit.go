package dialog

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// argumentEditor edits the arguments of a call that waits for permission. The edited call
// is asked about again.
type argumentEditor struct {
	Pairs   []chat.Argument
	at      int // index of the focused one
	area    textarea.Model
	opened  string // content of the area when the argument was focused
	problem string // why the arguments are invalid
	check   *check // of the arguments; nil if none runs
}

func newArgumentEditor(input json.RawMessage, keys *draw.Keys) *argumentEditor {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.Prompt = "▏ "
	area.CharLimit = 0
	area.MaxContentHeight = 10_000
	area.DynamicHeight, area.MinHeight = true, 1
	area.KeyMap.InsertNewline = key.NewBinding(key.WithKeys(keys.Newline.Keys()...))
	area.KeyMap.Paste.SetEnabled(false)
	area.Focus()
	e := &argumentEditor{Pairs: chat.Arguments(input), area: area}
	e.open(0)
	return e
}

// open focuses an argument.
func (e *argumentEditor) open(at int) {
	e.at = at
	if at < len(e.Pairs) {
		e.area.SetValue(safetext.Text(editable(e.Pairs[at].Value)))
		e.area.MoveToEnd()
		e.opened = e.area.Value()
	}
}

// editable returns a value as it is edited: strings without quotes.
func editable(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// keep stores the edited text. Strings stay strings; anything else must be JSON.
func (e *argumentEditor) keep() error {
	if e.at >= len(e.Pairs) {
		return nil
	}
	pair := &e.Pairs[e.at]
	typed := e.area.Value()
	if typed == e.opened {
		return nil // a value that the area cannot hold is unchanged
	}
	var text string
	if json.Unmarshal(pair.Value, &text) != nil {
		value, err := asJSON(pair.Key, typed)
		if err == nil {
			pair.Value = value
		}
		return err
	}
	quoted, err := json.Marshal(typed)
	if err != nil {
		return err
	}
	pair.Value = quoted
	return nil
}

// asJSON parses the typed text of a value that is not a string.
func asJSON(name, typed string) (json.RawMessage, error) {
	if !json.Valid([]byte(typed)) {
		return nil, fmt.Errorf("%s is not written as JSON, such as 5, true or [\"a\"]", name)
	}
	return json.RawMessage(typed), nil
}

// Input returns the current arguments in their order.
func (e *argumentEditor) Input() json.RawMessage {
	var b strings.Builder
	for i, pair := range e.Pairs {
		name, err := json.Marshal(pair.Key)
		if err != nil {
			continue
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", name, pair.Value)
	}
	return json.RawMessage("{" + b.String() + "}")
}

// press handles a key. done reports that the arguments are complete and need no check, left that the user
// cancelled.
func (e *argumentEditor) press(pressed tea.KeyPressMsg, keys *draw.Keys,
	fits func(json.RawMessage) error,
) (cmd tea.Cmd, done, left bool) {
	if e.check != nil {
		if key.Matches(pressed, keys.Stop) {
			e.check = nil
		}
		return nil, false, false
	}
	e.problem = ""
	switch {
	case key.Matches(pressed, keys.Stop):
		return nil, false, true
	case key.Matches(pressed, keys.ArgumentNext, keys.ArgumentPrevious):
		if err := e.keep(); err != nil {
			e.problem = err.Error()
			return nil, false, false
		}
		step := 1
		if key.Matches(pressed, keys.ArgumentPrevious) {
			step = len(e.Pairs) - 1
		}
		if len(e.Pairs) > 0 {
			e.open((e.at + step) % len(e.Pairs))
		}
	case key.Matches(pressed, keys.Send):
		if err := e.keep(); err != nil {
			e.problem = err.Error()
			return nil, false, false
		}
		if fits == nil {
			return nil, true, false
		}
		e.check, cmd = newCheck(e.Input(), fits)
	default:
		pressed.Text = safetext.Line(pressed.Text)
		e.area, _ = e.area.Update(pressed)
	}
	return cmd, false, false
}

// view draws the arguments; the focused one, which begins at a line, gets the remaining
// height.
func (e *argumentEditor) view(width, height int, theme *draw.Theme, now time.Time) (lines []string, at int) {
	for i, pair := range e.Pairs {
		name := safetext.Line(pair.Key)
		if i != e.at {
			lines = append(lines, theme.Dim.Render(draw.Truncate(name+": "+safetext.Line(editable(pair.Value)), width)))
			continue
		}
		at = len(lines)
		lines = append(lines, theme.Strong.Render(draw.Truncate(name+":", width)))
		e.area.SetStyles(draw.AreaStyles(theme))
		e.area.MaxHeight = max(1, height-len(e.Pairs)-6)
		e.area.SetWidth(max(4, width))
		e.area, _ = e.area.Update(nil)
		lines = append(lines, strings.Split(e.area.View(), "\n")...)
	}
	if len(e.Pairs) == 0 {
		lines = append(lines, theme.Dim.Render("no arguments"))
	}
	if e.check.isSlow(now) {
		lines = append(lines, theme.Dim.Render(draw.Truncate("checking…", width)))
	}
	if e.problem != "" {
		at = len(lines)
		lines = append(lines, theme.Danger.Render(draw.Truncate("✗ "+safetext.Line(e.problem), width)))
	}
	return lines, at
}

// hints names the keys of the editor.
func (e *argumentEditor) hints(keys *draw.Keys) []string {
	return []string{
		keys.Send.Help().Key + " check and show again", keys.Newline.Help().Key + " new line",
		keys.ArgumentNext.Help().Key + " next argument", keys.Stop.Help().Key + " back",
	}
}

// Edited returns the reply that replaces the arguments.
func (e *argumentEditor) Edited() agent.Reply {
	return agent.Reply{Decision: agent.Edited, Input: string(e.Input())}
}
