package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/measure"
	"lifehub/tui/safetext"
)

// input is the dialog in which a server asks the user for something: values
// of a form, a page to go on with, or the user's model. A form takes what is
// typed only after the user chose to fill it in.
type input struct {
	queue   []agent.InputAsked
	form    *form  // of the first question; nil: it has none
	entered bool   // the form has the keys
	seen    bool   // the end of what is asked was in sight
	problem string // what of the values does not fit

	dialog
	sight
	body  []string
	at    int // the line of body that should be in sight; -1: none
	width int // what body was made for; 0: it is out of date
}

func (in *input) open() bool { return len(in.queue) > 0 }

func (in *input) ask(asked agent.InputAsked) {
	in.queue = append(in.queue, asked)
	if len(in.queue) == 1 {
		in.begin()
	}
}

// begin shows the first question of the queue as a new one.
func (in *input) begin() {
	*in = input{queue: in.queue, at: -1}
	if in.open() && in.queue[0].Kind == agent.FormInput {
		in.form = newForm(in.queue[0].Schema)
	}
}

// settle drops a question that was decided elsewhere.
func (in *input) settle(id string) {
	for i, asked := range in.queue {
		if asked.ID == id {
			in.queue = append(in.queue[:i], in.queue[i+1:]...)
			if i == 0 {
				in.begin()
			}
			return
		}
	}
}

// close drops the questions of the turn, which is over.
func (in *input) close() {
	stays := in.open() && usersOwn(in.queue[0])
	in.queue = slices.DeleteFunc(in.queue, func(asked agent.InputAsked) bool { return !usersOwn(asked) })
	if !stays {
		in.begin()
	}
}

// usersOwn tells a question that follows from what the user did, and not from
// a turn: the form of a prompt, which has no ID, and a consent.
func usersOwn(asked agent.InputAsked) bool {
	return asked.ID == "" || strings.HasPrefix(asked.ID, consentID)
}

// answer replies to the first question and shows the next.
func (in *input) answer(given agent.Input) {
	asked := in.queue[0]
	in.queue = in.queue[1:]
	in.begin()
	if asked.Reply != nil {
		asked.Reply(given)
	}
}

// choices are the answers to the first question, and what else its keys do.
func (in *input) choices(keys *keys.Map) []choice {
	decline := choice{Binding: keys.Decline, label: "Decline", do: func() tea.Cmd { in.answer(agent.Input{Action: agent.InputDeclined}); return nil }}
	if in.form != nil {
		enter := func() tea.Cmd { in.entered, in.width = true, 0; return nil }
		return []choice{{Binding: keys.Agree, label: "Fill in", do: enter}, decline, {Binding: keys.FillIn, label: "fill in", atOnce: true, do: enter}}
	}
	list := []choice{{Binding: keys.Agree, label: "Agree", do: func() tea.Cmd {
		if in.seen {
			in.answer(agent.Input{Action: agent.InputAccepted})
		}
		return nil
	}}, decline}
	if address := in.queue[0].URL; address != "" {
		list = append(list, choice{Binding: keys.CopyURL, label: "copy the address", atOnce: true, do: func() tea.Cmd { return func() tea.Msg { return copyMsg(address) } }})
	}
	return list
}

// press gives a key to the dialog. rest are the keys that are the composer's.
func (in *input) press(pressed tea.KeyPressMsg, keys *keys.Map, now time.Time) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	if in.entered {
		in.fillIn(pressed, keys)
		return nil, nil
	}
	if in.scroll(pressed, keys, len(in.body)) {
		return nil, nil
	}
	if key.Matches(pressed, keys.Stop) {
		if in.armed(now) {
			in.answer(agent.Input{Action: agent.InputCancelled})
		}
		return nil, nil
	}
	return in.dialog.press(pressed, keys, in.choices(keys), now)
}

// fillIn gives a key to the form.
func (in *input) fillIn(pressed tea.KeyPressMsg, keys *keys.Map) {
	in.width, in.problem = 0, ""
	if key.Matches(pressed, keys.Stop) {
		in.entered = false
		return
	}
	if !in.form.press(pressed, keys) {
		return
	}
	values := in.form.values()
	if check := in.queue[0].Check; check != nil {
		if err := check(values); err != nil {
			in.problem = safetext.Line(err.Error())
			return
		}
	}
	in.answer(agent.Input{Action: agent.InputAccepted, Values: values})
}

// layout fits the dialog into a place of at most height lines and notes
// whether its end is in sight.
func (in *input) layout(width, height int, keys *keys.Map, look *draw.Theme, now time.Time) {
	if in.width != width {
		in.body, in.at = in.content(width-len(bodyMargin(width)), look)
		in.width = width
	}
	in.place(len(in.body), len(in.foot(width, keys, look, now)), 1, height)
	if in.at >= 0 {
		in.top = max(min(in.top, in.at), in.at+min(2, in.rows)-in.rows)
		in.top = max(0, min(in.top, len(in.body)-in.rows))
	}
	if in.endSeen(len(in.body), width) {
		in.seen = true
	}
}

// view returns the dialog's lines as laid out.
func (in *input) view(width int, keys *keys.Map, look *draw.Theme, now time.Time) []string {
	turn := ""
	if len(in.queue) > 1 {
		turn = fmt.Sprintf(" 1 of %d ─", len(in.queue))
	}
	title := draw.Fit("─ "+in.title(), max(4, width-draw.Cells(turn)-1)) + " "
	title += strings.Repeat("─", max(0, width-draw.Cells(title)-draw.Cells(turn))) + turn
	if in.tight {
		title = in.sight.title(safetext.Line(in.queue[0].From)+" asks", len(in.body), width)
	}
	var lines []string
	if in.headed {
		lines = append(lines, look.Warning.Bold(true).Render(draw.Fit(title, width)))
	}
	for _, line := range in.body[in.top : in.top+in.rows] {
		lines = append(lines, bodyMargin(width)+line)
	}
	unread := !in.seen && in.form == nil
	switch {
	case !in.tight:
		lines = append(lines, in.position(len(in.body), width, unread, keys, look)...)
		return append(lines, in.foot(width, keys, look, now)...)
	case in.problem != "":
		return append(lines, look.Danger.Render(draw.Fit("✗ "+in.problem, width)))
	}
	if in.entered {
		return append(lines, look.Key.Render(draw.Joined(in.formKeys(keys), width)[0]))
	}
	return append(lines, in.oneLine(in.choices(keys), in.readOn(len(in.body), unread, keys), width, keys, look, now))
}

func (in *input) title() string {
	asked := in.queue[0]
	from := safetext.Line(asked.From)
	switch asked.Kind {
	case agent.URLInput:
		return from + " wants you to open a page"
	case agent.SamplingInput:
		return from + " wants your model to answer this"
	}
	return from + " asks you for something"
}

// foot is what stands below the body: what is wrong, the choices and the keys.
func (in *input) foot(width int, keys *keys.Map, look *draw.Theme, now time.Time) []string {
	var lines []string
	if in.problem != "" {
		lines = append(lines, draw.Styled(look.Danger.Render, draw.Broken("✗ "+in.problem, width))...)
	}
	if in.entered {
		return append(lines, draw.Styled(look.Key.Render, draw.Joined(in.formKeys(keys), width))...)
	}
	return append(lines, in.dialog.lines(in.choices(keys), "cancels", width, keys, look, now)...)
}

// formKeys names the keys of a form that is being filled in.
func (in *input) formKeys(keys *keys.Map) []string {
	return []string{
		keys.FieldPrevious.Help().Key + keys.FieldNext.Help().Key + " move",
		keys.OptionPrevious.Help().Key + keys.OptionNext.Help().Key + " " + keys.OptionSwitch.Help().Key + " choose",
		keys.FieldDone.Help().Key + " " + keys.FieldDone.Help().Desc, keys.Stop.Help().Key + " back",
	}
}

// content is what is asked, with what is hidden in it made visible. at is the
// line of the field that has the keys, -1 when there is none.
func (in *input) content(width int, look *draw.Theme) (lines []string, at int) {
	asked := in.queue[0]
	add := func(style func(...string) string, text string) {
		lines = append(lines, draw.Styled(style, draw.Broken(text, width))...)
	}
	at = -1
	if title := in.title(); draw.Cells(title)+4 > width {
		add(look.Strong.Render, title) // the first line has no room for it
	}
	if asked.Message != "" {
		add(look.Text.Render, safetext.Reveal(asked.Message))
	}
	if asked.URL != "" {
		lines = append(lines, measure.Lines(safetext.Reveal(asked.URL), max(1, width))...)
		add(look.Dim.Render, "LifeHub does not open it. Agree when you have been there, or mean to go.")
	}
	for _, m := range asked.Prompt {
		add(look.Strong.Render, safetext.Reveal(string(m.Role))+":")
		add(look.Text.Render, safetext.Reveal(m.Text))
	}
	if in.form != nil {
		fields, here := in.form.lines(width, in.entered, look)
		if in.entered {
			at = len(lines) + here
		}
		lines = append(lines, fields...)
	}
	return lines, at
}
