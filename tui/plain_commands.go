package tui

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/composer"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// plainCommand implements a command that each front end implements itself. A command
// with choices lists them if it is called without an argument.
type plainCommand struct {
	args string // arguments in /help; "" if as on the screen
	run  func(c *printer, ctx context.Context, args string) error
}

// plainCommands returns the commands by name. It omits those of the screen that need
// the screen.
func plainCommands() map[string]plainCommand {
	return map[string]plainCommand{
		"help":     {run: (*printer).help},
		"new":      {run: (*printer).begins},
		"context":  {run: (*printer).showContext},
		"sources":  {"[N]", (*printer).sources},
		"resume":   {"[N or ID]", (*printer).resume},
		"continue": {run: (*printer).proceed},
		"retry":    {run: (*printer).retry},
		"rename":   {run: (*printer).rename},
		"model":    {run: (*printer).useModel},
		"mode":     {run: (*printer).useMode},
		"mcp":      {"[trust NAME]", (*printer).mcp},
		"quit":     {run: func(*printer, context.Context, string) error { return leftError{chat.Quit} }},
	}
}

// do runs a command.
func (c *printer) do(ctx context.Context, what chat.Command, args string) error {
	if what.Template != nil {
		return c.useTemplate(ctx, *what.Template, args)
	}
	if !what.Own() {
		return c.start(ctx, what, args)
	}
	if page := panel.PageOf(what.Name); page != nil {
		lines, err := page.Lines(ctx, &c.o, args)
		if err != nil {
			return c.fail(err)
		}
		for _, line := range lines {
			c.print("%s\n", safetext.Line(line))
		}
		return nil
	}
	own, ok := plainCommands()[what.Name]
	if !ok {
		c.print("/%s works only on the screen\n", what.Name)
		return nil
	}
	return own.run(c, ctx, args)
}

// start runs a command that every front end runs in the same way.
func (c *printer) start(ctx context.Context, what chat.Command, args string) error {
	begin, message, output, err := what.Start(ctx, c.o.Assistant, c.conversation, args)
	switch {
	case err != nil:
		return c.fail(err)
	case begin != nil:
		return c.startTurn(ctx, message, begin)
	}
	c.print("%s\n", safetext.Text(output))
	return nil
}

// help lists the commands, or prints the page of a topic.
func (c *printer) help(_ context.Context, topic string) error {
	if topic != "" {
		page, err := panel.HelpPage(topic)
		if err != nil {
			return c.fail(err)
		}
		c.print("%s", safetext.Text(page.Text))
		return nil
	}
	c.print("Type a question and press enter; %s begins and ends one of several lines. Ctrl+c stops a running turn.\n",
		composer.Quote)
	for _, known := range panel.Commands(&c.o) {
		own, ok := plainCommands()[known.Name]
		if known.Own() && panel.PageOf(known.Name) == nil && !ok {
			continue
		}
		if own.args != "" {
			known.Args = own.args
		}
		c.print("%s: %s\n", safetext.Line(known.Usage()), safetext.Line(known.Help))
	}
	c.print("Topics of /help: %s\n", strings.Join(panel.HelpTopics(), ", "))
	return nil
}

func (c *printer) showContext(context.Context, string) error {
	if c.window.ContextCounted.Agent == "" {
		c.print("no prompt was sent yet in this conversation\n")
		return nil
	}
	c.print("%s\n", strings.Join(c.window.Words(), "\n"))
	return nil
}

// useMode sets the mode of later turns, or lists the modes.
func (c *printer) useMode(_ context.Context, name string) error {
	if name == "" {
		for _, mode := range agent.Modes() {
			mark := " "
			if string(mode) == c.mode {
				mark = "*"
			}
			c.print("%s %s: %s\n", mark, mode, mode.Help())
		}
		return nil
	}
	mode, err := agent.ParseMode(name)
	if err != nil {
		c.print("%s\n", safetext.Line(err.Error()))
		return nil
	}
	c.mode = string(mode)
	c.o.Modes.Use(mode)
	c.print("mode %s: %s\n", mode, mode.Help())
	return nil
}

// sources lists the sources of the last answer, or writes the passage of one.
func (c *printer) sources(_ context.Context, number string) error {
	list := c.cited
	if len(list) == 0 {
		c.print("no sources yet\n")
		return nil
	}
	if number == "" {
		for n, cited := range list {
			c.print("%d. %s\n", n+1, joinedByDots(transcript.Cited(cited).InWords(), cited.Source.Heading))
		}
		c.print("/sources N prints the passage of one\n")
		return nil
	}
	at, err := strconv.Atoi(number)
	if err != nil || at < 1 || at > len(list) {
		c.print("usage: /sources [N], N from 1 to %d\n", len(list))
		return nil
	}
	lines, cited := transcript.Cited(list[at-1]).Around()
	for n, line := range lines {
		if n == cited {
			line = "» " + line
		}
		c.print("%s\n", line)
	}
	return nil
}

// useModel sets the model of later turns, or lists the models.
func (c *printer) useModel(ctx context.Context, name string) error {
	if name == "" {
		list, _ := panel.ModelPicker(ctx, c.o.Models, c.now())
		if len(list.Rows) == 0 {
			c.print("%s\n", safetext.Text(list.Empty))
		}
		for _, r := range list.Rows {
			c.print("%s\n", joinedByDots(r.Label, r.Detail))
		}
		for _, line := range list.Foot {
			c.print("%s\n", safetext.Line(line))
		}
		c.print("/model NAME uses one, `lifehub models pull NAME` adds one\n")
		return nil
	}
	if err := c.o.Models.Use(ctx, name); err != nil {
		return c.fail(err)
	}
	c.print("now using %s\n", safetext.Line(name))
	return nil
}

// mcp lists the MCP servers, or reviews the changes of one.
func (c *printer) mcp(ctx context.Context, args string) error {
	list := c.o.Servers.List()
	name, trust := strings.CutPrefix(args, "trust ")
	switch {
	case len(list) == 0:
		c.print("%s\n", panel.NoServers)
		return nil
	case args == "" || args == "list":
		c.listServers(list)
		return nil
	}
	at := slices.IndexFunc(list, func(s chat.Server) bool { return s.Name == strings.TrimSpace(name) })
	if !trust || at < 0 {
		c.print("usage: /mcp [trust NAME]; `lifehub mcp` does the rest\n")
		return nil
	}
	return c.trust(ctx, list[at])
}

func (c *printer) listServers(list []chat.Server) {
	for _, s := range list {
		name := safetext.Line(s.Name)
		c.print("%s\n", joinedByDots(s.Name, s.State))
		for _, fact := range panel.FactsOf(s) {
			c.print("  %s: %s\n", fact.What, fact.Text)
		}
		if s.Consent {
			c.print("  it needs your consent: `lifehub mcp consent %s`\n", name)
		}
		if unseen := len(s.Unseen); unseen > 0 {
			c.print("  %s not used until you review it: /mcp trust %s\n", draw.Count(unseen, "change"), name)
		}
	}
}

// trust shows the changes of a server and asks whether to accept them.
func (c *printer) trust(ctx context.Context, s chat.Server) error {
	if len(s.Unseen) == 0 {
		c.print("nothing in %s has changed since you reviewed it\n", safetext.Line(s.Name))
		return nil
	}
	for _, change := range s.Unseen {
		c.print("%s\n%s\n", panel.ChangeHead(change), panel.MarkedChange(change, draw.Unstyled, draw.Unstyled))
	}
	if !c.agree(ctx, "trust this version?") {
		return nil
	}
	if err := c.o.Servers.Trust(s.Name, s.Unseen); err != nil {
		return c.fail(err)
	}
	return nil
}

// joinedByDots joins the texts that are not empty into one line.
func joinedByDots(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return safetext.Line(strings.Join(parts, " · "))
}
