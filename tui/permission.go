package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// guard is how long no key may have been pressed before a question takes keys:
// who is typing when it opens must not answer it.
const guard = 500 * time.Millisecond

// permission is the dialog that asks whether tools may run, one after the
// other. While keys come in one upon another they are the composer's.
type permission struct {
	queue   []agent.PermissionAsked
	quiet   time.Time // when the last key came, or the question
	seen    bool      // the end of what would run was in sight
	sure    bool      // always was pressed once
	details bool
	why     *string // the reason being typed; nil: none

	top   int      // first line of the body in sight
	body  []string // what would run
	width int      // what body was made for
	rows  int      // lines of the body in sight
}

// open tells whether a question waits for the user.
func (p *permission) open() bool { return len(p.queue) > 0 }

func (p *permission) ask(asked agent.PermissionAsked, now time.Time) {
	p.queue = append(p.queue, asked)
	if len(p.queue) == 1 {
		p.begin(now)
	}
}

// begin shows the first question of the queue as a new one.
func (p *permission) begin(now time.Time) {
	p.quiet, p.seen, p.sure, p.details, p.why = now, false, false, false, nil
	p.top, p.width = 0, 0
}

// settle drops a question that was decided elsewhere.
func (p *permission) settle(call string, now time.Time) {
	for i, asked := range p.queue {
		if asked.Call == call {
			p.queue = append(p.queue[:i], p.queue[i+1:]...)
			if i == 0 {
				p.begin(now)
			}
			return
		}
	}
}

// close drops all questions: their turn is over.
func (p *permission) close() { *p = permission{} }

// armed tells whether keys answer the question.
func (p *permission) armed(now time.Time) bool {
	return p.open() && now.Sub(p.quiet) >= guard
}

// disturb begins the guard time anew.
func (p *permission) disturb(now time.Time) { p.quiet = now }

// answer replies to the first question and shows the next.
func (p *permission) answer(reply agent.Reply, now time.Time) {
	asked := p.queue[0]
	p.queue = p.queue[1:]
	p.begin(now)
	if asked.Reply != nil {
		asked.Reply(reply)
	}
}

// press gives a key to the dialog. It reports false for a key that is not the
// dialog's, or that comes too soon after another: that is the composer's.
func (p *permission) press(pressed tea.KeyPressMsg, keys *keyMap, now time.Time) bool {
	if p.why != nil {
		p.explain(pressed, now)
		return true
	}
	armed := p.armed(now)
	p.disturb(now)
	if len(p.body) > p.rows && p.scroll(pressed) {
		return true
	}
	if !armed {
		return key.Matches(pressed, keys.Stop)
	}
	sure := p.sure
	p.sure = false
	switch {
	case key.Matches(pressed, keys.Refuse):
		p.answer(agent.Reply{Decision: agent.Refuse}, now)
	case key.Matches(pressed, keys.RefuseWhy):
		p.why = new(string)
	case key.Matches(pressed, keys.Details):
		p.details, p.width = !p.details, 0
	case p.queue[0].Unknown && key.Matches(pressed, keys.Again):
		p.allow(agent.AllowOnce, now)
	case p.queue[0].Unknown && key.Matches(pressed, keys.Checked):
		p.allow(agent.AlreadyDone, now)
	case p.queue[0].Unknown:
		return false
	case key.Matches(pressed, keys.Once):
		p.allow(agent.AllowOnce, now)
	case p.queue[0].Rule == "":
		return false // each call is asked about
	case key.Matches(pressed, keys.ForConversation):
		p.allow(agent.AllowConversation, now)
	case key.Matches(pressed, keys.Always):
		if sure {
			p.allow(agent.AllowAlways, now)
		} else {
			p.sure = p.seen
		}
	default:
		return false
	}
	return true
}

// allow answers yes, but only after all of what would run was in sight.
func (p *permission) allow(decision agent.Decision, now time.Time) {
	if p.seen {
		p.answer(agent.Reply{Decision: decision}, now)
	}
}

// scroll moves through what would run. It is safe at any time.
func (p *permission) scroll(pressed tea.KeyPressMsg) bool {
	last := max(0, len(p.body)-p.rows)
	to := p.top
	switch pressed.String() {
	case "pgdown":
		to += max(1, p.rows-1)
	case "pgup":
		to -= max(1, p.rows-1)
	case "down":
		to++
	case "up":
		to--
	case "ctrl+home":
		to = 0
	case "ctrl+end":
		to = last
	default:
		return false
	}
	p.top = max(0, min(to, last))
	return true
}

// explain edits the reason of a no.
func (p *permission) explain(pressed tea.KeyPressMsg, now time.Time) {
	switch pressed.String() {
	case "enter":
		p.answer(agent.Reply{Decision: agent.Refuse, Reason: strings.TrimSpace(*p.why)}, now)
	case "esc":
		p.why = nil
		p.disturb(now)
	case "backspace":
		if runes := []rune(*p.why); len(runes) > 0 {
			*p.why = string(runes[:len(runes)-1])
		}
	case "ctrl+u":
		*p.why = ""
	default:
		*p.why += safetext.Line(pressed.Text)
	}
}

// layout fits the dialog into a place of at most height lines, keeps the body
// within it and notes whether its end is in sight.
func (p *permission) layout(width, height int, keys *keyMap, look *theme) {
	if p.width != width {
		p.body, p.width = p.content(width-len(bodyMargin(width)), look), width
	}
	p.rows = max(0, min(len(p.body), height-1-len(p.foot(width, keys, look, false))))
	p.top = max(0, min(p.top, len(p.body)-p.rows))
	if p.rows > 0 && p.top+p.rows >= len(p.body) {
		p.seen = true
	}
}

// view returns the dialog's lines as laid out.
func (p *permission) view(width int, keys *keyMap, look *theme, now time.Time) []string {
	asked := p.queue[0]
	turn := ""
	if len(p.queue) > 1 {
		turn = fmt.Sprintf(" 1 of %d ─", len(p.queue))
	}
	size := " · " + bytes(int64(len(asked.Input)))
	asks := " asks to run"
	if asked.Unknown {
		asks = ": outcome unknown"
	}
	title := fit("─ "+safetext.Line(asked.Name), max(4, width-cells(turn)-cells(asks)-1-cells(size))) + asks + size + " "
	title += strings.Repeat("─", max(0, width-cells(title)-cells(turn))) + turn
	lines := []string{look.Warning.Bold(true).Render(fit(title, width))}
	for _, line := range p.body[p.top : p.top+p.rows] {
		lines = append(lines, bodyMargin(width)+line)
	}
	return append(lines, p.foot(width, keys, look, p.armed(now))...)
}

// bodyMargin sets what would run under the transcript's text; a narrow screen
// has no place to give away.
func bodyMargin(width int) string {
	if width < 60 {
		return ""
	}
	return "  "
}

// foot is what stands below the body: where in it we are, what is asked twice,
// and the keys.
func (p *permission) foot(width int, keys *keyMap, look *theme, armed bool) []string {
	var lines []string
	if below := len(p.body) - p.top - p.rows; below > 0 && !p.seen && p.rows > 0 {
		lines = append(lines, look.Warning.Render(fit(fmt.Sprintf("↓ %s: pgdn reads on", count(below, "more line")), width)))
	} else if len(p.body) > p.rows {
		lines = append(lines, look.Dim.Render(fit(fmt.Sprintf("lines %d–%d of %d · pgup pgdn", p.top+1, p.top+p.rows, len(p.body)), width)))
	}
	if p.why != nil {
		lines = append(lines, fit("Why not? "+*p.why+"▏", width), look.Dim.Render(fit("enter sends · esc back", width)))
		armed = false
	}
	if p.sure {
		ask := "always keeps the rule “" + safetext.Reveal(p.queue[0].Rule) + "”: press a again"
		lines = append(lines, styled(look.Warning.Render, strings.Split(ansi.Wrap(ask, width, ""), "\n"))...)
	}
	style := look.Dim.Render
	if armed {
		style = look.Key.Render
	}
	return append(lines, styled(style, joined(p.keys(keys), width))...)
}

// keys names the dialog's keys, in the order in which they are shown.
func (p *permission) keys(keys *keyMap) []string {
	var parts []string
	for _, b := range p.bindings(keys) {
		parts = append(parts, b.Help().Key+" "+b.Help().Desc)
	}
	return parts
}

func (p *permission) bindings(keys *keyMap) []key.Binding {
	switch asked := p.queue[0]; {
	case asked.Unknown:
		skip := keys.Refuse
		skip.SetHelp(skip.Help().Key, "skip")
		return []key.Binding{keys.Again, skip, keys.Checked, keys.Details}
	case asked.Rule == "":
		return []key.Binding{keys.Once, keys.Refuse, keys.RefuseWhy, keys.Details}
	}
	return []key.Binding{keys.Once, keys.ForConversation, keys.Always, keys.Refuse, keys.RefuseWhy, keys.Details}
}

// content is everything that would run, escaped and broken into lines, with
// nothing left out.
func (p *permission) content(width int, look *theme) []string {
	asked := p.queue[0]
	var lines []string
	add := func(style func(...string) string, text string) {
		lines = append(lines, styled(style, strings.Split(ansi.Hardwrap(text, max(1, width), true), "\n"))...)
	}
	plain := look.Text.Render
	pairs := arguments(asked.Input)
	for _, pair := range pairs {
		value := safetext.Reveal(exact(pair.value))
		if strings.Contains(value, "\n") {
			value = "\n" + value
		}
		add(plain, safetext.Reveal(pair.key)+": "+value)
	}
	if len(pairs) == 0 {
		add(look.Dim.Render, "no arguments")
	}
	if asked.Preview.Diff != "" {
		add(look.Strong.Render, safetext.Reveal(asked.Preview.Path))
		for _, line := range strings.Split(strings.TrimSuffix(asked.Preview.Diff, "\n"), "\n") {
			if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") {
				continue // the path stands above
			}
			mark, rest := "", line
			if line != "" && strings.ContainsRune("+- ", rune(line[0])) {
				mark, rest = line[:1]+" ", line[1:]
			}
			add(diffStyle(line, look), mark+safetext.Reveal(rest))
		}
	}
	if asked.Preview.Text != "" {
		add(look.Strong.Render, safetext.Reveal(asked.Preview.Text))
	}
	if p.details {
		add(look.Dim.Render, "as sent: "+safetext.Reveal(string(asked.Input)))
		add(look.Dim.Render, "sha-256: "+safetext.Reveal(asked.Hash))
		rule := "each call is asked about"
		if asked.Rule != "" {
			rule = "always would write: " + safetext.Reveal(asked.Rule)
		}
		add(look.Dim.Render, "step: "+safetext.Reveal(asked.Step)+" · "+rule)
	}
	if !asked.Since.IsZero() {
		add(look.Dim.Render, "it was started "+when(asked.Since, time.Now())+" and may have happened")
	}
	if asked.Reason != "" {
		add(look.Dim.Render, "asked because "+safetext.Reveal(asked.Reason))
	}
	return lines
}

// exact writes a value so that no two differ in meaning and look the same: a
// string that could be taken for something else keeps its quotes.
func exact(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	if s == "" || s != strings.TrimSpace(s) || json.Valid([]byte(s)) {
		return string(value)
	}
	return s
}

// diffStyle is the look of a line of a unified diff; its mark says the same.
func diffStyle(line string, look *theme) func(...string) string {
	switch {
	case strings.HasPrefix(line, "@@"):
		return look.Dim.Render
	case strings.HasPrefix(line, "+"):
		return look.Added.Render
	case strings.HasPrefix(line, "-"):
		return look.Removed.Render
	}
	return look.Text.Render
}
