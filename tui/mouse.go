package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/frame"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// mouse scrolls with the wheel, selects with what is dragged, and takes the rest
// for clicks.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := tea.Position{X: msg.Mouse().X, Y: msg.Mouse().Y}
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		m.drawn.selection = frame.Selection{}
		if m.panel != nil {
			return m.updatePanel(msg)
		}
		m.transcript.Scroll(panel.WheelLines(msg))
	case tea.MouseClickMsg:
		top, bottom := 0, m.term.height
		if end := m.drawn.bodyTop + m.transcript.Height; at.Y >= m.drawn.bodyTop && at.Y < end {
			top, bottom = m.drawn.bodyTop, end
		}
		if m.drawn.selection = (frame.Selection{}); msg.Button == tea.MouseLeft {
			m.drawn.selection.Begin(at, frame.Gutter, m.term.width, top, bottom)
		}
	case tea.MouseMotionMsg:
		m.drawn.selection.Drag(at)
	case tea.MouseReleaseMsg:
		text, click := m.drawn.selection.End(strings.Split(m.drawn.picture.Content, "\n"))
		if click {
			return m.click(at.Y - m.drawn.bodyTop)
		}
		return m.clip(text)
	}
	return nil
}

// click opens or folds what is under the mouse and gives it the keys, or gives
// them back to the composer. What is being written stays there.
func (m *Model) click(line int) tea.Cmd {
	switch {
	case m.asks.Open():
		return nil
	case m.panel != nil:
		return m.updatePanel(m.drawn.frame.Click(line))
	case line < 0 || line >= len(m.transcript.Shown):
		m.unfocus()
		return nil
	}
	before, part := m.transcript.Chosen, m.transcript.Part
	m.transcript.ChooseLine(line)
	m.focused = true
	var cmd tea.Cmd
	switch i := m.transcript.Item(m.transcript.Chosen).(type) {
	case *transcript.Sources:
		if before == m.transcript.Chosen && part == m.transcript.Part {
			cmd = m.openSource(i.List[part])
		}
	case transcript.Foldable:
		m.transcript.FoldChosen()
	}
	if !m.composer.Empty() {
		m.unfocus()
	}
	return cmd
}
