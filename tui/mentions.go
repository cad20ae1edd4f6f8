package tui

import (
	"encoding/json"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/composer"
	"lifehub/tui/dialog"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// pressMentions moves in the list, completes from it or closes it.
func (m *Model) pressMentions(pressed tea.KeyPressMsg) (cmd tea.Cmd, taken bool) {
	p, c := &m.mentions, &m.composer
	switch {
	case key.Matches(pressed, m.keys.Stop):
		p.Closed, p.Rows = c.Before(), nil
	case key.Matches(pressed, m.keys.Up):
		p.Chosen = (p.Chosen - 1 + len(p.Rows)) % len(p.Rows)
		return m.askPreview(), true
	case key.Matches(pressed, m.keys.Down):
		p.Chosen = (p.Chosen + 1) % len(p.Rows)
		return m.askPreview(), true
	case key.Matches(pressed, m.keys.Complete, m.keys.Send):
		text := composer.MentionText(p.Rows[p.Chosen])
		p.Rows = nil
		if strings.HasSuffix(text, "/") { // a folder: on with what is in it
			c.Replace(len(c.Before())-p.At-1, text)
			return m.follow(), true
		}
		c.Replace(len(c.Before())-p.At-1, text+" ")
	default:
		return nil, false
	}
	return nil, true
}

// follow brings the lists above the composer in line with what is typed.
func (m *Model) follow() tea.Cmd {
	if m.asks.Open() { // no list opens over it
		m.palette.Rows, m.mentions.Rows = nil, nil
		return nil
	}
	m.palette.Follow(m.composer.Text(), panel.Commands(&m.Options))
	if m.Mentions == nil {
		return nil
	}
	p := &m.mentions
	if !p.Follow(m.composer.Before()) {
		return m.askPreview()
	}
	at, place := p.At, p.Place
	return func() tea.Msg {
		list, err := m.Mentions(m.base, place)
		return composer.MentionsMsg{At: at, Place: place, List: list, Err: err}
	}
}

// takeMentions shows what can be named.
func (m *Model) takeMentions(msg composer.MentionsMsg) tea.Cmd {
	if msg.Err != nil {
		m.flash(msg.Err.Error())
	}
	if !m.mentions.Take(msg) {
		return nil
	}
	return m.follow()
}

// askPreview asks for the beginning of what the chosen name stands for.
func (m *Model) askPreview() tea.Cmd {
	p := &m.mentions
	if m.Preview == nil || !p.Open() || p.Asked == p.Rows[p.Chosen].Name {
		return nil
	}
	name := p.Rows[p.Chosen].Name
	p.Asked = name
	return func() tea.Msg { return composer.PreviewMsg{Name: name, Text: m.Preview(m.base, name)} }
}

// useTemplate asks for the blanks of a prompt that were not given, if it has
// any, and puts the filled prompt into the composer: what is sent is seen before.
func (m *Model) useTemplate(t backend.Template, given string) tea.Cmd {
	fill := func(values json.RawMessage) tea.Cmd {
		return func() tea.Msg {
			text, err := t.Fill(m.base, values)
			return filledMsg{text, err}
		}
	}
	if t.Schema == nil {
		return fill(json.RawMessage("{}"))
	}
	blanks := dialog.NewBlanks(t.Schema, given)
	if len(blanks.Given) > 0 && blanks.Check(blanks.Values()) == nil {
		return fill(blanks.Values())
	}
	server, _, _ := strings.Cut(t.Name, ":")
	rearm := m.askInput(agent.InputAsked{
		Question: agent.Question{From: server, Kind: agent.FormInput, Message: t.Help, Schema: blanks.Schema(), Check: blanks.Check},
		Reply: func(given agent.Input) {
			if given.Action == agent.InputAccepted {
				m.afterInput = fill(given.Values)
			}
		},
	})
	m.asks.Input.Entered = m.asks.AsksInput() && len(m.asks.Input.Queue) == 1 // the user has asked for it
	return rearm
}

// filledMsg brings a filled prompt.
type filledMsg struct {
	text string
	err  error
}

func (m *Model) filled(msg filledMsg) {
	if msg.err != nil {
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		return
	}
	m.composer.Paste(msg.text)
}
