package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// screenCommands returns the implementations of the screen's own commands, except those that
// are pages of package panel.
func screenCommands() map[string]func(m *Model, args string) tea.Cmd {
	none := func(do func(m *Model) tea.Cmd) func(*Model, string) tea.Cmd {
		return func(m *Model, _ string) tea.Cmd { return do(m) }
	}
	return map[string]func(m *Model, args string) tea.Cmd{
		"help":     func(m *Model, topic string) tea.Cmd { return m.open(panel.OpenHelp(m.base, topic, m.newHelp())) },
		"new":      none((*Model).newConversation),
		"copy":     (*Model).copyAnswer,
		"context":  none((*Model).showContext),
		"sources":  none(func(m *Model) tea.Cmd { m.goToSources(); return nil }),
		"theme":    (*Model).chooseTheme,
		"find":     (*Model).find,
		"resume":   (*Model).listConversations,
		"continue": none((*Model).proceed),
		"edit":     (*Model).editBack,
		"retry":    none(func(m *Model) tea.Cmd { return m.retry(m.transcript.QuestionBack(1)) }),
		"tree":     none((*Model).listTree),
		"fork":     none(func(m *Model) tea.Cmd { return m.fork(m.transcript.LastTurn()) }),
		"rename":   (*Model).rename,
		"model":    (*Model).chooseModel,
		"pull":     (*Model).startPull,
		"mode":     (*Model).chooseMode,
		"artifacts": func(m *Model, name string) tea.Cmd {
			return panel.OpenArtifacts(m.base, m.Options.Artifacts, m.chat.id, name)
		},
		"mcp":  none((*Model).openServers),
		"quit": none(func(m *Model) tea.Cmd { return m.leave(chat.Quit) }),
	}
}

// do runs a command.
func (m *Model) do(c chat.Command, args string) tea.Cmd {
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

// command runs a slash command. It reports false if text is not one.
func (m *Model) command(text string) (tea.Cmd, bool) {
	typed, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok || strings.Contains(text, "\n") {
		return nil, false
	}
	name, args, _ := strings.Cut(typed, " ")
	c := chat.Find(panel.Commands(&m.Options), name)
	if c == nil {
		m.flash(chat.Unknown(panel.Commands(&m.Options), name))
		return nil, true
	}
	m.composer.Clear()
	m.offer = ""
	if m.editing != nil { // the input was not another question
		m.stopEditing()
	}
	return m.do(*c, strings.TrimSpace(args)), true
}

// runCommand runs a command of the program in the background, or queues one that begins a turn while another
// is running.
func (m *Model) runCommand(c chat.Command, args string) tea.Cmd {
	line, atOnce := c.Line(args), c.Turn != nil || c.Prompt != nil
	switch {
	case c.Lacks(args):
		m.composer.Set(line + " ")
		return m.flash("usage: " + c.Usage())
	case atOnce && m.turn != nil:
		m.composer.Wait(line, -1)
		return nil
	case c.Reload && m.busy():
		return nil
	}
	ctx, conversation := m.base, m.chat.id
	start := func() tea.Msg {
		begin, message, text, err := c.Start(ctx, m.Options.Assistant, conversation, args)
		switch {
		case err != nil:
		case begin != nil:
			return then(func() tea.Cmd { return m.begin(line, message, begin) })
		case c.Document != "":
			return panel.OpenMsg{Panel: panel.NewListing(m.Options.Notes, c.Document, text)}
		}
		return panel.PageMsg{Text: text, Err: err, Reload: c.Reload && conversation != ""}
	}
	if atOnce { // before what is typed next
		return m.handleOwn(start())
	}
	return start
}

// begin begins the turn of a command, or queues the command if another turn has begun meanwhile.
func (m *Model) begin(line, message string, begin chat.TurnStarter) tea.Cmd {
	if m.turn != nil {
		m.composer.Wait(line, -1)
		return nil
	}
	m.composer.Remember(line)
	return m.startTurn(message, nil, begin)
}

// askQueued asks a queued message, or runs it if it is a command.
func (m *Model) askQueued(text string) tea.Cmd {
	draft := m.composer.Stash()
	if cmd, ok := m.command(text); ok {
		m.composer.Unstash(draft) // the command emptied it
		return cmd
	}
	return m.ask(text)
}

// copyAnswer copies the last answer, or one of its code blocks by number.
func (m *Model) copyAnswer(number string) tea.Cmd {
	a := m.lastAnswer()
	if number == "" && a != nil {
		return m.clip(a.Copied())
	}
	n, err := strconv.Atoi(number)
	if err != nil && a != nil {
		return m.flash("usage: /copy [NUMBER OF A CODE BLOCK]")
	}
	return m.copyCode(a, n)
}

// goToSources focuses the sources of the last answer.
func (m *Model) goToSources() {
	if !m.transcript.ChooseSources() {
		m.flash("no sources yet")
		return
	}
	m.focused = true
}

// useTemplate asks for missing values of a prompt and puts the filled prompt into the
// composer, so that the user sees it before it is sent.
func (m *Model) useTemplate(t chat.Template, given string) tea.Cmd {
	fill := func(values map[string]string) tea.Cmd {
		return func() tea.Msg {
			text, err := m.Options.Templates.Fill(m.base, t.Name, values)
			if err != nil {
				return panel.PageMsg{Err: err}
			}
			return then(func() tea.Cmd {
				m.composer.Ask("prompt "+t.Name, text)
				return m.flash(safetext.Line(text))
			})
		}
	}
	blanks := dialog.NewBlanks(t.Blanks, given)
	if blanks.Complete() {
		return fill(blanks.Given)
	}
	rearm := m.askUser(blanks.Question(t, func(values map[string]string) { m.afterInput = fill(values) }))
	m.asks.Input.Entered = m.asks.AsksInput() && len(m.asks.Input.Queue) == 1 // the user has asked for it
	return rearm
}

// chooseModel uses the named model, or lists the models.
func (m *Model) chooseModel(name string) tea.Cmd {
	switch {
	case m.Options.Models == nil:
		return nil
	case name != "":
		return m.use(name)
	}
	return panel.OpenModels(m.base, m.Options.Models, m.status, m.use)
}

// use switches to a model for later turns.
func (m *Model) use(name string) tea.Cmd {
	return func() tea.Msg {
		err := m.Options.Models.Use(m.base, name)
		return then(func() tea.Cmd {
			if err != nil {
				m.transcript.Show(transcript.FailureOf(err))
			} else {
				m.unreachable = false
				m.transcript.Show(&transcript.Notice{Text: "now using " + name})
			}
			return nil
		})
	}
}

// showContext opens the panel about the last prompt.
func (m *Model) showContext() tea.Cmd {
	if m.prompt.Window.ContextCounted.Agent == "" {
		return m.flash("no prompt was sent yet in this conversation")
	}
	shown := m.prompt.Window
	return m.open(&shown, nil)
}

// nextMode switches to the next mode, or from the last to the first.
func (m *Model) nextMode() tea.Cmd {
	modes := agent.Modes()
	return m.setMode(modes[(slices.Index(modes, agent.Mode(m.mode))+1)%len(modes)])
}

// chooseMode handles /mode.
func (m *Model) chooseMode(name string) tea.Cmd {
	if name == "" {
		m.cover(panel.NewModes(m.mode, m.setMode))
		return nil
	}
	mode, err := agent.ParseMode(name)
	if err != nil {
		return m.flash(safetext.Line(err.Error()))
	}
	return m.setMode(mode)
}

// setMode sets the mode of later turns.
func (m *Model) setMode(mode agent.Mode) tea.Cmd {
	m.mode = string(mode)
	m.Options.Modes.Use(mode)
	if m.withoutModel() { // else the composer shows it
		return m.flash("mode " + m.mode + ", once a model is connected")
	}
	return nil
}

// chooseTheme handles /theme.
func (m *Model) chooseTheme(name string) tea.Cmd {
	switch {
	case name == "":
		m.cover(panel.NewThemes(m.Options.Theme.Name, m.chooseTheme))
		return nil
	case !slices.Contains(draw.ThemeNames(), name):
		return m.flash("/theme takes " + strings.Join(draw.ThemeNames(), ", "))
	}
	m.Options.Theme = chat.Theme{Name: name}
	m.applyTheme("")
	if m.Options.Settings == nil {
		return m.flash("theme " + name + " for this run")
	}
	return func() tea.Msg {
		if err := m.Options.Settings.Save("theme", name); err != nil {
			return panel.OpenMsg{Err: fmt.Errorf("the theme is %s for this run only: %w", name, err)}
		}
		return panel.OpenMsg{Reason: "theme " + name + ", saved in your settings"}
	}
}

// toggleSidebar shows or hides the sidebar and saves that. In a narrow window it reports that
// there is no room for one.
func (m *Model) toggleSidebar() tea.Cmd {
	if m.term.width < sidebarFrom {
		return m.flash(fmt.Sprintf("the sidebar needs a window of %d columns", sidebarFrom))
	}
	m.Options.NoSidebar = !m.Options.NoSidebar
	m.flash("the sidebar is shown")
	if m.Options.NoSidebar {
		m.flash("the sidebar is hidden")
	}
	if m.Options.Settings == nil {
		return nil
	}
	value := strconv.FormatBool(!m.Options.NoSidebar)
	return func() tea.Msg {
		if err := m.Options.Settings.Save("sidebar", value); err != nil {
			return panel.OpenMsg{Err: fmt.Errorf("the sidebar is switched for this run only: %w", err)}
		}
		return nil
	}
}
