package dialog

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/arguments"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// Permission is the dialog that asks whether tools may run, one after the
// other.
type Permission struct {
	queue   []pending
	at      int // the question in sight
	details bool
	Reason  *string // the reason being typed; nil: none
	Edit    *Editor // the arguments being edited; nil: none

	Dialog
	scrollArea
	Body  []bodyLine // what would run
	Width int        // what body was made for
}

// pending is a question that waits for the user.
type pending struct {
	agent.PermissionAsked
	Seen bool // the end of what would run was in sight
}

// bodyLine is a line of what would run. It is styled when it is in sight: there
// may be a megabyte of them.
type bodyLine struct {
	Style func(...string) string
	Text  string
}

// Open reports whether a question waits for the user.
func (p *Permission) Open() bool { return len(p.queue) > 0 }

// Current is the question in sight.
func (p *Permission) Current() *pending { return &p.queue[p.at] }

func (p *Permission) Ask(asked agent.PermissionAsked) {
	p.queue = append(p.queue, pending{PermissionAsked: asked})
	if len(p.queue) == 1 {
		p.show(0)
	}
}

// show turns to a question of the queue, as a new one.
func (p *Permission) show(at int) { *p = Permission{queue: p.queue, at: at} }

// drop takes a question out of the queue.
func (p *Permission) drop(i int) {
	p.queue = append(p.queue[:i:i], p.queue[i+1:]...)
	switch {
	case i < p.at:
		p.at--
	case i == p.at:
		p.show(max(0, min(p.at, len(p.queue)-1)))
	}
}

// Settle drops a question that was decided elsewhere.
func (p *Permission) Settle(call string) {
	for i, asked := range p.queue {
		if asked.Call == call {
			p.drop(i)
			return
		}
	}
}

// Close drops all questions: their turn is over.
func (p *Permission) Close() { *p = Permission{} }

// Pasted reports whether the reason or the arguments being written took a paste.
func (p *Permission) Pasted(text string) bool {
	switch {
	case p.Reason != nil:
		*p.Reason += safetext.Line(text)
	case p.Edit != nil:
		p.Edit.area.InsertString(safetext.Text(text))
	default:
		return false
	}
	return true
}

// answer replies to the question in sight and shows the next.
func (p *Permission) answer(reply agent.Reply) {
	asked := *p.Current()
	p.drop(p.at)
	if asked.Reply != nil {
		asked.Reply(reply)
	}
}

// allSeen reports whether a yes can be said to all questions at once: each was
// in sight to its end, and is answered by yes or no.
func (p *Permission) allSeen() bool {
	for _, asked := range p.queue {
		if !asked.Seen || asked.Unknown {
			return false
		}
	}
	return len(p.queue) > 1
}

// always is the label of the choice that writes a rule.
const always = "Always…"

// choices are the answers to the question in sight, and what else its keys do.
func (p *Permission) choices(keys *keys.Map) []Choice {
	asked := p.Current()
	allow := func(d agent.Decision) func() tea.Cmd {
		return func() tea.Cmd {
			if p.Current().Seen { // to its end
				p.answer(agent.Reply{Decision: d})
			}
			return nil
		}
	}
	refuse := func() tea.Cmd { p.answer(agent.Reply{Decision: agent.Refuse}); return nil }
	details := Choice{Binding: keys.Details, Label: "details", atOnce: true, Do: func() tea.Cmd { p.details, p.Width = !p.details, 0; return nil }}
	if asked.Unknown {
		return []Choice{
			{Binding: keys.Again, Label: "Run again", Do: allow(agent.AllowOnce)},
			{Binding: keys.Refuse, Label: "Skip", Do: refuse},
			{Binding: keys.Checked, Label: "I checked, it's done", Do: allow(agent.AlreadyDone)},
			details,
		}
	}
	list := []Choice{{Binding: keys.Once, Label: "Allow once", Do: allow(agent.AllowOnce)}}
	if asked.Rule != "" {
		list = append(list, Choice{Binding: keys.ForConversation, Label: "Allow in this chat", Do: allow(agent.AllowConversation)},
			// A rule outlasts the chat: "da" and "ad" are words.
			Choice{Binding: keys.Always, Label: always, Do: allow(agent.AllowAlways), alone: true})
	}
	list = append(list, Choice{Binding: keys.Refuse, Label: "Deny", Do: refuse},
		Choice{Binding: keys.RefuseWhy, Label: "Deny and say why", Do: func() tea.Cmd { p.Reason = new(string); return nil }},
		Choice{Binding: keys.EditInput, Label: "Edit", Do: func() tea.Cmd { p.Edit = newArgumentEditor(asked.Input, keys); return nil }})
	if p.allSeen() {
		list = append(list, Choice{Binding: keys.OnceAll, Label: "Allow all once", Do: func() tea.Cmd {
			for p.Open() {
				p.answer(agent.Reply{Decision: agent.AllowOnce})
			}
			return nil
		}})
	}
	if len(p.queue) > 1 {
		list = append(list, Choice{Binding: keys.NextAsked, Label: "next request", atOnce: true, Do: func() tea.Cmd { p.show((p.at + 1) % len(p.queue)); return nil }})
	}
	return append(list, details)
}

// Press gives a key to the dialog. rest are the keys that are the composer's.
func (p *Permission) Press(pressed tea.KeyPressMsg, keys *keys.Map, now time.Time) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	switch {
	case p.Reason != nil:
		p.explain(pressed, keys)
		return nil, nil
	case p.Edit != nil:
		p.change(pressed, keys)
		return nil, nil
	}
	if p.scroll(pressed, keys, len(p.Body)) {
		return nil, nil
	}
	if key.Matches(pressed, keys.Stop) {
		if p.armed(now) {
			p.answer(agent.Reply{Decision: agent.Refuse})
		}
		return nil, nil
	}
	return p.Dialog.Press(pressed, keys, p.choices(keys), now)
}

// explain edits the reason of a no.
func (p *Permission) explain(pressed tea.KeyPressMsg, k *keys.Map) {
	switch {
	case key.Matches(pressed, k.Send):
		p.answer(agent.Reply{Decision: agent.Refuse, Reason: strings.TrimSpace(*p.Reason)})
	case key.Matches(pressed, k.Stop):
		p.Reason = nil
	default:
		*p.Reason = keys.Typed(*p.Reason, pressed)
	}
}

// change gives a key to the editor of arguments.
func (p *Permission) change(pressed tea.KeyPressMsg, keys *keys.Map) {
	done, left := p.Edit.press(pressed, keys, p.Current().Check)
	switch {
	case done:
		p.answer(p.Edit.Edited())
	case left:
		p.Edit = nil
	}
}

// Layout fits the dialog into a place of at most height lines, keeps the body
// within it and notes whether its end is in sight.
func (p *Permission) Layout(width, height int, keys *keys.Map, theme *draw.Theme, now time.Time) {
	if p.Width != width {
		p.Body, p.Width = p.Content(width-len(bodyMargin(width)), theme), width
	}
	tight := p.tightFoot(width, keys, theme, now)
	if p.Chosen == always && len(tight) > height {
		p.Chosen = "" // the rule can't be shown
		tight = p.tightFoot(width, keys, theme, now)
	}
	p.place(len(p.Body), len(p.foot(width, keys, theme, now)), len(tight), height)
	if p.endSeen(len(p.Body), width) {
		p.Current().Seen = true
	}
}

// View returns the dialog's lines as laid out.
func (p *Permission) View(width int, keys *keys.Map, theme *draw.Theme, now time.Time) []string {
	asked := p.Current()
	turn := ""
	if len(p.queue) > 1 {
		turn = fmt.Sprintf(" %d of %d ─", p.at+1, len(p.queue))
	}
	before, after := "Allow ", "?"
	if asked.Unknown {
		before, after = "", ": outcome unknown"
	}
	title := "─ " + before + whole(asked.Name, width-draw.Width(before+turn)-3, after+" · "+draw.Bytes(int64(len(asked.Input)))+p.readiness(now), after+p.readiness(now), after) + " "
	title += strings.Repeat("─", max(0, width-draw.Width(title)-draw.Width(turn))) + turn
	if p.tight {
		title = p.title(before+safetext.Line(asked.Name)+after, len(p.Body), width)
	}
	var lines []string
	if p.headed {
		lines = append(lines, theme.Warning.Bold(true).Render(draw.Truncate(title, width)))
	}
	foot := p.position(len(p.Body), width, !asked.Seen, keys, theme)
	if p.tight {
		foot = p.tightFoot(width, keys, theme, now)
	} else {
		foot = append(foot, p.foot(width, keys, theme, now)...)
	}
	if p.Edit != nil {
		return append(lines, p.Edit.view(width, p.rows+len(foot), keys, theme)...)
	}
	for _, line := range p.Body[p.top : p.top+p.rows] {
		lines = append(lines, bodyMargin(width)+line.Style(line.Text))
	}
	return append(lines, foot...)
}

// readiness says in words why no key answers now; "": one does.
func (p *Permission) readiness(now time.Time) string {
	switch {
	case p.Edit != nil:
		return " · editing"
	case p.Reason != nil:
	case !p.armed(now):
		return " · wait…"
	case !p.Current().Seen:
		return " · read on"
	}
	return ""
}

// foot is what stands below the body: the rule that would be written, the
// choices and their keys.
func (p *Permission) foot(width int, keys *keys.Map, theme *draw.Theme, now time.Time) []string {
	if p.Reason != nil {
		return []string{draw.Truncate("Why not? "+*p.Reason+"▏", width), theme.Dim.Render(draw.Truncate(keys.Send.Help().Key+" sends · "+keys.Stop.Help().Key+" back", width))}
	}
	esc := "denies"
	if p.Current().Unknown {
		esc = "skips"
	}
	return append(p.rule(width, theme), p.lines(p.choices(keys), esc, width, keys, theme, now)...)
}

// tightFoot is the foot where there is no room for all keys.
func (p *Permission) tightFoot(width int, keys *keys.Map, theme *draw.Theme, now time.Time) []string {
	if p.Reason != nil {
		return []string{draw.Truncate("Why not? "+*p.Reason+"▏", width)}
	}
	return append(p.rule(width, theme), p.OneLine(p.choices(keys), p.readOn(len(p.Body), !p.Current().Seen, keys), width, keys, theme, now))
}

// rule shows the rule that a confirmed "always" would write.
func (p *Permission) rule(width int, theme *draw.Theme) []string {
	if p.Chosen != always {
		return nil
	}
	return draw.StyleLines(theme.Warning.Render, draw.Wrap("always writes the rule “"+safetext.Reveal(p.Current().Rule)+"”", width))
}

// besideName is how much the title has besides the name of what asks at the
// least: the margins, its other words, and which of several questions it is.
const besideName = 19

// markNew styles a text of arguments and marks the words that the user did not
// say.
func markNew(words []string, theme *draw.Theme) func(...string) string {
	return func(texts ...string) string {
		text, marked := strings.Join(texts, " "), ""
		for text != "" {
			at, first := len(text), ""
			for _, word := range words {
				if word = safetext.Reveal(word); word != "" && strings.Contains(text[:at], word) {
					at, first = strings.Index(text, word), word
				}
			}
			marked += theme.Text.Render(text[:at])
			if first != "" {
				marked += theme.Warning.Underline(true).Render(first)
			}
			text = text[at+len(first):]
		}
		return marked
	}
}

// Content is everything that would run, escaped and broken into lines, with
// nothing left out.
func (p *Permission) Content(width int, theme *draw.Theme) []bodyLine {
	asked := p.Current()
	var lines []bodyLine
	add := func(style func(...string) string, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			for _, part := range draw.WrapExact(line, width) {
				lines = append(lines, bodyLine{Style: style, Text: part})
			}
		}
	}
	argument := markNew(asked.New, theme)
	if name := safetext.Line(asked.Name); draw.Width(name) > width-besideName {
		add(theme.Strong.Render, name) // the title has no room for it
	}
	pairs := arguments.Of(asked.Input)
	for _, pair := range pairs {
		value := safetext.Reveal(arguments.Exact(pair.Value))
		if strings.Contains(value, "\n") {
			value = "\n" + value
		}
		add(argument, safetext.Reveal(pair.Key)+": "+value)
	}
	if len(pairs) == 0 {
		add(theme.Dim.Render, "no arguments")
	}
	if asked.Preview.Diff != "" {
		add(theme.Strong.Render, safetext.Reveal(asked.Preview.Path))
		for i, line := range strings.Split(strings.TrimSuffix(asked.Preview.Diff, "\n"), "\n") {
			if i < 2 && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")) {
				continue // the path stands above; further down it is a line that begins so
			}
			mark, rest := "", line
			if line != "" && strings.ContainsRune("+- ", rune(line[0])) {
				mark, rest = line[:1]+" ", line[1:]
			}
			add(diffStyle(line, theme), mark+safetext.Reveal(rest))
		}
	}
	if asked.Preview.Text != "" {
		add(theme.Strong.Render, safetext.Reveal(asked.Preview.Text))
	}
	if p.details {
		add(theme.Dim.Render, "as sent: "+safetext.Reveal(string(asked.Input)))
		add(theme.Dim.Render, "sha-256: "+safetext.Reveal(asked.Hash))
		rule := "each call is asked about"
		if asked.Rule != "" {
			rule = "always would write: " + safetext.Reveal(asked.Rule)
		}
		add(theme.Dim.Render, "step: "+safetext.Reveal(asked.Step)+" · "+rule)
	}
	if !asked.Since.IsZero() {
		add(theme.Dim.Render, "it was started "+draw.When(asked.Since, time.Now())+" and may have happened")
	}
	if asked.Reason != "" {
		add(theme.Dim.Render, "why it asks: "+safetext.Reveal(asked.Reason))
	}
	return lines
}

// diffStyle is the look of a line of a unified diff; its mark says the same.
func diffStyle(line string, theme *draw.Theme) func(...string) string {
	switch {
	case strings.HasPrefix(line, "@@"):
		return theme.Dim.Render
	case strings.HasPrefix(line, "+"):
		return theme.Added.Render
	case strings.HasPrefix(line, "-"):
		return theme.Removed.Render
	}
	return theme.Text.Render
}
