package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/measure"
	"lifehub/tui/safetext"
)

// input is the dialog in which a server asks the user for something: values
// of a form, a page to go on with, or the user's model. While keys come in one
// upon another they are the composer's, and a form takes what is typed only
// after Tab: who is typing when it opens loses nothing to it.
type input struct {
	queue   []agent.InputAsked
	quiet   time.Time // when the last key came, or the question
	form    *form     // of the first question; nil: it has none
	entered bool      // the form has the keys
	seen    bool      // the end of what is asked was in sight
	problem string    // what of the values does not fit

	sight
	body  []string
	at    int // the line of body that should be in sight; -1: none
	width int // what body was made for; 0: it is out of date
}

func (in *input) open() bool { return len(in.queue) > 0 }

func (in *input) ask(asked agent.InputAsked, now time.Time) {
	in.queue = append(in.queue, asked)
	if len(in.queue) == 1 {
		in.begin(now)
	}
}

// begin shows the first question of the queue as a new one.
func (in *input) begin(now time.Time) {
	*in = input{queue: in.queue, quiet: now, at: -1}
	if in.open() && in.queue[0].Kind == agent.FormInput {
		in.form = newForm(in.queue[0].Schema)
	}
}

// settle drops a question that was decided elsewhere.
func (in *input) settle(id string, now time.Time) {
	for i, asked := range in.queue {
		if asked.ID == id {
			in.queue = append(in.queue[:i], in.queue[i+1:]...)
			if i == 0 {
				in.begin(now)
			}
			return
		}
	}
}

// close drops the questions of the turn, which is over.
func (in *input) close(now time.Time) {
	stays := in.open() && usersOwn(in.queue[0])
	in.queue = slices.DeleteFunc(in.queue, func(asked agent.InputAsked) bool { return !usersOwn(asked) })
	if !stays {
		in.begin(now)
	}
}

// usersOwn tells a question that follows from what the user did, and not from
// a turn: the form of a prompt, which has no ID, and a consent.
func usersOwn(asked agent.InputAsked) bool {
	return asked.ID == "" || strings.HasPrefix(asked.ID, consentID)
}

func (in *input) armed(now time.Time) bool { return in.open() && now.Sub(in.quiet) >= guard }

// disturb begins the guard time anew.
func (in *input) disturb(now time.Time) { in.quiet = now }

// answer replies to the first question and shows the next.
func (in *input) answer(given agent.Input, now time.Time) {
	asked := in.queue[0]
	in.queue = in.queue[1:]
	in.begin(now)
	if asked.Reply != nil {
		asked.Reply(given)
	}
}

// press gives a key to the dialog. It reports false for a key that is the
// composer's.
func (in *input) press(pressed tea.KeyPressMsg, keys *keyMap, now time.Time) (cmd tea.Cmd, taken bool) {
	if in.entered {
		in.fillIn(pressed, keys, now)
		return nil, true
	}
	armed := in.armed(now)
	in.disturb(now)
	if top, scrolls := keys.read(pressed, in.top, len(in.body), in.rows); scrolls && len(in.body) > in.rows {
		in.top = top
		return nil, true
	}
	if !armed {
		return nil, key.Matches(pressed, keys.Withdraw)
	}
	switch {
	case key.Matches(pressed, keys.Withdraw):
		in.answer(agent.Input{Action: agent.InputCancelled}, now)
	case key.Matches(pressed, keys.Decline):
		in.answer(agent.Input{Action: agent.InputDeclined}, now)
	case in.form != nil && key.Matches(pressed, keys.FillIn):
		in.entered, in.width = true, 0
	case in.form == nil && key.Matches(pressed, keys.Agree):
		if in.seen {
			in.answer(agent.Input{Action: agent.InputAccepted}, now)
		}
	case in.queue[0].URL != "" && key.Matches(pressed, keys.CopyURL):
		address := in.queue[0].URL
		return func() tea.Msg { return copyMsg(address) }, true
	default:
		return nil, false
	}
	return nil, true
}

// fillIn gives a key to the form.
func (in *input) fillIn(pressed tea.KeyPressMsg, keys *keyMap, now time.Time) {
	in.width, in.problem = 0, ""
	if key.Matches(pressed, keys.Withdraw) {
		in.entered = false
		in.disturb(now)
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
	in.answer(agent.Input{Action: agent.InputAccepted, Values: values}, now)
}

// layout fits the dialog into a place of at most height lines and notes
// whether its end is in sight.
func (in *input) layout(width, height int, keys *keyMap, look *theme) {
	if in.width != width {
		in.body, in.at = in.content(width-len(bodyMargin(width)), look)
		in.width = width
	}
	in.place(len(in.body), len(in.foot(width, keys, look, false)), 1, height)
	if in.at >= 0 {
		in.top = max(min(in.top, in.at), in.at+min(2, in.rows)-in.rows)
		in.top = max(0, min(in.top, len(in.body)-in.rows))
	}
	if in.endSeen(len(in.body), width) {
		in.seen = true
	}
}

// view returns the dialog's lines as laid out.
func (in *input) view(width int, keys *keyMap, look *theme, now time.Time) []string {
	turn := ""
	if len(in.queue) > 1 {
		turn = fmt.Sprintf(" 1 of %d ─", len(in.queue))
	}
	title := fit("─ "+in.title(), max(4, width-cells(turn)-1)) + " "
	title += strings.Repeat("─", max(0, width-cells(title)-cells(turn))) + turn
	if in.tight {
		title = in.sight.title(in.queue[0].From, len(in.body), width)
	}
	var lines []string
	if in.headed {
		lines = append(lines, look.Warning.Bold(true).Render(fit(title, width)))
	}
	for _, line := range in.body[in.top : in.top+in.rows] {
		lines = append(lines, bodyMargin(width)+line)
	}
	unread := !in.seen && in.form == nil
	switch {
	case !in.tight:
		lines = append(lines, in.position(len(in.body), width, unread, keys, look)...)
		return append(lines, in.foot(width, keys, look, in.armed(now))...)
	case in.problem != "":
		return append(lines, look.Danger.Render(fit("✗ "+in.problem, width)))
	}
	return append(lines, keyStyle(in.armed(now) || in.entered, look)(in.oneLine(in.keys(keys), len(in.body), width, unread, keys)))
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

// foot is what stands below the body: what is wrong, and the keys.
func (in *input) foot(width int, keys *keyMap, look *theme, armed bool) []string {
	var lines []string
	if in.problem != "" {
		lines = append(lines, styled(look.Danger.Render, broken("✗ "+in.problem, width))...)
	}
	return append(lines, styled(keyStyle(armed || in.entered, look), joined(in.keys(keys), width))...)
}

func (in *input) keys(keys *keyMap) []string {
	if in.entered {
		return []string{
			keys.FieldPrevious.Help().Key + keys.FieldNext.Help().Key + " move",
			keys.OptionPrevious.Help().Key + keys.OptionNext.Help().Key + " " + keys.OptionSwitch.Help().Key + " choose",
			keys.FieldDone.Help().Key + " " + keys.FieldDone.Help().Desc, keys.Withdraw.Help().Key + " back",
		}
	}
	list := []key.Binding{keys.Agree, keys.Decline, keys.Withdraw}
	switch in.queue[0].Kind {
	case agent.FormInput:
		list[0] = keys.FillIn
	case agent.URLInput:
		list = append(list, keys.CopyURL)
	}
	var parts []string
	for _, b := range list {
		parts = append(parts, b.Help().Key+" "+b.Help().Desc)
	}
	return parts
}

// content is what is asked, with what is hidden in it made visible. at is the
// line of the field that has the keys, -1 when there is none.
func (in *input) content(width int, look *theme) (lines []string, at int) {
	asked := in.queue[0]
	add := func(style func(...string) string, text string) {
		lines = append(lines, styled(style, broken(text, width))...)
	}
	at = -1
	if title := in.title(); cells(title)+4 > width {
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
