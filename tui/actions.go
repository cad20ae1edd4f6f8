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
	if !m.focused && !m.asks.Open() {
		m.transcript.Focus()
		m.focused = m.transcript.Chosen >= 0
	}
}

func (m *Model) unfocus() {
	m.focused = false
	m.transcript.Choose(-1, 0)
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

// notify rings when the window is out of sight: a bell, and a
// notification where the terminal knows OSC 9. Both are our own words.
func (m *Model) notify(what string) tea.Cmd {
	if !m.blurred || m.player != nil || m.Quiet {
		return nil
	}
	return tea.Raw("\a\x1b]9;LifeHub: " + what + "\x1b\\")
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
	if a := m.transcript.LastAnswer(); a != nil {
		return a
	}
	if m.Inline && m.last != nil {
		return m.last.Answer // it was printed
	}
	return nil
}

// goToSources gives the keys to the sources of the last answer.
func (m *Model) goToSources() {
	if !m.transcript.ChooseSources() {
		m.flash("no sources yet")
		return
	}
	m.focused = true
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
	if msg.Button != tea.MouseLeft || m.panel != nil || m.asks.Open() {
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
		for _, i := range m.transcript.Kept(exchange) {
			m.transcript.Add(i)
		}
	}
	m.leftOver(msg.exchanges)
	if msg.said != "" {
		m.transcript.Add(&transcript.Page{Source: msg.said})
	}
	if msg.at != "" {
		if m.transcript.ScrollTo(msg.at, msg.focus) {
			m.focused = true
		}
	}
	if len(msg.exchanges) > 0 {
		m.transcript.Earlier = msg.exchanges[0].After
	}
	rest := m.readEarlier()
	first := m.takeUnsent()
	if first == nil {
		first = m.askFirst()
	}
	return tea.Batch(rest, first, m.redrawWhenArmed())
}
