package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// screenCommands is what the screen does for each of its own commands that is
// no page of package panel.
func screenCommands() map[string]func(m *Model, args string) tea.Cmd {
	none := func(do func(m *Model) tea.Cmd) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd { return do(m) }
	}
	return map[string]func(m *Model, args string) tea.Cmd{
		"help":      none(func(m *Model) tea.Cmd { m.cover(m.newHelp()); return nil }),
		"new":       none((*Model).newConversation),
		"copy":      (*Model).copyAnswer,
		"context":   none((*Model).showContext),
		"sources":   none(func(m *Model) tea.Cmd { m.goToSources(); return nil }),
		"theme":     func(m *Model, name string) tea.Cmd { m.chooseTheme(name); return nil },
		"resume":    none((*Model).listConversations),
		"continue":  none((*Model).proceed),
		"edit":      (*Model).editBack,
		"retry":     none(func(m *Model) tea.Cmd { return m.retry(m.transcript.QuestionBack(1)) }),
		"tree":      none((*Model).listTree),
		"fork":      none(func(m *Model) tea.Cmd { return m.fork(m.lastTurn()) }),
		"rename":    (*Model).rename,
		"model":     (*Model).chooseModel,
		"pull":      (*Model).pull,
		"mode":      (*Model).chooseMode,
		"artifacts": (*Model).listArtifacts,
		"mcp":       none((*Model).openServers),
		"quit":      none(func(m *Model) tea.Cmd { return m.leave(backend.Quit) }),
	}
}

// do runs a command.
func (m *Model) do(c backend.Command, args string) tea.Cmd {
	switch {
	case c.Own():
		if page := panel.PageOf(c.Name); page != nil {
			return m.openPage(page, args)
		}
		return screenCommands()[c.Name](m, args)
	case c.Template != nil:
		return m.useTemplate(*c.Template, args)
	}
	return m.runCommand(c, args)
}

// command runs what was typed after a slash. It reports false for text that
// is no command.
func (m *Model) command(text string) (tea.Cmd, bool) {
	typed, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok || strings.Contains(text, "\n") {
		return nil, false
	}
	name, args, _ := strings.Cut(typed, " ")
	c := backend.Find(panel.Commands(&m.Options), name)
	if c == nil {
		m.flash("no command is called /" + safetext.Line(name))
		return nil, true
	}
	m.composer.Clear()
	return m.do(*c, strings.TrimSpace(args)), true
}

// runCommand runs a command of another room in the background.
func (m *Model) runCommand(c backend.Command, args string) tea.Cmd {
	switch {
	case c.Turn != nil:
		return m.runTurn(c, args)
	case c.Prompt != nil:
		return m.askPrompt(c, args)
	}
	if c.Reload && m.busy() {
		return nil
	}
	ctx, conversation := m.base, m.conversation
	return func() tea.Msg {
		if c.Begin != nil {
			begin, err := c.Begin(ctx, conversation, args)
			if begin != nil || err != nil {
				return beginMsg{asked: "/" + strings.TrimSpace(c.Name+" "+args), begin: begin, err: err}
			}
		}
		text, err := c.Result(ctx, conversation, args)
		return pageMsg{text: text, err: err, reload: c.Reload && conversation != ""}
	}
}

// beginMsg is a turn that a command began.
type beginMsg struct {
	asked string
	begin backend.Turn
	err   error
}

// begin runs a command's turn; while another one is under way the line goes
// back to the composer.
func (m *Model) begin(msg beginMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		m.transcript.Add(&transcript.Failure{Text: msg.err.Error()})
		m.transcript.ToEnd()
		return nil
	case m.busy():
		m.composer.Set(msg.asked)
		return nil
	}
	m.composer.Remember(msg.asked)
	return m.startTurn(msg.asked, nil, msg.begin)
}

// runTurn runs a command that is a turn of its own, now or when its turn comes.
func (m *Model) runTurn(c backend.Command, args string) tea.Cmd {
	asked := "/" + strings.TrimSpace(c.Name+" "+args)
	switch {
	case args == "" && !strings.HasPrefix(c.Args, "["):
		m.flash("usage: /" + c.Name + " " + c.Args)
		m.composer.Set(asked + " ")
		return nil
	case m.turn != nil:
		m.composer.Wait(asked, -1)
		return nil
	}
	m.composer.Remember(asked)
	return m.startTurn(asked, nil, func(ctx context.Context, conversation, asked string) <-chan agent.Event {
		return c.Turn(ctx, conversation, asked, args)
	})
}

// askPrompt asks a prompt that is kept, now or when its turn comes.
func (m *Model) askPrompt(c backend.Command, args string) tea.Cmd {
	text, err := c.Prompt(args)
	if err != nil {
		m.transcript.Add(&transcript.Failure{Text: err.Error()})
		return nil
	}
	m.composer.Remember("/" + strings.TrimSpace(c.Name+" "+args))
	if m.turn != nil {
		m.composer.Wait(text, -1)
		return nil
	}
	return m.ask(text)
}

// askQueued asks what waited, or runs it when it is a command.
func (m *Model) askQueued(text string) tea.Cmd {
	draft := m.composer.SetAside()
	if cmd, ok := m.command(text); ok {
		m.composer.TakeUp(draft) // the command emptied it
		return cmd
	}
	return m.ask(text)
}

type pageMsg struct {
	text   string
	err    error
	reload bool // the conversation is read again before it is shown
}
