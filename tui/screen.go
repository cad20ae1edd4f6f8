package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// draw lays out the screen from the bottom up and stores the frame for View.
func (m *Model) draw() {
	w, h := m.term.width, m.term.height
	if slices.ContainsFunc(m.transcript.Entries, func(e transcript.Entry) bool {
		_,
			notice := e.Item.(*transcript.Notice)
		return !notice
	}) {
		m.welcome.Hide()
	}
	m.composer.Invite(m.invitation())
	inline, asked := m.Options.Inline && m.panel == nil, m.asks.Open()
	m.drawn.picture = tea.View{
		AltScreen: !inline, ReportFocus: true, WindowTitle: windowTitle(m.chat.title, asked),
		ProgressBar: progressBar(m.pull, m.status),
	}
	if !m.Options.NoMouse && !inline {
		m.drawn.picture.MouseMode = tea.MouseModeCellMotion
	}
	switch {
	case w <= 0 || h <= 0:
		return
	case inline && m.leaving.exited: // only the conversation stays in the scrollback
		m.drawn.picture.Content = strings.Join(transcript.WithoutEnd(m.body(w, h, 0)), "\n")
		return
	}
	main := w
	if !inline {
		m.drawn.sidebar.Hidden = m.Options.NoSidebar
		main -= m.drawn.sidebar.Takes(w, h, &m.transcript, &m.prompt, m.status, m.theme)
	}
	m.drawn.size = [2]int{main, h}
	rows := rowsFor(main, h, asked, inline)
	rows.Mode = rows.Mode && (!m.withoutModel() || m.status.ReadOnly)
	top := make([]string, min(rows.Header, 2))
	if m.welcomed() {
		m.composer.Resize(writingWidth(min(main, startWidth)), h/3)
		hidden := max(0, len(m.composer.Lines)-rows.Composer)
		if lines, x, y := m.centred(m.composer.Lines[hidden:], main, h, rows); lines != nil {
			if m.panel != nil {
				body := lines[rows.Header:]
				copy(body, m.drawn.frame.Over(m.panel, body, main, &m.keys, m.theme))
			}
			m.finish(lines, w, m.cursor(x, y-hidden))
			return
		}
	}
	m.composer.Resize(writingWidth(main), h/3)
	written := m.composer.Lines
	hidden := max(0, len(written)-rows.Composer)
	status := m.statusLine(main)
	bottom, x, y := rows.Bottom(written[hidden:], m.writingBlock(main, rows), status, main, m.theme)
	above, cover := m.aboveComposer(main, h-len(top)-len(bottom), inline)
	if len(above) > h-len(top)-len(bottom) {
		top = nil
	}
	if len(above) > h-len(bottom) { // no edge is left in part
		rows.Air, rows.Roomy, rows.Mode = false, false, false
		bottom, x, y = rows.Bottom(written[hidden:], m.writingBlock(main, rows), status, main, m.theme)
	}
	below := len(bottom) - y
	bottom = bottom[max(0, len(bottom)-max(0, h-len(above))):]
	body := m.body(main, max(0, h-len(top)-len(bottom)-len(above)), len(top))
	copy(top, m.header(main, rows))                  // after the body: it names the question above the visible part
	if at := slices.Index(bottom, status); at >= 0 { // it counts the lines below
		bottom[at] = m.statusLine(main)
	}
	if inline {
		body = transcript.WithoutEnd(body)
	}
	if !inline && (asked || m.lists.Palette.Open() && m.panel == nil) {
		var y int
		if body, y = panel.Over(cover, body, main, m.theme); cover != nil {
			m.drawn.list = len(top) + y
		}
	}
	if cover == nil {
		m.drawn.list += len(top) + len(body)
	}
	lines := slices.Concat(top, body, above, bottom)
	lines = lines[max(0, len(lines)-h):]
	if main < w {
		m.drawn.sidebar.Beside(lines, main)
	}
	if w < draw.Narrow {
		for i := range lines {
			lines[i] = draw.Truncate(lines[i], w)
		}
	}
	m.finish(lines, w, m.cursor(x, len(lines)-below-hidden))
}

// finish stores lines and a cursor as the frame that View returns.
func (m *Model) finish(lines []string, width int, cursor *tea.Cursor) {
	draw.Grounded(lines, width, m.theme)
	m.drawn.picture.Content = strings.Join(lines, "\n")
	m.drawn.picture.Cursor = cursor
}

// welcomed reports whether the welcome is shown: before the first question, with no more
// than notices.
func (m *Model) welcomed() bool {
	_, only := m.transcript.Notices()
	return len(m.transcript.Entries) == 0 || only && !m.Options.Inline && !m.focused
}

// startWidth is the width of a window from which on the welcome is not wider: 76 columns with
// their margins.
const startWidth = 76 + 2*draw.Gutter

// centred lays out the welcome with the composer in the optical centre, a little above the
// middle: above it the wordmark, below it what can be opened and asked, or the open list.
// The input begins at column x of line y. It returns nil if that has no room, or something
// is over it.
func (m *Model) centred(written []string, width, height int, rows rows) (lines []string, x, y int) {
	const (
		markLines = 5 // with a blank line and the line about the notes
		leastRows = 5
	)
	_, first := m.panel.(*panel.FirstRun)
	if m.Options.Inline || first || m.asks.Open() || width < 40 {
		return nil, 0, 0
	}
	window := width
	width = min(width, startWidth)
	m.transcript.Resize(width, 0)
	m.transcript.ToEnd() // nothing of it is above what is visible
	opening, column := m.Options.Opener != nil, draw.ColumnOf(width)
	m.welcome.Update(m.status, opening)
	m.welcome.Earlier = len(m.composer.History) > 0
	lines = make([]string, rows.Header)
	copy(lines, m.header(window, rows))
	at := max(rows.Header+markLines, height*2/5-1)
	bottom, x, y := rows.Bottom(written, m.writingBlock(width, rows), m.statusLine(width), width, m.theme)
	if !rows.Air {
		bottom, y = append([]string{""}, bottom...), y+1
	}
	room := height - at - len(bottom) - 1
	notices, _ := m.transcript.Notices()
	if room < leastRows+len(notices) {
		return nil, 0, 0
	}
	lines = append(draw.PadHeight(lines, at-markLines), m.welcome.Mark(column, m.status, opening, m.theme)...)
	lines = append(lines, bottom...)
	m.drawn.bodyTop = rows.Header
	below, _ := m.aboveComposer(width, room+1, true)
	m.drawn.list += len(lines)
	if m.lists.Palette.Open() {
		draw.Dimmed(lines[rows.Header:at], m.theme)
	}
	if len(below) == 0 {
		lines = append(lines, "")
		below = m.welcome.Rows(column, room-len(notices), len(lines)-rows.Header, &m.keys, m.theme)
	} else {
		m.welcome.lines = nil
	}
	lines = append(append(lines, below...), notices...)
	margin := (window - width) / 2
	indented(lines[rows.Header:], margin)
	return draw.PadHeight(lines, height), x + margin, at + y
}

// cursor returns the cursor if the input begins at a place of the frame; nil if it is
// hidden.
func (m *Model) cursor(x, y int) *tea.Cursor {
	if m.panel != nil || m.focused || m.asks.Typing() {
		return nil
	}
	return placeCursor(m.composer.CursorAt(), x, y, m.term.width, m.term.height)
}

// writingBlock returns the block of the composer. Its last row has the mode, the model and
// the context gauge, unless a sidebar shows that.
func (m *Model) writingBlock(width int, rows rows) composerBlock {
	mode, model, gauge := m.modeShown(), m.status.Model, m.prompt.Gauge(m.status, m.theme)
	if m.withoutModel() { // shown in the header
		mode, model = "", ""
	}
	if m.hasSidebar() {
		gauge = ""
	}
	return newComposerBlock(mode, m.runningMode(), model, gauge, m.status.ReadOnly, m.panel == nil &&
		!m.focused && !m.asks.Open(), m.theme)
}

// hasSidebar reports whether the sidebar has its column.
func (m *Model) hasSidebar() bool { return m.drawn.size[0] < m.term.width }

// withoutModel reports whether no model is connected, so that no mode applies.
func (m *Model) withoutModel() bool { return m.status.Provider == "offline" }

// doing returns the current activity, or the hint that is shown until the next key, in at
// most so many cells; "" if there is neither.
func (m *Model) doing(width int) string {
	stop := m.keys.Stop.Help().Key
	switch {
	case m.hint != "":
		return m.theme.Warning.Render(safetext.Line(m.hint))
	case m.pull != nil:
		stops := "   " + m.theme.Text.Render(stop) + m.theme.Dim.Render(" stops")
		return draw.Truncate(m.theme.Running.Render(m.pull.String()), width-draw.Width(stops)) + stops
	case m.turn != nil:
		doing, stops := m.theme.Running.Render(draw.Spinner[m.spinner.Beat%len(draw.Spinner)])+" "+
			m.turn.shown.State(m.asks.Open()), ""
		if !m.focused && !m.asks.Open() && m.panel == nil && !m.turn.shown.Stopped {
			stops = "   " + m.theme.Text.Render(stop) + m.theme.Dim.Render(" stops")
		}
		return draw.Truncate(doing, width-draw.Width(stops)) + stops
	case m.editing != nil:
		return m.theme.Warning.Render("editing an earlier question") + m.theme.Dim.Render(" · "+m.keys.Send.Help().Key+
			" creates a branch · "+stop+" cancels")
	}
	return ""
}

// runningMode returns the mode of the next turn: for auto the one that fits the
// model, or auto while that is unknown.
func (m *Model) runningMode() agent.Mode {
	if m.mode == string(agent.AutoMode) && m.status.Fitting != "" {
		return agent.Mode(m.status.Fitting)
	}
	return agent.Mode(m.mode)
}

// modeShown returns the chosen mode, for auto followed by the one that runs.
func (m *Model) modeShown() string {
	if running := string(m.runningMode()); running != m.mode {
		return m.mode + " · " + running
	}
	return m.mode
}

// invitation returns the placeholder of the composer: what happens to a text that is typed
// now. It is empty while a panel has the focus.
func (m *Model) invitation() string {
	switch {
	case m.panel != nil:
		return ""
	case m.asks.Open():
		return "Press y or n, then Enter"
	case m.turn != nil:
		return "Write the next message · " + m.keys.Send.Help().Key + " queues it"
	case m.welcome.Task() != nil:
		return m.keys.Send.Help().Key + " opens this task"
	case m.welcome.Question != "":
		return m.welcome.Question
	case m.welcomed():
		return "Ask your notes anything"
	}
	if m.offer != "" {
		return "→ " + m.offer + "   ↓ takes it"
	}
	return "Ask anything"
}

// body draws the conversation with the panel over it.
func (m *Model) body(width, height, top int) []string {
	lines := m.conversation(width, height, top)
	if m.panel != nil {
		lines = m.drawn.frame.Over(m.panel, draw.PadHeight(lines, height), width, &m.keys, m.theme)
	}
	return lines
}

// conversation draws the transcript, or the welcome before the first question.
func (m *Model) conversation(width, height, top int) []string {
	m.transcript.Resize(width, height)
	m.drawn.bodyTop = top
	notices, _ := m.transcript.Notices()
	_, first := m.panel.(*panel.FirstRun)
	empty := len(m.transcript.Entries) == 0
	switch {
	case first, empty && m.Options.Inline && m.turns > 0: // it was printed
		return nil
	case m.welcomed():
		room := height - len(notices)
		if m.Options.Inline {
			room = 0 // it stands below what the terminal shows
		}
		lines := append(m.smallWelcome(width, room), notices...)
		if empty || len(lines) <= height {
			return draw.PadHeight(lines, height)
		}
	}
	m.welcome.Hide()
	return m.transcript.View()
}

// smallWelcome draws the welcome for a window in which the composer is at the bottom.
func (m *Model) smallWelcome(width, height int) []string {
	opening, column := m.Options.Opener != nil, draw.ColumnOf(width)
	m.welcome.Update(m.status, opening)
	m.welcome.Earlier = len(m.composer.History) > 0
	mark := m.welcome.Mark(column, m.status, opening, m.theme)
	if height < 14 || width < 40 {
		mark = mark[len(mark)-1:] // the header has the name
	}
	lines := append(draw.PadHeight(nil, max(0, height-14)/2), append(mark, "")...)
	return append(lines, m.welcome.Rows(column, max(1, height-len(lines)), len(lines), &m.keys, m.theme)...)
}

// leastAsked is the minimum number of lines of a dialog with the queue below it.
const leastAsked = 8

// aboveComposer draws what is next to the composer: an offer, a pull, a list, the queue.
// What covers the conversation, a dialog or the palette, is among it if the window has no
// room for it in the middle, or if inPlace is set.
func (m *Model) aboveComposer(width, height int, inPlace bool) (above, cover []string) {
	now, most := time.Now(), height
	column := draw.ColumnOf(width)
	inside := column.Width()
	waiting := m.composer.Waiting(&m.keys, inside, m.theme, m.turn != nil)
	roomy := !inPlace && panel.Roomy(width, height-len(waiting))
	switch {
	case roomy:
		most = panel.MostRows(width, height-len(waiting)) + len(waiting)
	case height > 14:
		most -= 3 // for the end of the conversation
	}
	if m.asks.Open() {
		waiting = waiting[:min(len(waiting), max(0, most-leastAsked))]
		cover = m.asks.View(inside, most-len(waiting), &m.keys, m.composer.Text(), m.theme, now)
	} else {
		if m.resumable != nil && m.resumable.Offered && m.turn == nil {
			above = dialog.OfferToResume(m.composer.Empty(), inside, height, &m.keys, m.theme)
		}
		if m.panel == nil {
			cover = m.lists.View(inside, max(1, height-2), &m.keys, m.theme)
		}
	}
	if m.drawn.list = len(above); !roomy || m.lists.Mentions.Open() {
		above, cover = append(above, cover...), nil
	}
	return indented(append(above, waiting...), column.Left), cover
}

// header draws the first line and a blank one: the question above the visible part or the
// title, and the model, if the composer has no row for it or it does not answer, and the
// number of notes.
func (m *Model) header(width int, rows rows) []string {
	status := m.status
	status.Silent = m.unreachable
	if rows.Mode && !status.Silent {
		status.Model = ""
	}
	parts, asked, title := status.Parts(width), m.transcript.QuestionAbove(), m.chat.title
	if m.transcript.ShowsQuestion(title) {
		title = ""
	}
	key := fmt.Sprint(width, parts, asked, title)
	return []string{m.drawn.lines.header.Get(m.theme, key, func() string {
		return headerLine(width, asked, title, parts, m.theme)
	}), ""}
}

// statusLine draws the last line: the current activity, what left the machine, the speed of
// the answer, and the keys that matter now.
func (m *Model) statusLine(width int) string {
	doing, keys, figures := m.doing(draw.ColumnOf(width).TextWidth()), m.hints(), []string{sentText(m.status.Sent)}
	if m.hasSidebar() { // shown there
		figures = nil
	}
	if t := m.turn; t != nil && !t.shown.Stopped && t.speed.PerSecond > 0 {
		figures = append([]string{fmt.Sprintf("%.0f tok/s", t.speed.PerSecond)}, figures...)
	}
	key := fmt.Sprint(width, doing, keys, figures)
	return m.drawn.lines.status.Get(m.theme, key, func() string {
		return statusLine(width, doing, figures, keys, m.theme)
	})
}

// hints are the keys that matter now.
func (m *Model) hints() []string {
	k := &m.keys
	asked, question := m.transcript.Item(m.transcript.Chosen).(*transcript.Question)
	switch {
	case m.asks.Open(), m.panel != nil, m.lists.Open() && !m.focused: // its keys are in its frame
		return nil
	case m.focused && question && len(asked.Siblings) > 1 && m.Options.Branches != nil:
		return []string{
			panel.Hint(k.EarlierBranch, "") + panel.Hint(k.LaterBranch, "alternatives"),
			panel.Hint(k.Edit, "edit"), panel.Hint(k.Retry, "retry"), panel.Hint(k.Back, "back"),
		}
	case m.focused && question && m.Options.Branches != nil:
		return []string{
			panel.Hint(k.Next, "next"), panel.Hint(k.Edit, "edit"), panel.Hint(k.Retry, "retry"),
			panel.Hint(k.Copy, "copy"), panel.Hint(k.Back, "back"),
		}
	case m.focused:
		hints := []string{panel.Hint(k.Next, "next"), panel.Hint(k.Copy, "copy"), panel.Hint(k.Back, "back")}
		if m.transcript.Opens() {
			hints = slices.Insert(hints, 2, panel.Hint(k.Open, "open"))
			hints = slices.Insert(hints, 1, panel.Hint(k.Fold, "fold"))
		}
		return hints
	case m.transcript.Below() > 0:
		return []string{
			panel.Hint(k.Palette, "commands"), fmt.Sprintf("↓ %d more", m.transcript.Below()),
			panel.Hint(k.Bottom, "to the end"), panel.Hint(k.HelpOnEmpty, "help"),
		}
	}
	if m.turn.takesSteering() && !m.composer.Empty() {
		return []string{panel.Hint(k.Send, "queues it"), panel.Hint(k.Steer, "sends it to this turn")}
	}
	var hints []string
	if m.Options.Notes != nil || m.Options.Opener != nil {
		hints = append(hints, "@ notes")
	}
	if !m.welcomed() {
		hints = append(hints, panel.Hint(k.Focus, "conversation"))
	}
	if m.turn != nil {
		return append(hints, panel.Hint(k.HelpOnEmpty, "help"))
	}
	if m.Options.Modes != nil && !m.withoutModel() {
		hints = append(hints, panel.Hint(k.Mode, "mode"))
	}
	return append(hints, panel.Hint(k.Palette, "commands"), panel.Hint(k.HelpOnEmpty, "help"))
}

// printOver prints finished items into the terminal's own scrollback. It does nothing on the
// alternate screen.
func (m *Model) printOver() tea.Cmd {
	t := &m.transcript
	if !m.Options.Inline || m.turn != nil || len(t.Entries) == 0 || m.term.width <= 0 {
		return nil
	}
	lines := t.Printed()
	draw.Grounded(lines, m.term.width, m.theme)
	text := strings.Join(lines, "\n") + "\n"
	m.unfocus()
	t.Clear()
	return tea.Println(text)
}
