package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/terminal"
	"lifehub/tui/transcript"
)

// draw lays the panels out from the bottom up and keeps the picture for View.
func (m *Model) draw() {
	w, h := m.term.width, m.term.height
	if slices.ContainsFunc(m.transcript.Entries, func(e transcript.Entry) bool { _, notice := e.Item.(*transcript.Notice); return !notice }) {
		m.welcome.Hide()
	}
	m.composer.Invite(m.invitation())
	inline, asked := m.Options.Inline && m.panel == nil, m.asks.Open()
	m.drawn.picture = tea.View{AltScreen: !inline, ReportFocus: true, WindowTitle: WindowTitle(m.chat.title, asked), ProgressBar: Progress(m.pulls.Running, m.status)}
	if !m.Options.NoMouse && !inline {
		m.drawn.picture.MouseMode = tea.MouseModeCellMotion
	}
	switch {
	case w <= 0 || h <= 0:
		return
	case inline && m.leaving.exited: // what was said stays in the scrollback, and nothing else
		m.drawn.picture.Content = strings.Join(transcript.WithoutEnd(m.body(w, h, 0)), "\n")
		return
	}
	main := w
	if !inline {
		m.drawn.sidebar.Hidden, m.drawn.sidebar.Busy = m.Options.NoSidebar, m.turn != nil
		main -= m.drawn.sidebar.Takes(w, h-2, &m.transcript, &m.prompt, m.status, m.theme)
	}
	if size := [2]int{main, h}; size != m.drawn.size {
		m.drawn.size = size
		m.composer.Resize(WritingWidth(main), h/3)
	}
	rows := Layout(main, h, asked, inline)
	top := make([]string, min(rows.Header, 2))
	written := m.composer.Lines
	hidden := max(0, len(written)-rows.Composer)
	bottom, x, y := rows.Bottom(written[hidden:], m.writingBox(main), m.statusLine(main), main, m.theme)
	above := m.aboveComposer(main, h-len(top)-len(bottom))
	if len(above) > h-len(top)-len(bottom) {
		top = nil
	}
	if len(above) > h-len(bottom) { // no edge is left in part
		rows.Air, rows.Edge = false, Bare
		bottom, x, y = rows.Bottom(written[hidden:], m.writingBox(main), m.statusLine(main), main, m.theme)
	}
	below := len(bottom) - y
	bottom = bottom[max(0, len(bottom)-max(0, h-len(above))):]
	body := m.body(main, max(0, h-len(top)-len(bottom)-len(above)), len(top))
	copy(top, m.header(w)) // after the body: its question may be out of sight
	if inline {
		body = transcript.WithoutEnd(body)
	}
	lines := slices.Concat(top, body, above, bottom)
	lines = lines[max(0, len(lines)-h):]
	if main < w {
		m.drawn.sidebar.Beside(lines[len(top):], main)
	}
	if w < Narrow {
		for i := range lines {
			lines[i] = draw.Truncate(lines[i], w)
		}
	}
	m.drawn.selection.Show(lines)
	m.drawn.picture.Content = strings.Join(lines, "\n")
	m.drawn.picture.Cursor = m.cursor(x, len(lines)-below-hidden)
}

// cursor is where the cursor stands when what is written begins at a place of
// the picture; nil: nowhere.
func (m *Model) cursor(x, y int) *tea.Cursor {
	if m.panel != nil || m.focused || m.asks.Typing() {
		return nil
	}
	return Cursor(m.composer.CursorAt(), x, y, m.term.width, m.term.height)
}

// writingBox is the box of the composer: its edges say what is going on, the modes
// and how full the context window is; the mode's colour is its while keys write.
func (m *Model) writingBox(width int) draw.Box {
	doing, stop := "", m.keys.Stop.Help().Key
	switch {
	case m.turn != nil:
		doing = m.theme.Running.Render(draw.Spinner[m.spinner.Beat%len(draw.Spinner)]) + " " + m.turn.Turn.State(m.asks.Open())
		if !m.focused && !m.asks.Open() && m.panel == nil && !m.turn.Turn.Stopped {
			doing += m.theme.Dim.Render(" · " + stop + " stops")
		}
	case m.editing != nil:
		doing = m.theme.Warning.Render("editing an earlier question") + m.theme.Dim.Render(" · "+m.keys.Send.Help().Key+" creates a branch · "+stop+" cancels")
	}
	gauge := m.prompt.Gauge(m.status, m.theme)
	if width < m.term.width { // the sidebar shows it
		gauge = ""
	}
	return WritingBox(width, doing, m.modeShown(), gauge, m.status.ReadOnly, m.Options.Mentions != nil || m.Options.Open != nil, m.panel == nil && !m.focused && !m.asks.Open(), m.theme)
}

// modeShown is the mode with that which auto is for the model.
func (m *Model) modeShown() string {
	if m.mode == string(agent.AutoMode) && m.status.Fitting != "" {
		return m.mode + ": " + m.status.Fitting
	}
	return m.mode
}

// invitation is what the composer shows while nothing is written: what becomes
// of a text there, now. Where it has not the keys it shows nothing.
func (m *Model) invitation() string {
	switch {
	case m.panel != nil:
		return ""
	case m.asks.Open():
		return "Press y or n, then Enter"
	case m.turn != nil:
		return "Write the next message · " + m.keys.Send.Help().Key + " queues it"
	case m.welcome.Question != "":
		return m.welcome.Question
	}
	return "Ask anything"
}

// body is the conversation, with the panel over it.
func (m *Model) body(width, height, top int) []string {
	lines := m.conversation(width, height, top)
	if m.panel != nil {
		lines = m.drawn.frame.Over(m.panel, draw.PadHeight(lines, height), width, &m.keys, m.theme)
	}
	return lines
}

// conversation is the transcript, or the welcome before the first question.
func (m *Model) conversation(width, height, top int) []string {
	m.transcript.Resize(width, height)
	m.drawn.bodyTop = top
	empty := len(m.transcript.Entries) == 0
	notices, only := m.transcript.Notices()
	_, first := m.panel.(*panel.FirstRun)
	m.welcome.Earlier = len(m.composer.History) > 0
	switch {
	case first, empty && m.Options.Inline && m.turns > 0: // it was printed
		return nil
	case empty || only && !m.Options.Inline && !m.focused:
		room := height - len(notices)
		if m.Options.Inline {
			room = 0 // it stands below what the terminal shows
		}
		lines := append(m.welcome.View(width, room, m.status, m.Options.Open != nil, &m.keys, m.theme), notices...)
		if empty || len(lines) <= height {
			return draw.PadHeight(lines, height)
		}
	}
	m.welcome.Hide()
	return m.transcript.View()
}

// leastAsked is how many lines a question has before the queue is shown below it.
const leastAsked = 8

// aboveComposer is what asks for attention: a question, an offer, a pull, the
// commands, what waits in the queue.
func (m *Model) aboveComposer(width, height int) []string {
	now, most := time.Now(), height
	if height > 14 {
		most -= 3 // of what was said last
	}
	inside := Inside(width)
	waiting := m.composer.Waiting(&m.keys, inside, m.theme, m.turn != nil)
	if m.asks.Open() {
		waiting = waiting[:min(len(waiting), max(0, most-leastAsked))]
		return Inset(append(m.asks.View(inside, most-len(waiting), &m.keys, !m.composer.Empty(), m.theme, now), waiting...), width)
	}
	lines := m.pulls.View(inside, height, &m.keys, m.theme, !m.composer.Empty(), now)
	if m.resumable != nil && m.resumable.Offered && m.turn == nil {
		lines = append(lines, m.resumable.View(inside, height-len(lines), &m.keys, m.theme, m.composer.Empty())...)
	}
	if m.panel == nil {
		m.lists.Line = len(lines)
		lines = append(lines, m.lists.View(inside, max(1, height-2), &m.keys, m.theme)...)
	}
	return Inset(append(lines, waiting...), width)
}

// header is the first line and a blank one: the question above what is in sight
// or the conversation, and what answers over how many notes.
func (m *Model) header(width int) []string {
	status := m.status
	status.Silent = m.unreachable
	parts, title := status.Parts(width), cmp.Or(m.transcript.QuestionAbove(), m.chat.title)
	key := fmt.Sprint(width, parts, title)
	return []string{m.drawn.lines.header.Get(m.theme, key, func() string { return Header(width, title, parts, m.theme) }), ""}
}

// statusLine is the last line: the keys of the moment, what left the machine,
// and how fast an answer streams.
func (m *Model) statusLine(width int) string {
	keys, figures := m.hints(), []string{Sent(m.status.Sent)}
	if width < m.term.width { // the sidebar says it
		figures = nil
	}
	if t := m.turn; t != nil && !t.Turn.Stopped && t.speed.PerSecond > 0 {
		figures = append(figures, fmt.Sprintf("%.0f tok/s", t.speed.PerSecond))
	}
	key := fmt.Sprint(width, m.hint, keys, figures)
	return m.drawn.lines.status.Get(m.theme, key, func() string { return Status(width, m.hint, keys, figures, m.theme) })
}

// hints are the keys that matter now.
func (m *Model) hints() []string {
	k := &m.keys
	asked, question := m.transcript.Item(m.transcript.Chosen).(*transcript.Question)
	switch {
	case m.asks.Open(), m.panel != nil, m.lists.Open() && !m.focused: // its keys are in its frame
		return nil
	case m.focused && question && len(asked.Siblings) > 1 && m.Options.Branches != nil:
		return []string{panel.Hint(k.EarlierBranch, "") + panel.Hint(k.LaterBranch, "alternatives"), panel.Hint(k.Edit, "edit"), panel.Hint(k.Retry, "retry"), panel.Hint(k.Back, "back")}
	case m.focused && question && m.Options.Branches != nil:
		return []string{panel.Hint(k.Next, "next"), panel.Hint(k.Edit, "edit"), panel.Hint(k.Retry, "retry"), panel.Hint(k.Copy, "copy"), panel.Hint(k.Back, "back")}
	case m.focused:
		return []string{panel.Hint(k.Next, "next"), panel.Hint(k.Fold, "fold"), panel.Hint(k.Copy, "copy"), panel.Hint(k.Open, "open"), panel.Hint(k.Back, "back")}
	case m.transcript.Below():
		return []string{panel.Hint(k.Bottom, "to the end"), panel.Hint(k.HelpOnEmpty, "help")}
	}
	send := "send"
	if m.turn != nil {
		send = "queue"
	}
	hints := []string{panel.Hint(k.Send, send)}
	if m.Options.UseMode != nil {
		hints = append(hints, panel.Hint(k.Mode, "mode"))
	}
	return append(hints, panel.Hint(k.HelpOnEmpty, "help"))
}

// printOver prints what is over into the terminal's own scrollback, where it
// scrolls, is selected and stays as what any program prints. It does nothing
// on a screen of our own.
func (m *Model) printOver() tea.Cmd {
	t := &m.transcript
	if !m.Options.Inline || m.turn != nil || len(t.Entries) == 0 || m.term.width <= 0 {
		return nil
	}
	text := strings.Join(t.Printed(), "\n") + "\n"
	m.unfocus()
	t.Clear()
	return func() tea.Msg { return terminal.Print(text) }
}
