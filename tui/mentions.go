package tui

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// Mention is something that a message can name after an @.
type Mention struct {
	Name   string // what stands after the @
	Detail string
}

// Template is a prompt that a server has ready: a slash command that fills the
// composer.
type Template struct {
	Name   string // server:prompt
	Help   string
	Schema json.RawMessage // of its blanks, a flat object of texts; nil: none
	// Fill returns the text for the composer. It runs in the background.
	Fill func(ctx context.Context, values json.RawMessage) (string, error)
}

// mentions is the list above the composer while a name is typed after an @.
type mentions struct {
	rows   []Mention
	chosen int
	closed string // the text for which the user closed it
}

// mentioning is the word after the last @ of a text that is still being
// typed; false when there is none.
func mentioning(text string) (word string, ok bool) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 || strings.ContainsAny(text[at:], " \n\t") || at > 0 && !strings.ContainsRune(" \n\t(", rune(text[at-1])) {
		return "", false
	}
	return text[at+1:], true
}

// follow brings the list in line with what is typed.
func (p *mentions) follow(text string, all func() []Mention) {
	word, ok := mentioning(text)
	if !ok || all == nil || text == p.closed {
		p.rows = nil
		return
	}
	p.closed = ""
	var begins, holds []Mention
	for _, m := range all() {
		switch lower, typed := strings.ToLower(m.Name+" "+m.Detail), strings.ToLower(word); {
		case m.Name == word: // it is whole
		case strings.HasPrefix(lower, typed):
			begins = append(begins, m)
		case lettersInOrder(lower, typed):
			holds = append(holds, m)
		}
	}
	p.rows = append(begins, holds...)
	p.chosen = max(0, min(p.chosen, len(p.rows)-1))
}

// lettersInOrder tells whether all letters of typed stand in text, one after another.
func lettersInOrder(text, typed string) bool {
	for _, letter := range typed {
		at := strings.IndexRune(text, letter)
		if at < 0 {
			return false
		}
		text = text[at+len(string(letter)):]
	}
	return true
}

func (p *mentions) open() bool { return len(p.rows) > 0 }

// view shows at most height rows.
func (p *mentions) view(width, height int, look *theme) []string {
	rows := min(len(p.rows), height)
	from := max(0, min(p.chosen-rows/2, len(p.rows)-rows))
	var lines []string
	for at := from; at < from+rows; at++ {
		name, mark := "@"+safetext.Line(p.rows[at].Name), "  "
		detail := look.Dim.Render(fit(safetext.Line(p.rows[at].Detail), width/3))
		name = fit(name, max(8, width-4-cells(detail)))
		if at == p.chosen {
			mark, name = look.Selected.Render("› "), look.Selected.Render(name)
		}
		lines = append(lines, fit(mark+name+"  "+detail, width))
	}
	return lines
}

// pressMentions moves in the list, completes from it or closes it.
func (m *Model) pressMentions(pressed tea.KeyPressMsg) bool {
	p, c := &m.mentions, &m.composer
	switch {
	case key.Matches(pressed, m.keys.Stop):
		p.closed, p.rows = c.text(), nil
	case key.Matches(pressed, m.keys.Up):
		p.chosen = (p.chosen - 1 + len(p.rows)) % len(p.rows)
	case key.Matches(pressed, m.keys.Down):
		p.chosen = (p.chosen + 1) % len(p.rows)
	case pressed.String() == "tab", key.Matches(pressed, m.keys.Send):
		text := c.text()
		c.set(text[:strings.LastIndexByte(text, '@')+1] + safetext.Line(p.rows[p.chosen].Name) + " ")
		p.rows = nil
	default:
		return false
	}
	return true
}

// follow brings the lists above the composer in line with what is typed.
func (m *Model) follow() {
	text := m.composer.text()
	m.palette.follow(text, m.allCommands())
	m.mentions.follow(text, m.Mentions)
}

// templates are the prompts of servers as commands.
func (m *Model) templates() []command {
	if m.Templates == nil {
		return nil
	}
	var list []command
	for _, t := range m.Templates() {
		args := ""
		if t.Schema != nil {
			args = "…"
		}
		list = append(list, command{safetext.Line(t.Name), nil, args, safetext.Line(t.Help), func(m *Model, _ string) tea.Cmd { return m.useTemplate(t) }})
	}
	return list
}

// useTemplate asks for the blanks of a prompt, if it has any, and puts the
// filled prompt into the composer: what is sent is seen before.
func (m *Model) useTemplate(t Template) tea.Cmd {
	fill := func(values json.RawMessage) tea.Cmd {
		return func() tea.Msg {
			text, err := t.Fill(m.base, values)
			return filledMsg{text, err}
		}
	}
	if t.Schema == nil {
		return fill(json.RawMessage("{}"))
	}
	server, _, _ := strings.Cut(t.Name, ":")
	m.input.ask(agent.InputAsked{
		Question: agent.Question{From: server, Kind: agent.FormInput, Message: t.Help, Schema: t.Schema},
		Reply: func(given agent.Input) {
			if given.Action == agent.InputAccepted {
				m.afterInput = fill(given.Values)
			}
		},
	}, time.Now())
	m.input.entered = len(m.input.queue) == 1 // the user has asked for it
	return m.rearm()
}

// filledMsg brings a filled prompt.
type filledMsg struct {
	text string
	err  error
}

func (m *Model) filled(msg filledMsg) {
	if msg.err != nil {
		m.transcript.add(&failure{text: msg.err.Error()})
		return
	}
	m.composer.paste(msg.text)
}
