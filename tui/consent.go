package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/dialog"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

type (
	// consentMsg brings the page on which a server's consent is given.
	consentMsg struct {
		server, page string
		stop         context.CancelFunc
	}
	// consentedMsg says that a consent is over.
	consentedMsg struct {
		server string
		err    error
	}
)

// giveConsent begins the consent of a server. It goes on in the background
// until the user has been on the page, or says no to it.
func (m *Model) giveConsent(server string) tea.Cmd {
	ctx, stop := context.WithCancel(m.base)
	pages := make(chan string, 1)
	give := func() tea.Msg {
		defer stop()
		defer close(pages)
		err := m.Servers.Consent(ctx, server, func(page string) { pages <- page })
		if ctx.Err() != nil {
			err = nil // the user's own no
		}
		return consentedMsg{server, err}
	}
	show := func() tea.Msg {
		if page, ok := <-pages; ok {
			return consentMsg{server, page, stop}
		}
		return nil
	}
	return tea.Batch(give, show)
}

// showConsent asks the user to go to the page.
func (m *Model) showConsent(msg consentMsg) tea.Cmd {
	return m.askInput(agent.InputAsked{
		ID: dialog.ConsentID + msg.server,
		Question: agent.Question{
			From: msg.server, Kind: agent.URLInput, URL: msg.page,
			Message: "wants your consent before it lets LifeHub in. Open this page in your browser; the chat goes on when you have been there.",
		},
		Reply: func(given agent.Input) {
			if given.Action != agent.InputAccepted {
				msg.stop()
			}
		},
	})
}

// consented takes the question away and says how it went.
func (m *Model) consented(msg consentedMsg) {
	m.typeLetters(m.asks.SettleInput(dialog.ConsentID + msg.server))
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
	}
	m.toldServer(panel.ServerDoneMsg{})
}
