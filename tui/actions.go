package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// focus gives the keys to the transcript, unfocus back to the composer.
func (m *Model) focus() {
	if !m.focused && !m.asked() {
		m.transcript.Focus()
		m.focused = m.transcript.Chosen >= 0
	}
}

func (m *Model) unfocus() {
	m.focused = false
	m.transcript.Choose(-1, 0)
}

func (m *Model) foldChosen() {
	t := &m.transcript
	switch f := t.Item(t.Chosen).(type) {
	case transcript.Foldable:
		row := t.RowOf(t.Chosen)
		f.Fold(!f.Folded())
		t.Touch(f)
		if row >= 0 { // its heading stays where the user looks
			t.LookAt(t.From(transcript.Spot{Entry: t.Chosen, Line: 0}, -row))
		}
	case *transcript.Sources:
		f.Preview = !f.Preview
		t.Touch(f)
		t.Reveal()
	}
}

// jump puts the next question, or the one before, at the top of what is in
// sight.
func (m *Model) jump(by int) {
	t := &m.transcript
	if len(t.Entries) == 0 {
		return
	}
	from := t.Start()
	at := from.Entry
	if by < 0 && from.Line > 0 {
		at++ // the question above may be the one that is half in sight
	}
	for at += by; at >= 0 && at < len(t.Entries); at += by {
		if _, ok := t.Entries[at].Item.(*transcript.Question); ok {
			t.LookAt(transcript.Spot{Entry: at, Line: 0})
			return
		}
	}
	if by > 0 {
		t.ToEnd()
	} else {
		t.LookAt(transcript.Spot{})
	}
}

// searchHistory opens the earlier prompts as a list that typing filters.
func (m *Model) searchHistory() {
	history := m.composer.History
	p := &panel.Picker{Title: "Earlier prompts", Empty: "nothing was asked yet", Filter: safetext.Line(m.composer.Text())}
	for _, prompt := range history {
		p.Rows = append(p.Rows, draw.Row{Label: prompt})
	}
	p.Pick = func(at int) tea.Cmd {
		m.composer.Set(safetext.Text(history[at]))
		return nil
	}
	m.cover(p)
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
	m.transcript.PlansHidden = !m.transcript.PlansHidden
	for _, e := range m.transcript.Entries {
		if p, ok := e.Item.(*transcript.Plan); ok && p.Hidden != m.transcript.PlansHidden {
			p.Hidden = m.transcript.PlansHidden
			m.transcript.Touch(p)
		}
	}
}

// unfold shows or hides the details of all tools and thoughts.
func (m *Model) unfold() {
	m.transcript.Unfolded = !m.transcript.Unfolded
	m.transcript.FoldAll(!m.transcript.Unfolded, func(transcript.Item) bool { return true })
}

// copyChosen puts what is chosen on the clipboard.
func (m *Model) copyChosen() tea.Cmd {
	if i := m.transcript.Item(m.transcript.Chosen); i != nil {
		return m.clip(i.Copied())
	}
	return nil
}

// copyAnswer copies the last answer, or with a number that code block of it.
func (m *Model) copyAnswer(number string) tea.Cmd {
	a := m.lastAnswer()
	if number == "" && a != nil {
		return m.clip(a.Copied())
	}
	n, err := strconv.Atoi(number)
	if err != nil && a != nil {
		m.flash("usage: /copy [NUMBER OF A CODE BLOCK]")
		return nil
	}
	return m.copyCode(a, n)
}

func (m *Model) copyCode(a *transcript.Answer, n int) tea.Cmd {
	if a == nil {
		m.flash("no answer to copy yet")
		return nil
	}
	blocks := transcript.CodeBlocks(a.Copied())
	if n < 1 || n > len(blocks) {
		m.flash("the answer has " + draw.Count(len(blocks), "code block"))
		return nil
	}
	return m.clip(blocks[n-1])
}

// lastAnswer returns the newest answer, nil when there is none.
func (m *Model) lastAnswer() *transcript.Answer {
	for at := len(m.transcript.Entries) - 1; at >= 0; at-- {
		if a, ok := m.transcript.Entries[at].Item.(*transcript.Answer); ok {
			return a
		}
	}
	if m.Inline && m.last != nil {
		return m.last.Answer // it was printed
	}
	return nil
}

// goToSources gives the keys to the sources of the last answer.
func (m *Model) goToSources() {
	for at := len(m.transcript.Entries) - 1; at >= 0; at-- {
		if _, ok := m.transcript.Entries[at].Item.(*transcript.Sources); ok {
			m.focused = true
			m.transcript.Choose(at, 0)
			m.transcript.Reveal()
			return
		}
	}
	m.flash("no sources yet")
}

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	if m.panel != nil {
		m.updatePanel(msg)
		return
	}
	m.transcript.Scroll(panel.WheelLines(msg))
}

// click gives the keys to the item under the mouse, or to the composer.
func (m *Model) click(msg tea.MouseClickMsg) {
	if msg.Button != tea.MouseLeft || m.panel != nil || m.asked() {
		return
	}
	line := msg.Y - m.bodyTop()
	if line < 0 || line >= len(m.transcript.Shown) || !m.composer.Empty() {
		m.unfocus()
		return
	}
	at := m.transcript.Shown[line]
	part := 0
	if s, ok := m.transcript.Item(at).(*transcript.Sources); ok {
		first := 0
		for n, shown := range m.transcript.Shown {
			if shown == at {
				first = n
				break
			}
		}
		part = max(0, min(line-first-1, s.Parts()-1))
	}
	m.focused = true
	m.transcript.Choose(at, part)
}

// newConversation leaves the open one as it is and begins another.
func (m *Model) newConversation() tea.Cmd {
	if m.busy() {
		return nil
	}
	m.suggest("")
	m.conversation, m.title, m.used, m.speed, m.last, m.editing = "", "", 0, 0, nil, nil
	m.window = transcript.Window{}
	m.openings++
	m.transcript.Clear()
	m.focused = false
	return nil
}

type (
	// pickMsg opens a list once its rows are known.
	pickMsg struct {
		picker panel.Picker
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
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return
	}
	m.cover(&msg.picker)
}

func (m *Model) openConversation(id, title string) tea.Cmd {
	return func() tea.Msg { return m.read(openedMsg{id: id, title: title}) }
}

// opened shows a kept conversation.
func (m *Model) opened(msg openedMsg) tea.Cmd {
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return nil
	}
	m.newConversation()
	m.conversation, m.title = msg.id, msg.title
	for _, exchange := range msg.exchanges {
		if m.title == "" {
			m.title = agent.PlainLine(exchange.Question)
		}
		for _, i := range m.keptItems(exchange) {
			m.transcript.Add(i)
		}
	}
	m.leftOver(msg.exchanges)
	if msg.said != "" {
		m.transcript.Add(&transcript.Page{Source: msg.said})
	}
	if msg.at != "" {
		m.scrollTo(msg.at, msg.focus)
	}
	if len(msg.exchanges) > 0 {
		m.transcript.Earlier = msg.exchanges[0].After
	}
	rest := m.readEarlier()
	first := m.takeUnsent()
	if first == nil {
		first = m.askFirst()
	}
	return tea.Batch(rest, first, m.rearm())
}

// keptItems are a kept turn in the transcript.
func (m *Model) keptItems(exchange agent.Exchange) []transcript.Item {
	kept := exchange.Answer
	items := []transcript.Item{transcript.KeptQuestion(exchange)}
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
			items = append(items, &transcript.Done{Log: part.Done, Unfolded: m.transcript.Unfolded})
		case i == len(parts)-1:
			items = append(items, transcript.KeptAnswer(part.Text, ending))
		default:
			items = append(items, transcript.KeptAnswer(part.Text, ""))
		}
	}
	if len(kept.Citations) > 0 {
		list := transcript.NewSources(m.transcript.Host)
		for _, c := range kept.Citations {
			list.Add(c, transcript.Source(kept.Sources, c.N))
		}
		items = append(items, list)
	}
	if kept.Error != "" {
		items = append(items, &transcript.Failure{Text: kept.Error})
	}
	if kept.Effects != nil {
		items = append(items, &transcript.Effects{Effects: kept.Effects})
	}
	return items
}
