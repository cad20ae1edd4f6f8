package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// guard is how long no key may have been pressed before a question takes keys:
// who is typing when it opens must not answer it.
const guard = 500 * time.Millisecond

// typingGuard is the same for who was typing when the question opened, or
// typed on: prose has pauses between its words.
const typingGuard = 2 * time.Second

// permission is the dialog that asks whether tools may run, one after the
// other. While keys come in one upon another they are the composer's.
type permission struct {
	queue   []pending
	at      int       // the question in sight
	typing  int       // keys that went to the composer while the question was open
	quiet   time.Time // when the last key came, or the question
	sure    bool      // always was pressed once
	details bool
	why     *string         // the reason being typed; nil: none
	edit    *argumentEditor // the arguments being edited; nil: none

	sight
	body  []bodyLine // what would run
	width int        // what body was made for
}

// pending is a question that waits for the user.
type pending struct {
	agent.PermissionAsked
	seen bool // the end of what would run was in sight
}

// bodyLine is a line of what would run. It is styled when it is in sight: there
// may be a megabyte of them.
type bodyLine struct {
	style func(...string) string
	text  string
}

// open tells whether a question waits for the user.
func (p *permission) open() bool { return len(p.queue) > 0 }

// current is the question in sight.
func (p *permission) current() *pending { return &p.queue[p.at] }

func (p *permission) ask(asked agent.PermissionAsked, now time.Time) {
	p.queue = append(p.queue, pending{PermissionAsked: asked})
	if len(p.queue) == 1 {
		p.show(0, now)
	}
}

// show turns to a question of the queue, as a new one.
func (p *permission) show(at int, now time.Time) {
	p.at, p.quiet, p.sure, p.details, p.why, p.edit = at, now, false, false, nil, nil
	p.top, p.width, p.typing = 0, 0, 0
}

// drop takes a question out of the queue.
func (p *permission) drop(i int, now time.Time) {
	p.queue = append(p.queue[:i:i], p.queue[i+1:]...)
	switch {
	case i < p.at:
		p.at--
	case i == p.at:
		p.show(max(0, min(p.at, len(p.queue)-1)), now)
	}
}

// settle drops a question that was decided elsewhere.
func (p *permission) settle(call string, now time.Time) {
	for i, asked := range p.queue {
		if asked.Call == call {
			p.drop(i, now)
			return
		}
	}
}

// close drops all questions: their turn is over.
func (p *permission) close() { *p = permission{} }

// armed tells whether keys answer the question.
func (p *permission) armed(now time.Time) bool {
	return p.open() && now.Sub(p.quiet) >= p.guard()
}

// guard is how long no key may have been pressed before keys answer.
func (p *permission) guard() time.Duration {
	if p.typing > 1 {
		return typingGuard
	}
	return guard
}

// disturb begins the guard time anew.
func (p *permission) disturb(now time.Time) { p.quiet = now }

// answer replies to the question in sight and shows the next.
func (p *permission) answer(reply agent.Reply, now time.Time) {
	asked := *p.current()
	p.drop(p.at, now)
	if asked.Reply != nil {
		asked.Reply(reply)
	}
}

// allSeen tells whether a yes can be said to all questions at once: each was
// in sight to its end, and is answered by yes or no.
func (p *permission) allSeen() bool {
	for _, asked := range p.queue {
		if !asked.seen || asked.Unknown {
			return false
		}
	}
	return len(p.queue) > 1
}

// allowAll says yes, once, to every question of the queue.
func (p *permission) allowAll(now time.Time) {
	for p.open() {
		p.answer(agent.Reply{Decision: agent.AllowOnce}, now)
	}
}

// press gives a key to the dialog. It reports false for a key that is not the
// dialog's, or that comes too soon after another: that is the composer's.
func (p *permission) press(pressed tea.KeyPressMsg, keys *keyMap, now time.Time) bool {
	switch {
	case p.why != nil:
		p.explain(pressed, keys, now)
		return true
	case p.edit != nil:
		p.change(pressed, keys, now)
		return true
	}
	armed := p.armed(now)
	p.disturb(now)
	if top, scrolls := keys.read(pressed, p.top, len(p.body), p.rows); scrolls && len(p.body) > p.rows {
		p.top = top
		return true
	}
	if !armed {
		if pressed.Text != "" {
			p.typing++
		}
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
	case len(p.queue) > 1 && key.Matches(pressed, keys.NextAsked):
		p.show((p.at+1)%len(p.queue), now)
	case p.allSeen() && key.Matches(pressed, keys.OnceAll):
		p.allowAll(now)
	case p.current().Unknown && key.Matches(pressed, keys.Again):
		p.allow(agent.AllowOnce, now)
	case p.current().Unknown && key.Matches(pressed, keys.Checked):
		p.allow(agent.AlreadyDone, now)
	case p.current().Unknown:
		return false
	case key.Matches(pressed, keys.Once):
		p.allow(agent.AllowOnce, now)
	case key.Matches(pressed, keys.EditInput):
		p.edit = newArgumentEditor(p.current().Input, keys)
	case p.current().Rule == "":
		return false // each call is asked about
	case key.Matches(pressed, keys.ForConversation):
		p.allow(agent.AllowConversation, now)
	case key.Matches(pressed, keys.Always):
		if sure {
			p.allow(agent.AllowAlways, now)
		} else {
			p.sure = p.current().seen
		}
	default:
		return false
	}
	return true
}

// allow answers yes, but only after all of what would run was in sight.
func (p *permission) allow(decision agent.Decision, now time.Time) {
	if p.current().seen {
		p.answer(agent.Reply{Decision: decision}, now)
	}
}

// explain edits the reason of a no.
func (p *permission) explain(pressed tea.KeyPressMsg, keys *keyMap, now time.Time) {
	switch {
	case key.Matches(pressed, keys.Send):
		p.answer(agent.Reply{Decision: agent.Refuse, Reason: strings.TrimSpace(*p.why)}, now)
	case key.Matches(pressed, keys.Stop):
		p.why = nil
		p.disturb(now)
	default:
		*p.why = typed(*p.why, pressed)
	}
}

// change gives a key to the editor of arguments.
func (p *permission) change(pressed tea.KeyPressMsg, keys *keyMap, now time.Time) {
	done, left := p.edit.press(pressed, keys, p.current().Check)
	switch {
	case done:
		p.answer(p.edit.edited(), now)
	case left:
		p.edit = nil
		p.disturb(now)
	}
}

// layout fits the dialog into a place of at most height lines, keeps the body
// within it and notes whether its end is in sight.
func (p *permission) layout(width, height int, keys *keyMap, look *theme) {
	if p.width != width {
		p.body, p.width = p.content(width-len(bodyMargin(width)), look), width
	}
	tight := p.tightFoot(width, keys, look, false)
	if p.sure && len(tight) > height {
		p.sure = false // the rule can't be shown
		tight = p.tightFoot(width, keys, look, false)
	}
	p.place(len(p.body), len(p.foot(width, keys, look, false)), len(tight), height)
	if p.endSeen(len(p.body), width) {
		p.current().seen = true
	}
}

// view returns the dialog's lines as laid out.
func (p *permission) view(width int, keys *keyMap, look *theme, now time.Time) []string {
	asked := p.current()
	turn := ""
	if len(p.queue) > 1 {
		turn = fmt.Sprintf(" %d of %d ─", p.at+1, len(p.queue))
	}
	armed := p.armed(now)
	size, ready := " · "+bytes(int64(len(asked.Input))), " · "+p.readiness(armed)
	asks := " asks to run"
	if asked.Unknown {
		asks = ": outcome unknown"
	}
	title := "─ " + whole(asked.Name, width-cells(turn)-3, asks+size+ready, asks+ready, ready) + " "
	title += strings.Repeat("─", max(0, width-cells(title)-cells(turn))) + turn
	if p.tight {
		title = p.title(asked.Name, len(p.body), width)
	}
	var lines []string
	if p.headed {
		lines = append(lines, look.Warning.Bold(true).Render(fit(title, width)))
	}
	foot := p.position(len(p.body), width, !asked.seen, keys, look)
	if p.tight {
		foot = p.tightFoot(width, keys, look, armed)
	} else {
		foot = append(foot, p.foot(width, keys, look, armed)...)
	}
	if p.edit != nil {
		return append(lines, p.edit.view(width, p.rows+len(foot), keys, look)...)
	}
	for _, line := range p.body[p.top : p.top+p.rows] {
		lines = append(lines, bodyMargin(width)+line.style(line.text))
	}
	return append(lines, foot...)
}

// readiness says in words whether a key answers now.
func (p *permission) readiness(armed bool) string {
	switch {
	case p.edit != nil:
		return "editing"
	case p.why != nil || !armed:
		return "wait…"
	case !p.current().seen:
		return "read on"
	}
	return "your answer?"
}

// bodyMargin sets what would run under the transcript's text; a narrow screen
// has no place to give away.
func bodyMargin(width int) string {
	if width < 60 {
		return ""
	}
	return "  "
}

// foot is what stands below the body: what is asked twice, and the keys.
func (p *permission) foot(width int, keys *keyMap, look *theme, armed bool) []string {
	var lines []string
	if p.why != nil {
		lines = append(lines, fit("Why not? "+*p.why+"▏", width), look.Dim.Render(fit(keys.Send.Help().Key+" sends · "+keys.Stop.Help().Key+" back", width)))
		armed = false
	}
	lines = append(lines, p.again(width, keys, look)...)
	return append(lines, styled(keyStyle(armed, look), joined(p.keys(keys), width))...)
}

// tightFoot is the foot where there is no room for all keys.
func (p *permission) tightFoot(width int, keys *keyMap, look *theme, armed bool) []string {
	if p.why != nil {
		return []string{fit("Why not? "+*p.why+"▏", width)}
	}
	line := p.oneLine(p.keys(keys), len(p.body), width, !p.current().seen, keys)
	return append(p.again(width, keys, look), keyStyle(armed, look)(line))
}

// again asks for the second press of a key that writes a rule.
func (p *permission) again(width int, keys *keyMap, look *theme) []string {
	if !p.sure {
		return nil
	}
	ask := "always writes the rule “" + safetext.Reveal(p.current().Rule) + "”: press " + keys.Always.Help().Key + " again"
	return styled(look.Warning.Render, broken(ask, width))
}

// keyStyle is the look of keys that are taken now, or not yet.
func keyStyle(armed bool, look *theme) func(...string) string {
	if armed {
		return look.Key.Render
	}
	return look.Dim.Render
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
	switch asked := p.current(); {
	case asked.Unknown:
		skip := keys.Refuse
		skip.SetHelp(skip.Help().Key, "skip")
		return []key.Binding{keys.Again, skip, keys.Checked, keys.Details}
	case asked.Rule == "":
		return p.withQueue(keys, keys.Once, keys.Refuse, keys.RefuseWhy, keys.EditInput, keys.Details)
	}
	return p.withQueue(keys, keys.Once, keys.ForConversation, keys.Always, keys.Refuse, keys.RefuseWhy, keys.EditInput, keys.Details)
}

// withQueue adds the keys for when several steps ask at once.
func (p *permission) withQueue(keys *keyMap, list ...key.Binding) []key.Binding {
	if len(p.queue) > 1 {
		list = append(list, keys.NextAsked)
	}
	if p.allSeen() {
		list = append(list, keys.OnceAll)
	}
	return list
}

// besideName is how much the title has besides the name of what asks at the
// least: the margins, and which of several questions it is.
const besideName = 14

// markNew styles a text of arguments and marks the words that the user did not
// say.
func markNew(words []string, look *theme) func(...string) string {
	return func(texts ...string) string {
		text, marked := strings.Join(texts, " "), ""
		for text != "" {
			at, first := len(text), ""
			for _, word := range words {
				if word = safetext.Reveal(word); word != "" && strings.Contains(text[:at], word) {
					at, first = strings.Index(text, word), word
				}
			}
			marked += look.Text.Render(text[:at])
			if first != "" {
				marked += look.Warning.Underline(true).Render(first)
			}
			text = text[at+len(first):]
		}
		return marked
	}
}

// content is everything that would run, escaped and broken into lines, with
// nothing left out.
func (p *permission) content(width int, look *theme) []bodyLine {
	asked := p.current()
	var lines []bodyLine
	add := func(style func(...string) string, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			for _, part := range entire(line, width) {
				lines = append(lines, bodyLine{style, part})
			}
		}
	}
	argument := markNew(asked.New, look)
	if name := safetext.Line(asked.Name); cells(name) > width-besideName {
		add(look.Strong.Render, name) // the title has no room for it
	}
	pairs := arguments(asked.Input)
	for _, pair := range pairs {
		value := safetext.Reveal(exact(pair.value))
		if strings.Contains(value, "\n") {
			value = "\n" + value
		}
		add(argument, safetext.Reveal(pair.key)+": "+value)
	}
	if len(pairs) == 0 {
		add(look.Dim.Render, "no arguments")
	}
	if asked.Preview.Diff != "" {
		add(look.Strong.Render, safetext.Reveal(asked.Preview.Path))
		for i, line := range strings.Split(strings.TrimSuffix(asked.Preview.Diff, "\n"), "\n") {
			if i < 2 && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")) {
				continue // the path stands above; further down it is a line that begins so
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
