package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/tui/backend"
	"lifehub/tui/batch"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// draw lays the panels out from the bottom up and keeps the picture for View.
// What is least needed goes first when the window is small: rules, header,
// status line; the composer and the keys of a question stay.
func (m *Model) draw() {
	w, h := m.width, m.height
	m.composer.Invite(m.invitation())
	inline := m.Inline && m.panel == nil
	view := tea.View{AltScreen: !inline, ReportFocus: true, WindowTitle: m.windowTitle(), ProgressBar: m.progressBar()}
	if !m.NoMouse && !inline {
		view.MouseMode = tea.MouseModeCellMotion
	}
	if w <= 0 || h <= 0 {
		m.picture = view
		return
	}
	rule := m.lines.rule.get(m.theme, fmt.Sprint(w), func() string { return m.theme.Border.Render(strings.Repeat("─", w)) })
	var top, bottom []string
	asked := m.asks.Open()
	if h >= 4 && !(h < 12 && asked) && !inline {
		top = append(top, m.header(w))
	}
	if h >= 10 && !(h < 16 && asked) && !inline {
		top = append(top, rule)
	}
	if inline && m.exited { // what was said stays in the scrollback, and nothing else
		view.Content = strings.Join(withoutEnd(m.body(w, h, 0)), "\n")
		m.picture = view
		return
	}
	composer := m.composer.Lines
	if m.player != nil {
		composer = []string{m.player.View(w, m.theme)}
	}
	room := max(1, h/3)
	switch {
	case asked && h < 6:
		room = 0 // the question needs it; what is typed is kept
	case asked:
		room = max(1, min(3, h/6))
	}
	from := 0
	if len(composer) > room {
		from = len(composer) - room
	}
	composer = composer[from:]
	bottom = append(bottom, composer...)
	status := 0
	if h >= 3 && !(h < 10 && asked) {
		status = 1
		bottom = append(bottom, m.statusLine(w))
	}
	switch {
	case h < 7 || h < 16 && asked:
	case inline:
		bottom = append([]string{""}, bottom...)
	default:
		bottom = append([]string{rule}, bottom...)
	}
	above := m.aboveComposer(w, h-len(top)-len(bottom))
	if fits := h - len(bottom) - len(top); len(above) > fits {
		top = nil
		if fits = h - len(bottom); len(above) > fits {
			bottom = bottom[min(len(bottom), len(above)-fits):]
		}
	}
	body := m.body(w, max(0, h-len(top)-len(bottom)-len(above)), len(top))
	if inline {
		body = withoutEnd(body)
	}
	lines := append(append(append(top, body...), above...), bottom...)
	if len(lines) > h {
		lines = lines[len(lines)-h:]
	}
	if w < 24 {
		for i := range lines {
			lines[i] = draw.Truncate(lines[i], w)
		}
	}
	view.Content = strings.Join(lines, "\n")
	if cursor := m.composer.CursorAt(); cursor != nil && len(composer) > 0 && m.player == nil && m.panel == nil && !m.focused && !m.asks.Typing() {
		cursor.Y += len(lines) - len(composer) - from - status
		if cursor.Y >= 0 && cursor.Y < h && cursor.X < w {
			view.Cursor = cursor
		}
	}
	m.picture = view
}

// invitation is what the composer shows while nothing is written: what becomes
// of a text there, now. Where it has not the keys it shows nothing.
func (m *Model) invitation() string {
	switch {
	case m.panel != nil:
		return ""
	case m.asks.Open():
		return "Answer the request above · a message you write here waits"
	case m.turn != nil:
		return "Write the next message · " + m.keys.Send.Help().Key + " queues it"
	case m.suggested != "":
		return m.suggested
	case m.Mentions != nil || m.Open != nil:
		return "Ask anything · @ notes and files · / commands"
	}
	return "Ask anything · / commands"
}

// cachedLine is a line that is rebuilt only when what it tells has changed.
type cachedLine struct {
	theme *draw.Theme
	key   string
	line  string
}

func (k *cachedLine) get(theme *draw.Theme, key string, build func() string) string {
	if k.theme != theme || k.key != key || k.line == "" {
		k.theme, k.key, k.line = theme, key, build()
	}
	return k.line
}

// body is what stands between the header and what is above the composer.
func (m *Model) body(width, height, top int) []string {
	m.transcript.Resize(width, height)
	m.place.top, m.place.height = top, height
	switch {
	case m.panel != nil:
		return m.panel.View(width, height, &m.keys, m.theme)
	case len(m.transcript.Entries) == 0 && m.Inline && m.turns > 0:
		return nil // it was printed
	case len(m.transcript.Entries) == 0:
		return draw.PadHeight(m.welcome(width), height)
	case m.onlyNotices():
		if lines := append(m.welcome(width), m.notices(width)...); len(lines) <= height {
			return draw.PadHeight(lines, height)
		}
	}
	return m.transcript.View()
}

func (m *Model) bodyTop() int { return m.place.top }

// aboveComposer is what asks for attention: a question, an offer, a pull, the
// commands, what waits in the queue.
func (m *Model) aboveComposer(width, height int) []string {
	now, most := time.Now(), height
	if height > 14 {
		most -= 3 // of what was said last
	}
	if m.asks.Open() {
		return m.asks.View(width, most, &m.keys, !m.composer.Empty(), m.theme, now)
	}
	var lines []string
	if m.turn != nil && m.turn.Plan == nil && m.turn.Answer == nil && m.turn.Thought == nil && height > 2 {
		lines = append(lines, "")
	}
	if m.pulling != nil {
		lines = append(lines, m.pulling.View(width, m.theme, m.keys.Stop))
	}
	if m.editing != nil {
		lines = append(lines, draw.Truncate(m.theme.Warning.Render("changing an earlier question")+m.theme.Dim.Render(" · "+m.keys.Send.Help().Key+" branches · "+m.keys.Stop.Help().Key+" leaves it"), width))
	}
	if m.offer != nil {
		lines = append(lines, m.offer.View(width, &m.keys, m.theme, !m.composer.Empty(), now)...)
	}
	if m.resumable != nil && m.resumable.offered && m.turn == nil {
		lines = append(lines, m.resumable.view(width, &m.keys, m.theme, m.composer.Empty())...)
	}
	if m.palette.Open() && m.panel == nil {
		lines = append(lines, m.palette.View(width, max(1, min(8, height-2)), m.theme)...)
	}
	if m.mentions.Open() && m.panel == nil {
		lines = append(lines, m.mentions.View(width, max(1, min(8, height-2)), m.theme)...)
	}
	return append(lines, m.composer.Waiting(&m.keys, width, m.theme, m.turn != nil)...)
}

// header is the first line: what LifeHub does now, with what, over how many
// notes. Where there is no room for all, what it does comes first.
func (m *Model) header(width int) string {
	state, parts := m.state(), m.headerFacts()
	key := fmt.Sprint(width, m.beat, state, parts, m.title)
	if state == "" {
		key = fmt.Sprint(width, parts, m.title)
	}
	return m.lines.header.get(m.theme, key, func() string { return m.headerLine(width, state, parts) })
}

func (m *Model) headerLine(width int, state string, parts []string) string {
	theme := m.theme
	left := " " + theme.Brand.Render("LifeHub")
	need := 12 // cells of a title that are worth showing
	if state == "" {
		state = draw.Summary(m.title, width)
	} else {
		need = draw.Width(state) + 2
		state = theme.Running.Render(transcript.Spinner[m.beat%len(transcript.Spinner)]) + " " + state
	}
	need = min(need, draw.Width(state))
	right := strings.Join(parts, " · ")
	for len(parts) > 0 && draw.Width(left)+2+need+2+draw.Width(right)+1 > width {
		parts = parts[:len(parts)-1]
		right = strings.Join(parts, " · ")
	}
	if right != "" {
		right = theme.Dim.Render(right) + " "
	}
	if room := width - draw.Width(left) - draw.Width(right) - 4; state != "" && room > 3 {
		left += "  " + draw.Truncate(state, room)
	}
	return draw.Justify(left, right, width)
}

// state says in words what a turn is doing; "" when none runs.
func (m *Model) state() string {
	t := m.turn
	switch {
	case t == nil:
		return ""
	case m.asks.Open():
		return "waiting for you"
	case t.Stopped:
		return "stopping"
	case t.Answer != nil && t.Answer.Open || t.Phase == "explainer":
		return "writing the answer"
	case t.Plan != nil:
		ended, total := t.Plan.Progress()
		return fmt.Sprintf("running plan · %d of %d", ended, total)
	case t.Thought != nil && t.Thought.Took == 0:
		return "thinking"
	case t.Phase == "planner":
		return "planning"
	}
	return "working"
}

// headerFacts is the right end of the header.
func (m *Model) headerFacts() []string { return m.status.Parts(m.width) }

// statusLine is the last line: mode, context, speed, what left the machine, and
// the keys of the moment.
func (m *Model) statusLine(width int) string {
	keys, figures := strings.Join(m.hints(), " · "), m.figures()
	key := fmt.Sprint(width, m.hint, keys, figures)
	return m.lines.status.get(m.theme, key, func() string { return m.footLine(width, keys, figures) })
}

func (m *Model) footLine(width int, keys string, parts []string) string {
	theme := m.theme
	right := theme.Dim.Render(keys + " ")
	if m.hint != "" {
		return draw.Justify(" "+theme.Warning.Render(safetext.Line(m.hint)), right, width)
	}
	left := ""
	for len(parts) > 0 {
		left = " " + strings.Join(parts, " · ")
		if draw.Width(left)+draw.Width(right)+1 <= width {
			break
		}
		parts = parts[:len(parts)-1]
		left = ""
	}
	return draw.Justify(theme.Dim.Render(left), right, width)
}

// figures are the parts of the status line, the one that matters most first.
func (m *Model) figures() []string {
	var parts []string
	if m.mode != "" {
		parts = append(parts, safetext.Line(m.mode))
	}
	window := m.allocated
	if window == 0 {
		window = m.status.Window
	}
	switch {
	case window > 0:
		parts = append(parts, fmt.Sprintf("ctx %s of %s", draw.Short(m.used), draw.Short(window)))
	case m.used > 0:
		parts = append(parts, "ctx "+draw.Short(m.used))
	}
	if speed := m.tokensPerSecond(); speed > 0 {
		parts = append(parts, fmt.Sprintf("%.0f tok/s", speed))
	}
	return append(parts, draw.Bytes(m.status.Sent)+" left this machine")
}

// tokensPerSecond is measured here while an answer streams, and the server's
// own figure afterwards.
func (m *Model) tokensPerSecond() float64 {
	if t := m.turn; t != nil && !t.Stopped && t.speed.PerSecond > 0 {
		return t.speed.PerSecond
	}
	return m.speed
}

// hints are the keys that matter now.
func (m *Model) hints() []string {
	k := &m.keys
	switch {
	case m.player != nil && m.panel == nil && !m.focused:
		return []string{panel.Hint(k.Pause, "pause"), panel.Hint(k.Faster, "faster"), panel.Hint(k.Slower, "slower"), panel.Hint(k.LeaveReplay, "quit")}
	case m.asks.Open():
		return nil
	case m.panel != nil:
		return m.panel.Hints(k)
	case m.focused && m.onAlternatives():
		return []string{panel.Hint(k.EarlierBranch, "") + panel.Hint(k.LaterBranch, "alternatives"), panel.Hint(k.Edit, "edit"), panel.Hint(k.Retry, "retry"), panel.Hint(k.Back, "back")}
	case m.focused && m.onQuestion():
		return []string{panel.Hint(k.Next, "next"), panel.Hint(k.Edit, "edit"), panel.Hint(k.Retry, "retry"), panel.Hint(k.Copy, "copy"), panel.Hint(k.Back, "back")}
	case m.focused:
		return []string{panel.Hint(k.Next, "next"), panel.Hint(k.Fold, "fold"), panel.Hint(k.Copy, "copy"), panel.Hint(k.Open, "open"), panel.Hint(k.Back, "back")}
	case m.palette.Open():
		return []string{k.Up.Help().Key + panel.Hint(k.Down, "move"), panel.Hint(k.Complete, "complete"), panel.Hint(k.Send, "run"), panel.Hint(k.Stop, "close")}
	case m.mentions.Open():
		return []string{k.Up.Help().Key + panel.Hint(k.Down, "move"), panel.Hint(k.Complete, "take"), panel.Hint(k.Stop, "close")}
	case m.turn != nil && m.transcript.Below():
		return []string{panel.Hint(k.Bottom, "follow"), panel.Hint(k.Stop, "stop")}
	case m.turn != nil:
		return []string{panel.Hint(k.Stop, "stop"), panel.Hint(k.HelpOnEmpty, "help")}
	case m.transcript.Below():
		return []string{panel.Hint(k.Bottom, "to the end"), panel.Hint(k.HelpOnEmpty, "help")}
	}
	send := "send"
	if m.suggested != "" && m.composer.Empty() {
		send = "ask that"
	}
	return []string{panel.Hint(k.Send, send), panel.Hint(k.HelpOnEmpty, "help")}
}

// onlyNotices reports whether nothing was said yet but what does not push the
// welcome away.
func (m *Model) onlyNotices() bool {
	return !m.Inline && !m.focused && !slices.ContainsFunc(m.transcript.Entries, func(e transcript.Entry) bool {
		_, ok := e.Item.(*transcript.Notice)
		return !ok
	})
}

// notices are those of the transcript, as they stand below the welcome.
func (m *Model) notices(width int) (lines []string) {
	for at := range m.transcript.Entries {
		lines = append(lines, "")
		for _, line := range withoutEnd(m.transcript.Lines(at)) {
			if line != "" {
				lines = append(lines, strings.Repeat(" ", transcript.Gutter)+line)
			}
		}
	}
	return lines
}

// welcome is the screen before the first question.
func (m *Model) welcome(width int) []string {
	theme := m.theme
	lines := []string{""}
	add := func(text string) { lines = append(lines, draw.Hang("  ", text, width)...) }
	add(theme.Strong.Render("Ask your notes anything."))
	if m.status.Provider == "offline" {
		add(theme.Warning.Render(backend.OfflineText))
	}
	switch {
	case m.Open != nil: // nobody knows yet
	case m.status.Notes == 0 && !m.status.Indexing:
		add(theme.Dim.Render("No notes yet: lifehub index DIR names a folder of them."))
	default:
		add(theme.Dim.Render("what did I write last week? · when is the rent due? · add task call Tom"))
	}
	lines = append(lines, "")
	for _, hint := range []struct {
		key  key.Binding
		what string
	}{
		{m.keys.Send, "send"},
		{m.keys.Newline, "new line"},
		{m.keys.Palette, "commands"},
		{m.keys.Conversations, "earlier conversations"},
		{m.keys.HelpOnEmpty, "all keys"},
	} {
		if hint.key.Enabled() {
			lines = append(lines, draw.Truncate(fmt.Sprintf("  %s%s%s", theme.Key.Render(hint.key.Help().Key), strings.Repeat(" ", max(1, 9-draw.Width(hint.key.Help().Key))), theme.Dim.Render(hint.what)), width))
		}
	}
	return lines
}

// progressBar tells terminals that know how (OSC 9;4) how far long work is.
func (m *Model) progressBar() *tea.ProgressBar {
	s := m.status
	switch {
	case m.pulling != nil && m.pulling.Total > 0:
		return tea.NewProgressBar(tea.ProgressBarDefault, int(m.pulling.Done*100/m.pulling.Total))
	case s.Indexing && s.Notes > 0:
		return tea.NewProgressBar(tea.ProgressBarDefault, min(100, s.Indexed*100/s.Notes))
	}
	return nil
}

// maxWindowTitle is how many columns a terminal's tab shows of its title.
const maxWindowTitle = 40

// windowTitle names the conversation and whether a question waits.
func (m *Model) windowTitle() string {
	title := "LifeHub"
	if m.title != "" {
		title += " · " + draw.Summary(m.title, maxWindowTitle)
	}
	if m.asks.Open() {
		title = "? " + title
	}
	return draw.Truncate(title, maxWindowTitle)
}

// printOver prints what is over into the terminal's own scrollback, where it
// scrolls, is selected and stays as what any program prints. It does nothing
// on a screen of our own.
func (m *Model) printOver() tea.Cmd {
	t := &m.transcript
	if !m.Inline || m.turn != nil || len(t.Entries) == 0 || m.width <= 0 {
		return nil
	}
	var lines []string
	for at := range t.Entries {
		lines = append(lines, t.Lines(at)...)
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", transcript.Gutter) + line
		}
	}
	m.unfocus()
	t.Clear()
	text := strings.Join(withoutEnd(lines), "\n") + "\n"
	return tea.Sequence(
		tea.Tick(settled, func(time.Time) tea.Msg { return nil }),
		tea.Println(text),
	)
}

// settled is when what was drawn is surely on the terminal: what is printed
// sooner pushes lines of the picture before into the scrollback.
const settled = 3 * batch.Window

// withoutEnd leaves blank lines at the end out, all but one.
func withoutEnd(lines []string) []string {
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	return slices.Clip(lines[:min(len(lines), end+1)])
}
