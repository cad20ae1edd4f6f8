package dialog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Input is the dialog in which a server asks the user for something: values
// of a form, a page to open, or the user's model. A form gets typed
// text only after the user has chosen to fill it in.
type Input struct {
	Queue   []agent.InputAsked
	Form    *Form  // form of the first question; nil if it has none
	Entered bool   // the form has the focus
	seen    bool   // the end of the question was visible
	problem string // why the values are invalid
	check   *check // of the values; nil if none runs

	Dialog
	scrollArea
	Body  []string
	at    int // line of Body that should be visible; -1 if none
	Width int // width for which Body was built; 0 if out of date
}

func (in *Input) Open() bool { return len(in.Queue) > 0 }

func (in *Input) Ask(asked agent.InputAsked) {
	in.Queue = append(in.Queue, asked)
	if len(in.Queue) == 1 {
		in.begin()
	}
}

// begin shows the first question of the queue as a new one.
func (in *Input) begin() {
	*in = Input{Queue: in.Queue, at: -1}
	if !in.Open() {
		return
	}
	switch in.Queue[0].Kind {
	case agent.FormInput:
		in.Form = NewForm(in.Queue[0].Schema)
	case agent.PlanInput:
		in.Form, in.Chosen = NewForm(in.Queue[0].Schema), runPlan
		in.Form.Send = "run"
	}
}

// Settle removes a question that was decided elsewhere.
func (in *Input) Settle(id string) {
	for i, asked := range in.Queue {
		if asked.ID == id {
			in.Queue = append(in.Queue[:i], in.Queue[i+1:]...)
			if i == 0 {
				in.begin()
			}
			return
		}
	}
}

// Close removes the questions of the turn, which is over.
func (in *Input) Close() {
	remains := in.Open() && usersOwn(in.Queue[0])
	in.Queue = slices.DeleteFunc(in.Queue, func(asked agent.InputAsked) bool { return !usersOwn(asked) })
	if !remains {
		in.begin()
	}
}

// usersOwn reports whether a question was caused by the user and not by a turn: the form of
// a prompt, which has no ID, or a consent.
func usersOwn(asked agent.InputAsked) bool {
	return asked.ID == "" || strings.HasPrefix(asked.ID, ConsentID)
}

// answer replies to the first question and shows the next.
func (in *Input) answer(given agent.Input) {
	asked := in.Queue[0]
	in.Queue = in.Queue[1:]
	in.begin()
	if asked.Reply != nil {
		asked.Reply(given)
	}
}

// choices returns the answers to the first question and its other actions.
func (in *Input) choices(keys *draw.Keys) []Choice {
	decline := Choice{
		Binding: keys.Decline, Label: "Decline",
		Do: func() tea.Cmd { in.answer(agent.Input{Action: agent.InputDeclined}); return nil },
	}
	if in.Form != nil {
		enter := func() tea.Cmd { in.Entered, in.Width = true, 0; return nil }
		if in.isPlan() {
			return []Choice{{Binding: keys.Agree, Label: runPlan, Do: func() tea.Cmd {
				if in.seen {
					return in.send()
				}
				in.readFirst(keys)
				return nil
			}}, decline, {Binding: keys.FillIn, Label: "change it", atOnce: true, Do: enter}}
		}
		return []Choice{
			{Binding: keys.Agree, Label: "Fill in", Do: enter},
			decline,
			{Binding: keys.FillIn, Label: "fill in", atOnce: true, Do: enter},
		}
	}
	list := []Choice{{Binding: keys.Agree, Label: "Agree", Do: func() tea.Cmd {
		if in.seen {
			in.answer(agent.Input{Action: agent.InputAccepted})
		} else {
			in.readFirst(keys)
		}
		return nil
	}}, decline}
	if address := in.Queue[0].URL; address != "" {
		list = append(list, Choice{Binding: keys.CopyURL, Label: "copy the address", atOnce: true, Do: func() tea.Cmd {
			return func() tea.Msg { return CopyMsg(address) }
		}})
	}
	return list
}

// runPlan is the preselected answer to a plan.
const runPlan = "Run"

// isPlan reports whether the first question is a plan to approve.
func (in *Input) isPlan() bool { return in.Queue[0].Kind == agent.PlanInput }

// Press handles a key. rest are the keys that go to the composer.
func (in *Input) Press(pressed tea.KeyPressMsg, keys *draw.Keys, written string,
	now time.Time,
) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	if in.check != nil {
		if key.Matches(pressed, keys.Stop) {
			in.check = nil
		}
		return nil, nil
	}
	if in.Entered {
		return in.FillIn(pressed, keys), nil
	}
	if in.scroll(pressed, keys, len(in.Body)) {
		return nil, nil
	}
	if key.Matches(pressed, keys.Stop) {
		if in.escaped(now) {
			in.answer(agent.Input{Action: agent.InputCancelled})
		}
		return nil, nil
	}
	return in.Dialog.Press(pressed, keys, in.choices(keys), written, now)
}

// FillIn handles a key in the form.
func (in *Input) FillIn(pressed tea.KeyPressMsg, keys *draw.Keys) tea.Cmd {
	in.Width, in.problem = 0, ""
	if key.Matches(pressed, keys.Stop) {
		in.Entered = false
		return nil
	}
	if in.Form.Press(pressed, keys) {
		return in.send()
	}
	return nil
}

// send answers with the values of the form, once they are found to fit.
func (in *Input) send() (cmd tea.Cmd) {
	values, fits := in.Form.Values(), in.Queue[0].Check
	if fits == nil {
		in.answer(agent.Input{Action: agent.InputAccepted, Values: values})
		return nil
	}
	in.check, cmd = newCheck(values, fits)
	return cmd
}

func (in *Input) checked(msg CheckedMsg) {
	switch {
	case in.check != msg.check:
	case msg.err != nil:
		in.check, in.problem = nil, safetext.Line(msg.err.Error())
	default:
		in.answer(agent.Input{Action: agent.InputAccepted, Values: msg.check.values})
	}
}

// View draws the dialog in at most height lines and records whether its end is visible.
func (in *Input) View(width, height int, keys *draw.Keys, theme *draw.Theme, now time.Time) []string {
	if in.Width != width {
		in.Body, in.at = in.content(inside(width), theme)
		in.Width = width
	}
	in.place(in.question(width, keys, theme, now), len(in.Body), width, height, theme)
	if in.at >= 0 {
		in.reveal(in.at, len(in.Body))
	}
	if in.endSeen(len(in.Body), width) {
		in.seen = true
	}
	q := in.question(width, keys, theme, now) // which may take answers now
	return in.view(q, len(in.Body), func(i int) string { return in.Body[i] }, width, height, keys, theme)
}

// question returns the frame around the request.
func (in *Input) question(width int, keys *draw.Keys, theme *draw.Theme, now time.Time) *question {
	q := &question{name: in.Title(), unread: !in.seen && (in.Form == nil || in.isPlan())}
	if len(in.Queue) > 1 {
		q.count = fmt.Sprintf("1 of %d", len(in.Queue))
	}
	if in.check.isSlow(now) {
		q.answers = []string{theme.Dim.Render(draw.Truncate("checking…", inside(width)))}
	}
	if in.problem != "" {
		q.answers = draw.StyleLines(theme.Danger.Render, draw.Wrap("✗ "+in.problem, inside(width)))
	}
	if in.Entered {
		q.keys = in.formKeys(keys)
		q.tight = []string{theme.Key.Render(draw.Flow(q.keys, width)[0])}
	} else {
		choices := in.choices(keys)
		q.ready = in.ready(q.unread, now)
		q.answers = append(q.answers, in.Dialog.rows(choices, inside(width), theme, now)...)
		q.keys, q.warn = in.hints(choices, "cancels", keys), in.missing
		q.tight = []string{in.OneLine(choices, in.readOn(len(in.Body), q.unread, keys), width, keys, theme, now)}
	}
	if in.problem != "" {
		q.tight = []string{theme.Danger.Render(draw.Truncate("✗ "+in.problem, width))}
	}
	return q
}

func (in *Input) Title() string {
	asked := in.Queue[0]
	from := safetext.Line(asked.From)
	switch asked.Kind {
	case agent.URLInput:
		if _, site, err := agent.ReadAddress(asked.URL); err == nil {
			return from + " wants you to open a page of " + site
		}
		return from + " wants you to open a page"
	case agent.PlanInput:
		return "Run this plan?"
	case agent.ServerInput:
		return "Use this model server?"
	case agent.SamplingInput:
		return from + " wants your model to answer this"
	}
	return from + " asks you for input"
}

// formKeys names the keys of a form that is being filled in.
func (in *Input) formKeys(keys *draw.Keys) []string {
	return []string{
		keys.FieldPrevious.Help().Key + keys.FieldNext.Help().Key + " move",
		keys.OptionPrevious.Help().Key + keys.OptionNext.Help().Key + " " + keys.OptionSwitch.Help().Key + " choose",
		keys.FieldDone.Help().Key + " " + keys.FieldDone.Help().Desc, keys.Stop.Help().Key + " back",
	}
}

// content returns the request with hidden characters made visible. at is the line of the
// focused field, or -1.
func (in *Input) content(width int, theme *draw.Theme) (lines []string, at int) {
	asked := in.Queue[0]
	add := func(style func(...string) string, text string) {
		lines = append(lines, draw.StyleLines(style, draw.Wrap(text, width))...)
	}
	at = -1
	if title := in.Title(); draw.Width(title)+besideTitle > width {
		add(theme.Strong.Render, title) // the first line has no room for it
	}
	if asked.Message != "" {
		add(theme.Text.Render, safetext.Reveal(asked.Message))
	}
	if asked.URL != "" {
		lines = append(lines, draw.Lines(safetext.Reveal(asked.URL), max(1, width))...)
		add(theme.Dim.Render, "LifeHub does not open it. Agree once you have opened it, or are about to.")
	}
	for _, m := range asked.Prompt {
		add(theme.Strong.Render, safetext.Reveal(string(m.Role))+":")
		add(theme.Text.Render, safetext.Reveal(m.Text))
	}
	if in.Form != nil {
		fields, here := in.Form.Lines(width, in.Entered, theme)
		if in.isPlan() && !in.Entered {
			fields = fields[:len(fields)-2] // Enter runs it, and not the row of the form
		}
		if in.Entered {
			at = len(lines) + here
		}
		lines = append(lines, fields...)
	}
	return lines, at
}

// ConsentID begins the ID of the question that shows the page of a consent.
const ConsentID = "consent of "
