package dialog

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Permission is the dialog that asks whether tools may run, one at a time.
type Permission struct {
	queue   []pending
	at      int // the visible question
	details bool
	Reason  *draw.InputLine // the reason being typed, or nil
	Edit    *argumentEditor // the arguments being edited, or nil

	Dialog
	scrollArea
	Body  []Line // description of the call; a line is styled only when it is visible, for there may be a megabyte
	Width int    // width for which Body was built
}

// pending is a question that waits for the user.
type pending struct {
	PermissionAsked agent.PermissionAsked
	Seen            bool // the end of the description was visible
}

// Open reports whether a question waits for the user.
func (p *Permission) Open() bool { return len(p.queue) > 0 }

// Current is the visible question.
func (p *Permission) Current() *pending { return &p.queue[p.at] }

func (p *Permission) Ask(asked agent.PermissionAsked) {
	p.queue = append(p.queue, pending{PermissionAsked: asked})
	if len(p.queue) == 1 {
		p.show(0)
	}
}

// show switches to a question of the queue and resets the dialog.
func (p *Permission) show(at int) { *p = Permission{queue: p.queue, at: at} }

// drop removes a question from the queue.
func (p *Permission) drop(i int) {
	p.queue = append(p.queue[:i:i], p.queue[i+1:]...)
	switch {
	case i < p.at:
		p.at--
	case i == p.at:
		p.show(max(0, min(p.at, len(p.queue)-1)))
	}
}

// Settle removes a question that was decided elsewhere.
func (p *Permission) Settle(call string) {
	for i, asked := range p.queue {
		if asked.PermissionAsked.Call == call {
			p.drop(i)
			return
		}
	}
}

// Close removes all questions, because their turn is over.
func (p *Permission) Close() { *p = Permission{} }

// Pasted reports whether the reason or the arguments being written took a paste.
func (p *Permission) Pasted(text string) bool {
	switch {
	case p.Reason != nil:
		p.Reason.Paste(text)
	case p.Edit != nil:
		p.Edit.area.InsertString(safetext.Text(text))
	default:
		return false
	}
	return true
}

// answer replies to the visible question and shows the next.
func (p *Permission) answer(reply agent.Reply) {
	asked := *p.Current()
	p.drop(p.at)
	if asked.PermissionAsked.Reply != nil {
		asked.PermissionAsked.Reply(reply)
	}
}

// allSeen reports whether all questions can be allowed at once: each was shown to its end,
// and can be answered by yes or no.
func (p *Permission) allSeen() bool {
	for _, asked := range p.queue {
		if !asked.Seen || asked.PermissionAsked.Unknown {
			return false
		}
	}
	return len(p.queue) > 1
}

// always is the label of the choice that writes a rule.
const always = "Always…"

// AnswerLabel returns what a decision means as the answer to a question.
func AnswerLabel(asked agent.PermissionAsked, d agent.Decision) string {
	switch d {
	case agent.AllowOnce:
		if asked.Unknown {
			return "Run again"
		}
		return "Allow once"
	case agent.AllowConversation:
		return "Allow in this chat"
	case agent.AllowAlways:
		return always
	case agent.AlreadyDone:
		return "I checked, it's done"
	}
	if asked.Unknown {
		return "Skip"
	}
	return "Deny"
}

// choices returns the answers to the visible question and its other actions.
func (p *Permission) choices(keys *draw.Keys) []Choice {
	asked := p.Current().PermissionAsked
	allow := func(d agent.Decision) func() tea.Cmd {
		return func() tea.Cmd {
			if p.Current().Seen { // to its end
				p.answer(agent.Reply{Decision: d})
			} else {
				p.readFirst(keys)
			}
			return nil
		}
	}
	bindings := map[agent.Decision]key.Binding{
		agent.AllowOnce: keys.Once, agent.AllowConversation: keys.ForConversation,
		agent.AllowAlways: keys.Always, agent.AlreadyDone: keys.Checked,
	}
	if asked.Unknown {
		bindings[agent.AllowOnce] = keys.Again
	}
	var list []Choice
	for _, d := range asked.Answers() {
		choice := Choice{
			Binding: bindings[d], Label: AnswerLabel(asked, d), Do: allow(d),
			alone: d == agent.AllowAlways, // it outlasts the chat: "da" and "ad" are words
		}
		if d == agent.Refuse {
			choice.Binding = keys.Refuse
			choice.Do = func() tea.Cmd { p.answer(agent.Reply{Decision: d}); return nil }
		}
		list = append(list, choice)
	}
	details := Choice{Binding: keys.Details, Label: "details", atOnce: true, Do: func() tea.Cmd {
		p.details, p.Width = !p.details, 0
		return nil
	}}
	if asked.Unknown {
		return append(list, details)
	}
	list = append(list, Choice{Binding: keys.RefuseWhy, Label: "Deny and say why…", Do: p.askWhy},
		Choice{Binding: keys.EditInput, Label: "Edit", aside: true, Do: func() tea.Cmd {
			p.Edit = newArgumentEditor(asked.Input, keys)
			return nil
		}})
	if p.allSeen() {
		list = append(list, Choice{Binding: keys.OnceAll, Label: "Allow all once", Do: func() tea.Cmd {
			for p.Open() {
				p.answer(agent.Reply{Decision: agent.AllowOnce})
			}
			return nil
		}})
	}
	if len(p.queue) > 1 {
		list = append(list, Choice{Binding: keys.NextAsked, Label: "next request", atOnce: true, Do: func() tea.Cmd {
			p.show((p.at + 1) % len(p.queue))
			return nil
		}})
	}
	return append(list, details)
}

// Press handles a key. rest are the keys that go to the composer.
func (p *Permission) Press(pressed tea.KeyPressMsg, keys *draw.Keys, written string,
	now time.Time,
) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	switch {
	case p.Reason != nil:
		p.explain(pressed, keys)
		return nil, nil
	case p.Edit != nil:
		return p.change(pressed, keys), nil
	}
	if p.scroll(pressed, keys, len(p.Body)) {
		return nil, nil
	}
	if key.Matches(pressed, keys.Stop) {
		if p.escaped(now) {
			p.answer(agent.Reply{Decision: agent.Refuse})
		}
		return nil, nil
	}
	return p.Dialog.Press(pressed, keys, p.choices(keys), written, now)
}

// askWhy lets the user type why the call is denied.
func (p *Permission) askWhy() tea.Cmd {
	p.Reason = &draw.InputLine{}
	return nil
}

// explain edits the reason for denying.
func (p *Permission) explain(pressed tea.KeyPressMsg, k *draw.Keys) {
	switch {
	case key.Matches(pressed, k.Send):
		p.answer(agent.Reply{Decision: agent.Refuse, Reason: strings.TrimSpace(p.Reason.Text)})
	case key.Matches(pressed, k.Stop):
		p.Reason = nil
	default:
		p.Reason.Press(pressed)
	}
}

// change handles a key in the editor of arguments.
func (p *Permission) change(pressed tea.KeyPressMsg, keys *draw.Keys) tea.Cmd {
	cmd, done, left := p.Edit.press(pressed, keys, p.Current().PermissionAsked.Check)
	switch {
	case done:
		p.answer(p.Edit.Edited())
	case left:
		p.Edit = nil
	}
	return cmd
}

func (p *Permission) checked(msg CheckedMsg) {
	switch {
	case p.Edit == nil || p.Edit.check != msg.check:
	case msg.err != nil:
		p.Edit.check, p.Edit.problem = nil, msg.err.Error()
	default:
		p.answer(p.Edit.Edited())
	}
}

// View draws the dialog in at most height lines and records whether its end is visible.
func (p *Permission) View(width, height int, keys *draw.Keys, theme *draw.Theme, now time.Time) []string {
	if p.Width != width {
		p.Body, p.Width = p.Content(inside(width)), width
	}
	if p.Edit != nil {
		lines, at := p.Edit.view(inside(width), height, theme, now)
		q := p.question(width, keys, theme, now)
		p.place(q, len(lines), width, height, theme)
		p.reveal(at, len(lines))
		return p.view(q, len(lines), func(i int) string { return lines[i] }, width, height, keys, theme)
	}
	q := p.question(width, keys, theme, now)
	if p.Chosen == always && len(q.tight) > height {
		p.Chosen = "" // the rule can't be shown
		q = p.question(width, keys, theme, now)
	}
	p.place(q, len(p.Body), width, height, theme)
	if p.endSeen(len(p.Body), width) {
		p.Current().Seen = true
	}
	q = p.question(width, keys, theme, now) // which may take answers now
	line := func(i int) string { return p.Body[i].Style(theme).Render(p.Body[i].Text) }
	return p.view(q, len(p.Body), line, width, height, keys, theme)
}

// question returns the frame around the description.
func (p *Permission) question(width int, keys *draw.Keys, theme *draw.Theme, now time.Time) *question {
	asked := p.Current()
	q := &question{name: safetext.Line(asked.PermissionAsked.Name), unread: !asked.Seen}
	q.before, q.after = Title(asked.PermissionAsked)
	esc := "denies"
	if asked.PermissionAsked.Unknown {
		esc = "skips"
	}
	if len(p.queue) > 1 {
		q.count = fmt.Sprintf("%d of %d", p.at+1, len(p.queue))
	}
	switch {
	case p.Edit != nil:
		q.ready, q.keys = " · editing", p.Edit.hints(keys)
		q.tight, q.unread = []string{theme.Dim.Render(draw.Flow(q.keys, width)[0])}, false
	case p.Reason != nil:
		q.answers = []string{draw.Truncate("Why not? "+p.Reason.Shown(), inside(width))}
		q.keys, q.tight = []string{keys.Send.Help().Key + " sends", keys.Stop.Help().Key + " back"}, q.answers
	default:
		q.ready = p.ready(q.unread, now)
		choices := p.choices(keys)
		rule := p.rule(inside(width), theme)
		q.answers = append(rule, p.Dialog.rows(choices, inside(width), theme, now)...)
		q.keys, q.warn = p.hints(choices, esc, keys), p.missing
		q.tight = append(rule[:len(rule):len(rule)], p.OneLine(choices, p.readOn(len(p.Body), q.unread, keys),
			width, keys, theme, now))
	}
	return q
}

// rule shows the rule that a confirmed "always" would write.
func (p *Permission) rule(width int, theme *draw.Theme) []string {
	if p.Chosen != always {
		return nil
	}
	rule := p.Current().PermissionAsked.Rule
	lines := draw.StyleLines(theme.Dim.Render, draw.Wrap("always writes the rule “"+safetext.Reveal(rule)+"”", width))
	if words := RuleInWords(rule); words != rule {
		lines = append(draw.StyleLines(theme.Warning.Render, draw.Wrap("always allows "+safetext.Reveal(words), width)),
			lines...)
	}
	return lines
}

// What the first line has at least besides the title, and besides the name in it:
// the corners, which of several questions it is, and the other words.
const (
	besideTitle = 12
	besideName  = besideTitle + len("Allow ?")
)

// Content returns the complete description, escaped and wrapped.
func (p *Permission) Content(width int) (lines []Line) {
	asked := p.Current()
	add := func(mark Mark, wrap func(string, int) []string, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			for _, part := range wrap(line, width) {
				lines = append(lines, Line{mark, part})
			}
		}
	}
	if name := safetext.Line(asked.PermissionAsked.Name); draw.Width(name) > width-besideName {
		add(Sentence, draw.WrapExact, name) // the title has no room for it
	}
	for _, line := range Describe(asked.PermissionAsked, p.details) {
		wrap := draw.WrapExact
		if line.Mark == Sentence || line.Mark == Warning {
			wrap = draw.Wrap // our own words
		}
		add(line.Mark, wrap, line.Text)
	}
	return lines
}
