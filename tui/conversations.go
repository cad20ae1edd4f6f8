package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/draw"
)

// pickLimit is how many conversations the list offers, hitLimit how many
// messages a search in it.
const (
	pickLimit = 500
	hitLimit  = 50
)

// listConversations opens the list of conversations. What is typed filters
// their titles, and finds messages by their words.
func (m *Model) listConversations() tea.Cmd {
	if m.Conversations == nil || m.busy() {
		return nil
	}
	return func() tea.Msg {
		p, list, err := conversationPicker(m.base, m.Conversations)
		p.pick = func(at int) tea.Cmd { return m.openConversation(list[at].ID, list[at].Title) }
		if m.Search != nil {
			p.none = "no title and no message holds that"
			p.search = m.searchMessages
		}
		return pickMsg{p, err}
	}
}

// conversationPicker lists the latest conversations.
func conversationPicker(ctx context.Context, from backend.Conversations) (picker, []agent.Conversation, error) {
	list, err := from.Recent(ctx, pickLimit)
	p := picker{title: "Conversations", empty: "no conversation yet"}
	for _, c := range list {
		p.rows = append(p.rows, draw.Row{Label: c.Title, Detail: fmt.Sprintf("%s · %s", draw.Count(c.Messages, "message"), draw.When(c.Updated, time.Now()))})
	}
	return p, list, err
}

// hitRows are found messages in a list.
func hitRows(hits []agent.Hit) (rows []draw.Row) {
	for _, h := range hits {
		rows = append(rows, draw.Row{Label: h.Excerpt, Detail: fmt.Sprintf("%s · %s", draw.Fit(h.Title, 24), draw.When(h.Time, time.Now()))})
	}
	return rows
}

// searchMessages finds messages for the list of conversations.
func (m *Model) searchMessages(words string) tea.Cmd {
	return func() tea.Msg {
		hits, err := m.Search(m.base, words, hitLimit)
		found := foundMsg{words: words, rows: hitRows(hits), err: err}
		found.pick = func(at int) tea.Cmd { return m.openTurn(hits[at]) }
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
