package tui

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/panel"
)

// pickLimit is how many conversations the list offers, hitLimit how many
// messages a search in it.
const ()

// listConversations opens the list of conversations. What is typed filters
// their titles, and finds messages by their words.
func (m *Model) listConversations() tea.Cmd {
	if m.Conversations == nil || m.busy() {
		return nil
	}
	return func() tea.Msg {
		p, list, err := panel.ConversationPicker(m.base, m.Conversations)
		p.Pick = func(at int) tea.Cmd { return m.openConversation(list[at].ID, list[at].Title) }
		if m.Search != nil {
			p.None = "no title and no message holds that"
			p.Search = m.searchMessages
		}
		return pickMsg{p, err}
	}
}

// searchMessages finds messages for the list of conversations.
func (m *Model) searchMessages(words string) tea.Cmd {
	return func() tea.Msg {
		hits, err := m.Search(m.base, words, panel.HitLimit)
		found := panel.FoundMsg{Words: words, Rows: panel.HitRows(hits), Err: err}
		found.Pick = func(at int) tea.Cmd { return m.openTurn(hits[at]) }
		return found
	}
}

// openTurn opens the conversation of a message there.
func (m *Model) openTurn(h agent.Hit) tea.Cmd {
	return func() tea.Msg {
		if m.Branches != nil {
			if err := m.Branches.Show(m.base, h.Conversation, h.Turn); err != nil {
				return openedMsg{err: err}
			}
		}
		return m.read(openedMsg{id: h.Conversation, title: h.Title, at: h.Turn, focus: true})
	}
}

// titledMsg says that the user gave a conversation a title.
type titledMsg struct{ id, title string }

func (m *Model) takeTitle(msg titledMsg) {
	if msg.id == m.conversation {
		m.title = msg.title
	}
}

// rename gives the open conversation the user's own title.
func (m *Model) rename(title string) tea.Cmd {
	id := m.conversation
	if title == "" || id == "" {
		m.flash("usage: /rename TITLE, once something was asked")
		return nil
	}
	return func() tea.Msg {
		if err := m.Rename(m.base, id, title); err != nil {
			return pageMsg{err: err}
		}
		return titledMsg{id, title}
	}
}
