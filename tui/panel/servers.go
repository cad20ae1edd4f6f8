package panel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// ServerList is the panel of the MCP servers: the state of each, the tokens its
// tools cost, and the changes that the user has not reviewed yet.
type ServerList struct {
	chat.Servers
	list   []chat.Server
	chosen int
	Reader *Reader // the text about the chosen server that covers the list; nil: none
}

// Reader shows a text about a server that scrolls: its log, or the changes that
// the user can accept.
type Reader struct {
	server string
	title  string
	text   string
	Change []chat.Change // the changes to accept; nil: the text is a log

	Dialog dialog.Dialog
	seen   bool // the user has scrolled to the end
	top    int
	rows   int
	Lines  []string
	width  int // the width for which Lines was wrapped
	theme  *draw.Theme
}

// NoServers is shown where the settings name no server.
const NoServers = "no servers yet: lifehub mcp add NAME -- COMMAND adds one"

// serversEvery is how often the open panel is refreshed.
const serversEvery = time.Second

type (
	// serversMsg refreshes the open panel.
	serversMsg struct{}
	// ServerLogMsg carries the log of a server.
	ServerLogMsg struct {
		Server, Text string
		err          error
	}
	// ServerDoneMsg reports that a command to a server has ended.
	ServerDoneMsg struct{ Err error }
)

// NewServers returns the panel with the first server chosen that has changes to
// review, else the first of all.
func NewServers(from chat.Servers) *ServerList {
	p := &ServerList{Servers: from, list: from.List()}
	p.chosen = max(0, slices.IndexFunc(p.list, func(s chat.Server) bool { return len(s.Unseen) > 0 }))
	return p
}

// Soon refreshes the panel after serversEvery. The refreshing ends when the
// panel is closed.
func (p *ServerList) Soon() tea.Cmd {
	return tea.Tick(serversEvery, func(time.Time) tea.Msg { return serversMsg{} })
}

// Update handles a key, or the news of a server.
func (p *ServerList) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch {
		case p.Reader != nil:
			return p, nil, p.pressLook(msg, k, time.Now())
		case key.Matches(msg, k.ServersClose):
			return nil, nil, nil
		}
		did, cmd := p.press(msg, k)
		return p, did, cmd
	case tea.PasteMsg:
		return p, NotMine{PasteMsg: msg}, nil
	case tea.MouseWheelMsg:
		return p.Update(wheeled(msg), k)
	case Clicked:
		p.chosen = int(msg)
	case serversMsg:
		p.list = p.List()
		p.chosen = max(0, min(p.chosen, len(p.list)-1))
		return p, nil, p.Soon()
	case ServerDoneMsg:
		p.list = p.List()
	case ServerLogMsg:
		switch {
		case msg.err != nil:
			return p, Flash(msg.err.Error()), nil
		case msg.Text == "":
			return p, Flash(msg.Server + " has logged nothing yet"), nil
		}
		p.Reader = &Reader{server: msg.Server, title: msg.Server + ": its log", text: msg.Text, top: 1 << 30}
	}
	return p, nil, nil
}

// press moves in the list, or sends a command to the chosen server.
func (p *ServerList) press(pressed tea.KeyPressMsg, k *draw.Keys) (did tea.Msg, cmd tea.Cmd) {
	var moves bool
	if p.chosen, moves = k.Moved(pressed, p.chosen, len(p.list), 10); moves || len(p.list) == 0 {
		return nil, nil
	}
	s := p.list[p.chosen]
	switch {
	case key.Matches(pressed, k.ServersRestart):
		return nil, toServer(func() error { return p.Restart(s.Name) })
	case key.Matches(pressed, k.ServersConsent) && s.Consent:
		return Consent{Server: s.Name}, nil
	case key.Matches(pressed, k.ServersConsent):
		return Flash(s.Name + " needs no consent"), nil
	case key.Matches(pressed, k.ServersSwitch):
		return nil, toServer(func() error { return p.Switch(s.Name, s.Off) })
	case key.Matches(pressed, k.ServersLog):
		return nil, func() tea.Msg {
			text, err := p.Log(s.Name)
			return ServerLogMsg{Server: s.Name, Text: text, err: err}
		}
	case key.Matches(pressed, k.ServersLook) && len(s.Unseen) > 0:
		p.Reader = &Reader{server: s.Name, title: s.Name + ": changes to review", Change: s.Unseen}
		return nil, tea.Tick(dialog.QuietPeriod, func(time.Time) tea.Msg { return lookArmedMsg{} })
	case key.Matches(pressed, k.ServersLook):
		return Flash("nothing in " + s.Name + " has changed since you reviewed it"), nil
	}
	return nil, nil
}

// lookArmedMsg redraws the screen: the text shown takes keys from now on.
type lookArmedMsg struct{}

// toServer sends a command to a server in the background.
func toServer(do func() error) tea.Cmd {
	return func() tea.Msg { return ServerDoneMsg{Err: do()} }
}

// pressLook scrolls, accepts the changes or goes back. Changes can be accepted
// only after the user has scrolled to their end.
func (p *ServerList) pressLook(pressed tea.KeyPressMsg, k *draw.Keys, now time.Time) tea.Cmd {
	l := p.Reader
	var scrolls bool
	l.top, scrolls = k.Scrolled(pressed, min(l.top, max(0, len(l.Lines)-l.rows)), len(l.Lines), l.rows)
	switch {
	case scrolls:
	case key.Matches(pressed, k.ServersClose), l.Change != nil && key.Matches(pressed, k.Decline):
		p.Reader = nil
	case l.Change != nil:
		cmd, rest := l.Dialog.Press(pressed, k, p.trustChoices(k), "", now)
		if rest != nil { // nothing is written here
			l.Dialog.GiveBack()
		}
		return cmd
	}
	return nil
}

// trustChoices are the answers to the changes of a server.
func (p *ServerList) trustChoices(k *draw.Keys) []dialog.Choice {
	return []dialog.Choice{{Binding: k.ServersTrust, Label: "Trust this version", Do: func() tea.Cmd {
		l := p.Reader
		if !l.seen {
			return nil
		}
		p.Reader = nil
		return toServer(func() error { return p.Trust(l.server, l.Change) })
	}}}
}

// Hints returns the keys of the list, or of the text that covers it.
func (p *ServerList) Hints(k *draw.Keys) []string {
	switch {
	case p.Reader != nil:
		return []string{scrollHint(k), Hint(k.ServersClose, "back")}
	case len(p.list) == 0:
		return []string{Hint(k.ServersClose, "close")}
	}
	return []string{
		Hint(k.ServersLook, "look"), Hint(k.ServersRestart, "restart"), Hint(k.ServersSwitch, "on/off"),
		Hint(k.ServersLog, "log"), Hint(k.ServersClose, "close"),
	}
}

// View shows the servers and the figures of the chosen one, or the text about it.
func (p *ServerList) View(width, rows int, keys *draw.Keys, theme *draw.Theme) Content {
	if p.Reader != nil {
		return p.Reader.view(width, rows, keys, theme, p.trustChoices(keys), time.Now())
	}
	c := Content{Title: "MCP servers", Count: draw.Nth(p.chosen, len(p.list)), Rows: map[int]int{}}
	if len(p.list) == 0 {
		c.Lines = draw.StyleLines(theme.Dim.Render, draw.Wrap(NoServers, width))
		return c
	}
	c.Lines = masterDetail(len(p.list), width, rows, theme, func(width, rows int) (lines []string) {
		names := 0
		for _, s := range p.list {
			names = max(names, draw.Width(safetext.Line(s.Name)))
		}
		from, to := inSight(p.chosen, len(p.list), rows)
		for at := from; at < to; at++ {
			c.Rows[len(lines)] = at
			lines = append(lines, serverRow(p.list[at], min(names, max(8, width/3)), width, at == p.chosen, theme))
		}
		return lines
	}, func(width int) []string { return serverDetails(p.list[p.chosen], width, keys, theme) })
	return c
}

// serverRow returns a server as one line.
func serverRow(s chat.Server, names, width int, chosen bool, theme *draw.Theme) string {
	name := draw.Truncate(safetext.Line(s.Name), names)
	name += strings.Repeat(" ", max(0, names-draw.Width(name)))
	mark, point := "  ", theme.Dim.Render("○")
	switch {
	case s.Running && len(s.Unseen) == 0:
		point = theme.Success.Render("●")
	case s.Off && len(s.Unseen) == 0:
	default:
		point = theme.Warning.Render("!")
	}
	if chosen {
		mark, name = theme.Selected.Render("▌ "), theme.Selected.Render(name)
	}
	return draw.Truncate(mark+point+" "+name+"  "+safetext.Line(s.State), width)
}

// serverDetails returns the figures of a server, one per line.
func serverDetails(s chat.Server, width int, keys *draw.Keys, theme *draw.Theme) []string {
	var lines []string
	for _, f := range FactsOf(s) {
		lines = append(lines, draw.Hang(theme.Dim.Render(fmt.Sprintf("%-9s", f.What)), f.Text, width)...)
	}
	if s.Consent {
		head := theme.Warning.Render(fmt.Sprintf("%-9s", "consent"))
		lines = append(lines, draw.Hang(head, "it needs your consent: "+keys.ServersConsent.Help().Key, width)...)
	}
	if n := len(s.Unseen); n > 0 {
		text := fmt.Sprintf("%s not used until you review it: %s", draw.Count(n, "change"), keys.ServersLook.Help().Key)
		lines = append(lines, draw.Hang(theme.Warning.Render(fmt.Sprintf("%-9s", "unseen")), text, width)...)
	}
	return lines
}

// fact is one figure of a server, made safe for the screen.
type fact struct{ What, Text string }

// FactsOf returns the figures of a server in the order in which they are shown.
func FactsOf(s chat.Server) (list []fact) {
	add := func(what, text string) {
		if text != "" {
			list = append(list, fact{what, safetext.Line(text)})
		}
	}
	add("runs", s.Address)
	if s.Running {
		add("is", s.About)
		add("up", fmt.Sprintf("%s · %s", draw.Ago(s.Up.Seconds()), draw.Count(s.Restarts, "restart")))
		add("costs", fmt.Sprintf("%s, about %s tokens of a prompt", draw.Count(s.Tools, "tool"),
			draw.Thousands(s.Tokens)))
	}
	if s.Calls > 0 {
		add("calls", fmt.Sprintf("%d, %d failed · p95 %s", s.Calls, s.Failed, draw.Duration(s.P95)))
	}
	add("stderr", s.Stderr)
	return list
}

// view shows the visible lines and, if there are changes to accept, the answers.
func (l *Reader) view(width, rows int, keys *draw.Keys, theme *draw.Theme,
	choices []dialog.Choice, now time.Time,
) Content {
	if l.width != width || l.theme != theme {
		l.Lines, l.width, l.theme = l.Content(width, theme), width, theme
	}
	l.rows = rows
	if l.Change != nil {
		l.rows = max(0, rows-1)
	}
	top := max(0, min(l.top, len(l.Lines)-l.rows)) // l.top is kept, for the window may shrink again
	below := len(l.Lines) - top - l.rows
	if below <= 0 && l.rows > 0 && width > 1 {
		l.seen = true
	}
	l.Dialog.Appear(now, "")
	end := min(top+l.rows, len(l.Lines))
	c := Content{
		Title: l.title, Count: fmt.Sprintf("%d–%d of %d", min(top+1, len(l.Lines)), end, len(l.Lines)),
		Lines: slices.Clone(l.Lines[top:end]),
	}
	if l.Change != nil {
		agree := theme.Warning.Render(draw.Truncate(fmt.Sprintf("↓ %s (pgdn)", draw.Count(below, "more line")), width))
		if l.seen {
			agree = l.Dialog.OneLine(choices, "", width, keys, theme, now)
		}
		c.Lines = append(draw.PadHeight(c.Lines, l.rows), agree)
	}
	return c
}

// Content returns the whole text, with hidden characters made visible.
func (l *Reader) Content(width int, theme *draw.Theme) []string {
	if l.Change == nil {
		return draw.Lines(safetext.Text(l.text), max(1, width))
	}
	var lines []string
	for _, c := range l.Change {
		lines = append(lines, draw.StyleLines(theme.Strong.Render, draw.Hang("", ChangeHead(c), width))...)
		for _, line := range strings.Split(MarkedChange(c, theme.Removed.Render, theme.Added.Render), "\n") {
			for _, part := range draw.Wrap(line, width-2) {
				lines = append(lines, "  "+part)
			}
		}
		lines = append(lines, "")
	}
	return lines[:max(0, len(lines)-1)]
}

// ChangeHead says which part of a server has changed.
func ChangeHead(c chat.Change) string {
	if c.Before == "" {
		return safetext.Reveal(c.What + ", new:")
	}
	return safetext.Reveal(c.What + ", changed:")
}

// MarkedChange returns a change word by word, with hidden characters made
// visible.
func MarkedChange(c chat.Change, removed, added func(...string) string) string {
	words := []diffWord{{Text: c.After, Mark: ' '}}
	if c.Before != "" {
		words = compareWords(c.Before, c.After)
	}
	var text strings.Builder
	for _, w := range words {
		shown := safetext.Reveal(w.Text)
		switch w.Mark {
		case '-':
			text.WriteString(marked("[-", shown, "-]", removed))
		case '+':
			text.WriteString(marked("{+", shown, "+}", added))
		default:
			text.WriteString(shown)
		}
	}
	return strings.TrimSpace(text.String())
}

// marked styles a text line by line, so that no style continues into the next
// line. The marks say the same without colours.
func marked(open, text, end string, style func(...string) string) string {
	on, off, _ := strings.Cut(style("x"), "x") // once: there may be a megabyte of lines
	return on + strings.ReplaceAll(open+text+end, "\n", off+"\n"+on) + off
}
