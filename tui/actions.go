package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// focus gives the keys to the transcript, unfocus back to the composer.
func (m *Model) focus() {
	if !m.focused && !m.asked() {
		m.transcript.focus()
		m.focused = m.transcript.chosen >= 0
	}
}

func (m *Model) unfocus() {
	m.focused = false
	m.transcript.choose(-1, 0)
}

func (m *Model) foldChosen() {
	t := &m.transcript
	switch f := t.item(t.chosen).(type) {
	case foldable:
		row := t.rowOf(t.chosen)
		f.fold(!f.folded())
		t.touch(f)
		if row >= 0 { // its heading stays where the user looks
			t.lookAt(t.from(spot{t.chosen, 0}, -row))
		}
	case *sources:
		f.preview = !f.preview
		t.touch(f)
		t.reveal()
	}
}

// jump puts the next question, or the one before, at the top of what is in
// sight.
func (m *Model) jump(by int) {
	t := &m.transcript
	if len(t.entries) == 0 {
		return
	}
	from := t.start()
	at := from.entry
	if by < 0 && from.line > 0 {
		at++ // the question above may be the one that is half in sight
	}
	for at += by; at >= 0 && at < len(t.entries); at += by {
		if _, ok := t.entries[at].item.(*question); ok {
			t.lookAt(spot{at, 0})
			return
		}
	}
	if by > 0 {
		t.toEnd()
	} else {
		t.lookAt(spot{})
	}
}

// searchHistory opens the earlier prompts as a list that typing filters.
func (m *Model) searchHistory() {
	history := m.composer.history
	p := picker{title: "Earlier prompts", empty: "nothing was asked yet", filter: safetext.Line(m.composer.text())}
	for _, prompt := range history {
		p.rows = append(p.rows, draw.Row{Label: prompt})
	}
	p.pick = func(at int) tea.Cmd {
		m.composer.set(safetext.Text(history[at]))
		return nil
	}
	if m.cover(pickerOverlay) {
		m.picker = p
	}
}

// callUser rings when the window is out of sight: a bell, and a
// notification where the terminal knows OSC 9. Both are our own words.
func (m *Model) callUser(what string) tea.Cmd {
	if !m.blurred || m.player != nil || m.Quiet {
		return nil
	}
	return tea.Raw("\a\x1b]9;LifeHub: " + what + "\x1b\\")
}

// foldPlans folds all plans to their heading, or unfolds them.
func (m *Model) foldPlans() {
	m.planHidden = !m.planHidden
	for _, e := range m.transcript.entries {
		if p, ok := e.item.(*plan); ok && p.hidden != m.planHidden {
			p.hidden = m.planHidden
			m.transcript.touch(p)
		}
	}
}

// unfold shows or hides the details of all tools and thoughts.
func (m *Model) unfold() {
	m.unfolded = !m.unfolded
	m.transcript.foldAll(!m.unfolded, func(item) bool { return true })
}

// copyChosen puts what is chosen on the clipboard.
func (m *Model) copyChosen() tea.Cmd {
	if i := m.transcript.item(m.transcript.chosen); i != nil {
		return m.clip(i.copied())
	}
	return nil
}

// copyAnswer copies the last answer, or with a number that code block of it.
func (m *Model) copyAnswer(number string) tea.Cmd {
	a := m.lastAnswer()
	if number == "" && a != nil {
		return m.clip(a.copied())
	}
	n, err := strconv.Atoi(number)
	if err != nil && a != nil {
		m.flash("usage: /copy [NUMBER OF A CODE BLOCK]")
		return nil
	}
	return m.copyCode(a, n)
}

func (m *Model) copyCode(a *answer, n int) tea.Cmd {
	if a == nil {
		m.flash("no answer to copy yet")
		return nil
	}
	blocks := codeBlocks(a.copied())
	if n < 1 || n > len(blocks) {
		m.flash("the answer has " + draw.Count(len(blocks), "code block"))
		return nil
	}
	return m.clip(blocks[n-1])
}

// lastAnswer returns the newest answer, nil when there is none.
func (m *Model) lastAnswer() *answer {
	for at := len(m.transcript.entries) - 1; at >= 0; at-- {
		if a, ok := m.transcript.entries[at].item.(*answer); ok {
			return a
		}
	}
	if m.Inline && m.last != nil {
		return m.last.answer // it was printed
	}
	return nil
}

// goToSources gives the keys to the sources of the last answer.
func (m *Model) goToSources() {
	for at := len(m.transcript.entries) - 1; at >= 0; at-- {
		if _, ok := m.transcript.entries[at].item.(*sources); ok {
			m.focused = true
			m.transcript.choose(at, 0)
			m.transcript.reveal()
			return
		}
	}
	m.flash("no sources yet")
}

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	lines := 3
	if msg.Button == tea.MouseWheelUp {
		lines = -lines
	}
	switch m.overlay {
	case helpOverlay:
		m.help.top = max(0, m.help.first(m.bodyHeight())+lines)
	case noOverlay:
		m.transcript.scroll(lines)
	}
}

// click gives the keys to the item under the mouse, or to the composer.
func (m *Model) click(msg tea.MouseClickMsg) {
	if msg.Button != tea.MouseLeft || m.overlay != noOverlay || m.asked() {
		return
	}
	line := msg.Y - m.bodyTop()
	if line < 0 || line >= len(m.transcript.shown) || !m.composer.empty() {
		m.unfocus()
		return
	}
	at := m.transcript.shown[line]
	part := 0
	if s, ok := m.transcript.item(at).(*sources); ok {
		first := 0
		for n, shown := range m.transcript.shown {
			if shown == at {
				first = n
				break
			}
		}
		part = max(0, min(line-first-1, s.parts()-1))
	}
	m.focused = true
	m.transcript.choose(at, part)
}

// newConversation leaves the open one as it is and begins another.
func (m *Model) newConversation() tea.Cmd {
	if m.busy() {
		return nil
	}
	m.suggest("")
	m.conversation, m.title, m.used, m.speed, m.last, m.editing = "", "", 0, 0, nil, nil
	m.window = window{}
	m.openings++
	m.transcript.clear()
	m.focused = false
	return nil
}

type (
	// pickMsg opens a list once its rows are known.
	pickMsg struct {
		picker picker
		err    error
	}
	// openedMsg brings a kept conversation.
	openedMsg struct {
		id, title string
		exchanges []agent.Exchange
		at        string // the turn to scroll to; "": the end
		focus     bool   // and to give the keys to
		said      string // markdown to show below
		err       error
	}
)

func (m *Model) openPicker(msg pickMsg) {
	if msg.err != nil {
		m.transcript.add(&failure{text: msg.err.Error()})
		return
	}
	if m.cover(pickerOverlay) {
		m.picker = msg.picker
	}
}

func (m *Model) openConversation(id, title string) tea.Cmd {
	return func() tea.Msg { return m.read(openedMsg{id: id, title: title}) }
}

// opened shows a kept conversation.
func (m *Model) opened(msg openedMsg) tea.Cmd {
	if msg.err != nil {
		m.transcript.add(&failure{text: msg.err.Error()})
		return nil
	}
	m.newConversation()
	m.conversation, m.title = msg.id, msg.title
	for _, exchange := range msg.exchanges {
		if m.title == "" {
			m.title = agent.PlainLine(exchange.Question)
		}
		for _, i := range m.keptItems(exchange) {
			m.transcript.add(i)
		}
	}
	m.leftOver(msg.exchanges)
	if msg.said != "" {
		m.transcript.add(&page{msg.said})
	}
	if msg.at != "" {
		m.scrollTo(msg.at, msg.focus)
	}
	if len(msg.exchanges) > 0 {
		m.transcript.earlier = msg.exchanges[0].After
	}
	rest := m.readEarlier()
	first := m.takeUnsent()
	if first == nil {
		first = m.askFirst()
	}
	return tea.Batch(rest, first, m.rearm())
}

// keptItems are a kept turn in the transcript.
func (m *Model) keptItems(exchange agent.Exchange) []item {
	kept := exchange.Answer
	items := []item{keptQuestion(exchange)}
	ending := ""
	switch {
	case exchange.Running:
		ending = "another LifeHub is at this right now"
	case exchange.Open:
		ending = "LifeHub was stopped in the middle of this"
	case kept.Cut:
		ending = "stopped"
	}
	parts := kept.Parts()
	if last := len(parts) - 1; ending != "" && (last < 0 || parts[last].Text == "") {
		parts = append(parts, agent.Part{})
	}
	for i, part := range parts {
		switch {
		case part.Done != nil:
			items = append(items, &done{log: part.Done, unfolded: m.unfolded})
		case i == len(parts)-1:
			items = append(items, keptAnswer(part.Text, ending))
		default:
			items = append(items, keptAnswer(part.Text, ""))
		}
	}
	if len(kept.Citations) > 0 {
		list := newSources(m.Host)
		for _, c := range kept.Citations {
			list.add(c, source(kept.Sources, c.N))
		}
		items = append(items, list)
	}
	if kept.Error != "" {
		items = append(items, &failure{text: kept.Error})
	}
	if kept.Effects != nil {
		items = append(items, &effects{kept.Effects})
	}
	return items
}

// source returns the source of a number.
func source(list []agent.Source, n int) agent.Source {
	for _, s := range list {
		if s.N == n {
			return s
		}
	}
	return agent.Source{}
}
