package plain

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/composer"
	"lifehub/tui/dialog"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// ownCommands is what a chat by lines does for each of its own commands that is
// no page of package panel.
func ownCommands() map[string]func(p *Chat, ctx context.Context, args string) error {
	return map[string]func(p *Chat, ctx context.Context, args string) error{
		"help":      (*Chat).help,
		"new":       (*Chat).newConversation,
		"copy":      (*Chat).copyAnswer,
		"context":   (*Chat).showContext,
		"sources":   (*Chat).showSources,
		"theme":     (*Chat).chooseTheme,
		"resume":    (*Chat).listConversations,
		"continue":  (*Chat).proceed,
		"edit":      (*Chat).editBack,
		"retry":     (*Chat).retry,
		"tree":      (*Chat).listTree,
		"fork":      (*Chat).forkLast,
		"rename":    (*Chat).rename,
		"model":     (*Chat).chooseModel,
		"pull":      (*Chat).pull,
		"mode":      (*Chat).chooseMode,
		"artifacts": (*Chat).listArtifacts,
		"mcp":       (*Chat).listServers,
		"quit":      (*Chat).quit,
	}
}

// do runs a command.
func (p *Chat) do(ctx context.Context, c backend.Command, args string) error {
	switch {
	case c.Own():
		if page := panel.PageOf(c.Name); page != nil {
			return p.writePage(ctx, page, args)
		}
		return ownCommands()[c.Name](p, ctx, args)
	case c.Template != nil:
		return p.useTemplate(ctx, *c.Template, args)
	}
	return p.runCommand(ctx, c, args)
}

func (p *Chat) quit(context.Context, string) error { return leftError{backend.Quit} }

// help lists the commands, or prints the page of a topic.
func (p *Chat) help(_ context.Context, topic string) error {
	if topic != "" {
		page, err := panel.HelpPage(topic)
		if err != nil {
			return err
		}
		p.print("%s", safetext.Text(page.Text))
		return nil
	}
	p.print("Type a question and press enter; %s begins and ends one of several lines. Ctrl+c stops a running turn.\n", composer.Quote)
	for _, c := range panel.Commands(&p.Options) {
		p.print("%s: %s\n", safetext.Line(c.Usage()), safetext.Line(c.Help))
	}
	p.print("Topics of /help: %s\n", strings.Join(panel.HelpTopics(), ", "))
	return nil
}

func (p *Chat) copyAnswer(context.Context, string) error {
	p.print("plain mode cannot copy: select text in your terminal, or write the conversation to a file with /export\n")
	return nil
}

func (p *Chat) chooseTheme(context.Context, string) error {
	p.print("plain mode uses the colours of your terminal\n")
	return nil
}

func (p *Chat) showContext(context.Context, string) error {
	if p.window.Agent == "" {
		p.print("no prompt was sent yet in this conversation\n")
		return nil
	}
	p.print("%s\n", strings.Join(p.window.Words(), "\n"))
	return nil
}

// chooseMode takes what was typed after /mode.
func (p *Chat) chooseMode(_ context.Context, name string) error {
	said, mode := panel.ModeSaid(name, p.mode)
	if mode != "" {
		p.mode = string(mode)
		p.UseMode(p.mode)
	}
	for _, line := range said {
		p.print("%s\n", safetext.Line(line))
	}
	return nil
}

// showSources lists what the last answer cites, and writes the passage of one.
func (p *Chat) showSources(ctx context.Context, _ string) error {
	if len(p.cited.List) == 0 {
		p.print("no sources yet\n")
		return nil
	}
	for n, c := range p.cited.List {
		p.print("%d. %s\n", n+1, strings.TrimSuffix(c.InWords()+" · "+safetext.Line(c.Source.Heading), " · "))
	}
	_, at, ok := p.order(ctx, len(p.cited.List), "", "a number shows its passage; empty leaves: ")
	if !ok {
		return nil
	}
	lines, cited := p.cited.List[at].Around()
	for n, line := range lines {
		if n == cited {
			line = "» " + line
		}
		p.print("%s\n", line)
	}
	return nil
}

// listArtifacts writes a version of a document of this conversation, and what
// it changed.
func (p *Chat) listArtifacts(ctx context.Context, name string) error {
	if name == "" {
		list, artifacts, err := panel.ArtifactPicker(ctx, p.Artifacts, p.conversation)
		if err != nil {
			return p.fail(err)
		}
		at, ok := p.choose(ctx, list, nil)
		if !ok {
			return nil
		}
		name = artifacts[at].Name
	}
	list, versions, err := panel.VersionPicker(ctx, p.Artifacts, p.conversation, name)
	if err != nil {
		return p.fail(err)
	}
	at, ok := p.choose(ctx, list, nil)
	if !ok {
		return nil
	}
	p.print("%s\n", safetext.Text(panel.VersionPage(versions, len(versions)-1-at)))
	return nil
}

// writePage writes a panel that has a command of its own as lines.
func (p *Chat) writePage(ctx context.Context, page *panel.Page, args string) error {
	lines, err := page.Lines(ctx, &p.Options, args)
	if err != nil {
		return p.fail(err)
	}
	for _, line := range lines {
		p.print("%s\n", safetext.Line(line))
	}
	return nil
}

// chooseNotes is the first run: which notes LifeHub may read.
func (p *Chat) chooseNotes(ctx context.Context) {
	if p.FindModel != nil {
		found := p.FindModel(ctx)
		p.print("%s\n", strings.TrimSpace(safetext.Line(found.Says)+" "+safetext.Line(found.Next)))
	}
	offers, err := p.Notes.Offers(ctx)
	if err != nil {
		p.fail(err)
	}
	p.print("Which notes should LifeHub use?\n")
	for n, o := range offers {
		p.print("%d. %s\n", n+1, safetext.Line(strings.Join(slices.DeleteFunc([]string{o.Name, o.Path, o.Detail}, func(s string) bool { return s == "" }), " · ")))
	}
	for {
		line, ok := p.ask(ctx, "a number, or the path of a folder; empty skips this: ")
		line = strings.TrimSpace(line)
		if !ok || line == "" {
			return
		}
		chosen := backend.Offer{Name: line, Path: line}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(offers) {
			chosen = offers[n-1]
		}
		if err := p.Notes.Take(ctx, chosen); err != nil {
			p.fail(err)
			continue
		}
		p.print("%s added — ask away\n", safetext.Line(chosen.Name))
		return
	}
}

// runCommand runs a command of another room.
func (p *Chat) runCommand(ctx context.Context, c backend.Command, args string) error {
	turn, said, err := c.Start(ctx, p.Assistant, p.conversation, args)
	switch {
	case err != nil:
		return p.fail(err)
	case turn != nil:
		return p.startTurn(ctx, func(ctx context.Context) <-chan agent.Event { return turn(ctx, p.conversation) })
	}
	p.print("%s\n", safetext.Text(said))
	return nil
}

// useTemplate asks for the blanks of a prompt that were not given, and asks
// the filled prompt once the user has seen it.
func (p *Chat) useTemplate(ctx context.Context, t backend.Template, given string) error {
	blanks := dialog.NewBlanks(t.Blanks, given)
	values := blanks.Given
	for whole := blanks.Whole(); !whole; {
		f := dialog.NewForm(blanks.Schema())
		if !p.fillIn(ctx, f) {
			return nil
		}
		var err error
		if values, err = blanks.Read(f.Values()); err != nil {
			p.note(err.Error())
		}
		whole = err == nil
	}
	text, err := t.Fill(ctx, values)
	if err != nil {
		return p.fail(err)
	}
	p.print("%s", safetext.Text(text))
	p.flush()
	if !p.agree(ctx, "ask that?") {
		return nil
	}
	return p.turn(ctx, text)
}
