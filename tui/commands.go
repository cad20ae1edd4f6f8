package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// command is what can be typed after a slash.
type command struct {
	name    string
	aliases []string
	args    string
	help    string
	run     func(m *Model, args string) tea.Cmd
	plain   func(p *plain, ctx context.Context, args string) error // the same in a chat by lines
}

// allCommands returns the slash commands that have something behind them.
func (o *Options) allCommands() []command {
	list := []command{
		{"help", []string{"h", "?"}, "", "keys and commands", func(m *Model, _ string) tea.Cmd { m.cover(helpOverlay); return nil }, (*plain).help},
		{"new", []string{"clear"}, "", "a new conversation", func(m *Model, _ string) tea.Cmd { return m.newConversation() }, (*plain).newConversation},
		{"copy", nil, "[N]", "copy the last answer, or its code block N", func(m *Model, args string) tea.Cmd { return m.copyAnswer(args) }, (*plain).copyAnswer},
		{"context", nil, "", "what fills the model's window", func(m *Model, _ string) tea.Cmd { return m.showContext() }, (*plain).showContext},
		{"sources", nil, "", "go to the sources of the last answer", func(m *Model, _ string) tea.Cmd { m.goToSources(); return nil }, (*plain).showSources},
		{"theme", nil, "[NAME]", "the colours of this run", func(m *Model, args string) tea.Cmd { m.chooseTheme(args); return nil }, (*plain).chooseTheme},
	}
	if o.Conversations != nil {
		list = append(list, command{"resume", []string{"sessions"}, "", "open an earlier conversation", func(m *Model, _ string) tea.Cmd { return m.listConversations() }, (*plain).listConversations})
	}
	if o.Resume != nil {
		list = append(list, command{"continue", nil, "", "go on with an answer that was cut off or stopped", func(m *Model, _ string) tea.Cmd { return m.proceed() }, (*plain).proceed})
	}
	if o.Branches != nil {
		list = append(list,
			command{"edit", nil, "[N]", "change your last question, or the Nth from the end", func(m *Model, args string) tea.Cmd { return m.editBack(args) }, (*plain).editBack},
			command{"retry", nil, "", "ask your last question once more", func(m *Model, _ string) tea.Cmd { return m.retry(m.questionBack(1)) }, (*plain).retry},
			command{"tree", nil, "", "all branches of this conversation", func(m *Model, _ string) tea.Cmd { return m.listTree() }, (*plain).listTree},
			command{"fork", nil, "", "go on in a conversation of its own", func(m *Model, _ string) tea.Cmd { return m.fork(m.lastTurn()) }, (*plain).forkLast})
	}
	if o.Rename != nil {
		list = append(list, command{"rename", nil, "TITLE", "give this conversation a title", func(m *Model, args string) tea.Cmd { return m.rename(args) }, (*plain).rename})
	}
	if o.Models != nil {
		list = append(list,
			command{"model", []string{"m"}, "[NAME]", "choose a model", func(m *Model, args string) tea.Cmd { return m.chooseModel(args) }, (*plain).chooseModel},
			command{"pull", nil, "NAME", "fetch a model from the server's library", func(m *Model, args string) tea.Cmd { return m.pull(args) }, (*plain).pull})
	}
	if o.UseMode != nil {
		list = append(list, command{"mode", nil, "[plan|loop|team]", "how the next questions are worked on", func(m *Model, args string) tea.Cmd { return m.chooseMode(args) }, (*plain).chooseMode})
	}
	if o.Artifacts != nil {
		list = append(list, command{"artifacts", nil, "[NAME]", "documents of this conversation: versions and what each changed", func(m *Model, args string) tea.Cmd { return m.listArtifacts(args) }, (*plain).listArtifacts})
	}
	if o.Figures != nil {
		list = append(list, command{"stats", nil, "[day|model|turn]", "times, tokens, searches and tool calls so far", func(m *Model, args string) tea.Cmd { return m.openStats(args) }, (*plain).stats})
	}
	if o.Servers != nil {
		list = append(list, command{"mcp", nil, "", "the MCP servers: state, cost, log, trust", func(m *Model, _ string) tea.Cmd { return m.openServers() }, (*plain).listServers})
	}
	for _, other := range o.Commands {
		if find(list, other.Name) != nil {
			continue // the screen has a panel for it
		}
		list = append(list, command{
			other.Name, nil, other.Args, other.Help, func(m *Model, args string) tea.Cmd { return m.runCommand(other, args) },
			func(p *plain, ctx context.Context, args string) error { return p.runCommand(ctx, other, args) },
		})
	}
	list = append(list, o.templates()...)
	return append(list, command{"quit", []string{"q", "exit", "bye"}, "", "leave", func(m *Model, _ string) tea.Cmd { return m.leave(Quit) }, (*plain).quit})
}

// find returns the command of a name, nil when there is none.
func find(commands []command, name string) *command {
	for i, c := range commands {
		if c.name == name || slices.Contains(c.aliases, name) {
			return &commands[i]
		}
	}
	return nil
}

// palette is the list of commands above the composer while one is typed.
type palette struct {
	rows   []command
	chosen int
	closed string // the text for which the user closed it
}

// follow brings the palette in line with what is typed.
func (p *palette) follow(text string, commands []command) {
	typed, isCommand := strings.CutPrefix(text, "/")
	if text != p.closed {
		p.closed = ""
	}
	if !isCommand || strings.ContainsAny(typed, " \n") || text == p.closed {
		p.rows = nil
		return
	}
	var rows []command
	for _, c := range commands {
		if strings.HasPrefix(c.name, typed) {
			rows = append(rows, c)
		}
	}
	for _, c := range commands {
		if !strings.HasPrefix(c.name, typed) && (strings.Contains(c.name, typed) || slices.ContainsFunc(c.aliases, func(a string) bool { return strings.HasPrefix(a, typed) })) {
			rows = append(rows, c)
		}
	}
	p.rows = rows
	p.chosen = max(0, min(p.chosen, len(rows)-1))
}

func (p *palette) open() bool { return len(p.rows) > 0 }

// move chooses another command, around at the ends.
func (p *palette) move(by int) { p.chosen = (p.chosen + by + len(p.rows)) % len(p.rows) }

// view shows at most height commands.
func (p *palette) view(width, height int, look *draw.Theme) []string {
	rows := min(len(p.rows), height)
	from := max(0, min(p.chosen-rows/2, len(p.rows)-rows))
	column := 0
	for _, c := range p.rows {
		column = max(column, draw.Cells(c.usage()))
	}
	column = min(column, max(6, width/2))
	var lines []string
	for at := from; at < from+rows; at++ {
		c := p.rows[at]
		lines = append(lines, draw.Row{Label: c.usage(), Detail: c.help}.Beside(at == p.chosen, column, width, look))
	}
	return lines
}

func (c command) usage() string { return strings.TrimSpace("/" + c.name + " " + c.args) }

// command runs what was typed after a slash. It reports false for text that
// is no command.
func (m *Model) command(text string) (tea.Cmd, bool) {
	typed, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok || strings.Contains(text, "\n") {
		return nil, false
	}
	name, args, _ := strings.Cut(typed, " ")
	c := find(m.allCommands(), name)
	if c == nil {
		m.flash("no command is called /" + safetext.Line(name))
		return nil, true
	}
	m.composer.clear()
	return c.run(m, strings.TrimSpace(args)), true
}

// runCommand runs a command of another room in the background.
func (m *Model) runCommand(c Command, args string) tea.Cmd {
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
		text, err := c.run(ctx, conversation, args)
		return pageMsg{text: text, err: err, reload: c.Reload && conversation != ""}
	}
}

// beginMsg is a turn that a command began.
type beginMsg struct {
	asked string
	begin Turn
	err   error
}

// begin runs a command's turn; while another one is under way the line goes
// back to the composer.
func (m *Model) begin(msg beginMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		m.transcript.add(&failure{text: msg.err.Error()})
		m.transcript.toEnd()
		return nil
	case m.busy():
		m.composer.set(msg.asked)
		return nil
	}
	m.composer.remember(msg.asked)
	return m.askBy(msg.asked, nil, msg.begin)
}

// runTurn runs a command that is a turn of its own, now or when its turn comes.
func (m *Model) runTurn(c Command, args string) tea.Cmd {
	asked := "/" + strings.TrimSpace(c.Name+" "+args)
	switch {
	case args == "" && !strings.HasPrefix(c.Args, "["):
		m.flash("usage: /" + c.Name + " " + c.Args)
		m.composer.set(asked + " ")
		return nil
	case m.turn != nil:
		m.composer.wait(asked, -1)
		return nil
	}
	m.composer.remember(asked)
	return m.askBy(asked, nil, func(ctx context.Context, conversation, asked string) <-chan agent.Event {
		return c.Turn(ctx, conversation, asked, args)
	})
}

// askPrompt asks a prompt that is kept, now or when its turn comes.
func (m *Model) askPrompt(c Command, args string) tea.Cmd {
	text, err := c.Prompt(args)
	if err != nil {
		m.transcript.add(&failure{text: err.Error()})
		return nil
	}
	m.composer.remember("/" + strings.TrimSpace(c.Name+" "+args))
	if m.turn != nil {
		m.composer.wait(text, -1)
		return nil
	}
	return m.ask(text)
}

// askQueued asks what waited, or runs it when it is a command.
func (m *Model) askQueued(text string) tea.Cmd {
	draft := m.composer.setAside()
	if cmd, ok := m.command(text); ok {
		m.composer.takeUp(draft) // the command emptied it
		return cmd
	}
	return m.ask(text)
}

type pageMsg struct {
	text   string
	err    error
	reload bool // the conversation is read again before it is shown
}
