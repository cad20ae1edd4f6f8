package chatcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/agent/turn"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/internal/when"
	"lifehub/rag"
	"lifehub/tui/draw"
)

// commands returns the slash commands that need more than the screen.
func (bg *background) commands(gate *turn.Agent) []chat.Command {
	listTools := func(ctx context.Context, _, name string) (string, error) { return bg.slashTools(ctx, gate, name) }
	return append([]chat.Command{
		{
			Name: "tools", Group: chat.InHelp, Args: "[NAME]", Help: "list the tools and which of them ask first",
			Run: listTools,
		},
		{Name: "permissions", Group: chat.InHelp, Help: "show the permission rules", Run: bg.slashRules},
		{
			Name: "undo", Group: chat.InConversation, Args: "[restore]",
			Help: "undo your last question and its changes to notes",
			Run:  bg.writes(bg.slashUndo), Reload: true,
		},
		{Name: "index", Group: chat.InNotes, Help: "update the index and show how current it is", Run: bg.slashIndex},
		{
			Name: "related", Group: chat.InNotes, Args: "NOTE", Help: "find notes related to a note, and why",
			Run: bg.slashRelated,
		},
		{
			Name: "health", Group: chat.InNotes, Help: "list dead links, copies and other things to repair",
			Run: bg.slashHealth, Document: "Health of your notes",
		},
		{
			Name: "brief", Group: chat.InNotes, Args: "[today|week]", Help: "list what is due, changed, or a year old",
			Run: bg.slashBrief, Document: "Briefing",
		},
		{
			Name: "contradictions", Group: chat.InNotes, Args: "[WORDS]",
			Help: "find notes that state different values",
			Run:  bg.slashContradictions, Document: "Contradictions",
		},
		{Name: "doctor", Group: chat.InHelp, Help: "check the setup", Run: bg.slashDoctor},
		{
			Name: "set", Group: chat.InModel, Args: "parameter num_ctx N",
			Help: "set the context window, as in ollama run",
			Run:  bg.slashSet,
		},
	}, append(bg.switchCommands(), bg.memoryCommands()...)...)
}

// prompts returns the user's prompts as commands. One that cannot be used says why.
func (bg *background) prompts() (list []chat.Command) {
	for _, p := range bg.App.Prompts() {
		c := chat.Command{Name: p.Name, Args: "[TEXT]", Help: p.Description}
		if p.Takes() {
			c.Args = "TEXT"
		}
		if p.Err != nil {
			c.Help = "cannot be used: " + draw.Summary(p.Err.Error(), 200)
		}
		c.Prompt = func(args string) (string, error) {
			for _, now := range bg.App.Prompts() {
				if now.File == p.File { // the file may have changed
					p = now
				}
			}
			return p.Message(args, app.Words(args), bg.App.ToolNames())
		}
		list = append(list, c)
	}
	return list
}

// cell makes a text fit a cell of a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "`", "'").Replace(s)
}

// notAvailable is the heading of the tools that no model is offered now.
const notAvailable = "not available"

func (bg *background) slashTools(ctx context.Context, gate *turn.Agent, name string) (string, error) {
	byLevel := map[string][]string{}
	for _, known := range bg.App.KnownTools(gate) {
		spec := known.Tool.Spec()
		level, why := gate.Decide(ctx, known.Tool, nil, agent.Origin{})
		if spec.Name == name {
			var schema bytes.Buffer
			if err := json.Indent(&schema, spec.Schema, "", "  "); err != nil {
				return "", fmt.Errorf("show the schema of %s: %w", name, err)
			}
			if known.Missing != "" {
				why += "\n\nNot available: " + known.Missing + "."
			}
			return fmt.Sprintf("**%s**: %s\n\n%s\n\n```json\n%s\n```\n", name, why, spec.Description, &schema), nil
		}
		if known.Missing != "" {
			byLevel[notAvailable] = append(byLevel[notAvailable],
				fmt.Sprintf("- `%s`: %s\n", cell(spec.Name), cell(known.Missing)))
			continue
		}
		byLevel[level.String()] = append(byLevel[level.String()],
			fmt.Sprintf("- `%s`: %s\n", cell(spec.Name), cell(gistOf(spec.Description))))
	}
	if name != "" {
		return "", fmt.Errorf("unknown tool %q", name)
	}
	var b strings.Builder
	for _, level := range []struct{ name, means string }{
		{agent.Auto.String(), "Run automatically"},
		{agent.Confirm.String(), "Ask first"},
		{agent.Deny.String(), "Are refused"},
		{notAvailable, "Cannot be called"},
	} {
		if list := byLevel[level.name]; len(list) > 0 {
			slices.Sort(list)
			fmt.Fprintf(&b, "**%s** (%s)\n\n%s\n", level.means, level.name, strings.Join(list, ""))
		}
	}
	return b.String() + "\n`/tools NAME` shows one: its description, its arguments, and the rule that decides.\n", nil
}

// gistOf returns the first sentence of a description.
func gistOf(description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	first, _, _ = strings.Cut(first, ". ")
	first, _, _ = strings.Cut(first, ": ")
	return strings.TrimSuffix(first, ".")
}

func (bg *background) slashRules(context.Context, string, string) (string, error) {
	rules, err := app.LoadRules(bg.App.Paths.PermissionsFile())
	if err != nil {
		return "", err
	}
	if len(rules.List()) == 0 {
		return "No rules: each tool has a default level, which `/tools` shows. Rules go in `" +
			bg.App.Paths.PermissionsFile() + "`.", nil
	}
	var b strings.Builder
	b.WriteString("| rule | level | where |\n| --- | --- | --- |\n")
	for _, r := range rules.List() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(app.RuleText(r)), r.Level, cell(r.From))
	}
	return b.String(), nil
}

func (bg *background) slashIndex(ctx context.Context, _, _ string) (string, error) {
	if len(bg.App.OpenVaults()) == 0 {
		return "No notes yet. `lifehub index DIR` adds a folder.", nil
	}
	var b strings.Builder
	for _, v := range bg.App.OpenVaults() {
		changes, err := bg.App.Sync(ctx, v, func(rag.Progress) {})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "- `%s`: %s, %s\n", v.Folder.Dir(), draw.Count(changes.Total, "note"),
			draw.Count(changes.Passages, "passage"))
		for _, c := range changes.Notes {
			if c.Reason != "" {
				fmt.Fprintf(&b, "  - %s `%s`: %s\n", c.What, cell(c.Path), cell(c.Reason))
			}
		}
	}
	c, err := bg.App.Library().Coverage(ctx)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\nIndexed: %d of %s, %s.\n", c.Indexed, draw.Count(c.Total, "note"), c.Method())
	if c.Unreadable > 0 {
		fmt.Fprintf(&b, "Not readable now: %d.\n", c.Unreadable)
	}
	return b.String(), nil
}

// mostRelated bounds the notes that /related lists.
const mostRelated = 10

func (bg *background) slashRelated(ctx context.Context, _, name string) (string, error) {
	r, err := bg.App.Related(ctx, name, mostRelated)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s `%s`:\n\n", app.RelatedHead(r), cell(r.Path))
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- `%s`: %s\n", cell(n.Path), escape.Replace(n.Reasons()))
	}
	return b.String(), nil
}

// slashHealth lists what may need repair, with a link to each place.
func (bg *background) slashHealth(ctx context.Context, _, _ string) (string, error) {
	found, err := tools.Health(gate.Hiding(ctx, bg.App.Rules.List(), nil), bg.App.Folders, when.DayOf(time.Now()))
	return app.FindingsText(found, "**%s**\n\n", "- %s %s\n", link, escape.Replace), err
}

// slashBrief is the briefing, with a link to each place.
func (bg *background) slashBrief(ctx context.Context, _, period string) (string, error) {
	days, err := app.BriefingDays(period)
	if err != nil {
		return "", err
	}
	today := when.DayOf(time.Now())
	lines, unread, err := bg.App.Briefing(ctx, bg.App.Store, today, days)
	if err != nil {
		return "", err
	}
	return app.BriefingText(lines, today, days, link, escape.Replace) + "\n" + escape.Replace(unread), nil
}

// link returns a link to a note, or a place in it.
func link(path string) string { return "[[" + cell(path) + "]]" }

// slashContradictions lists the passages that contradict each other, with a link to each.
func (bg *background) slashContradictions(ctx context.Context, _, words string) (string, error) {
	found, compared, err := tools.Contradictions(gate.Hiding(ctx, bg.App.Rules.List(), nil), bg.App.Folders, words)
	if err != nil || len(found) == 0 {
		return tools.ContradictionsText(words, found, compared) + "\n", err
	}
	var b strings.Builder
	for _, c := range found {
		fmt.Fprintf(&b, "**%s**\n\n", escape.Replace(c.Head()))
		for _, s := range c.Sides {
			fmt.Fprintf(&b, "- [[%s]] (%s): %s\n", cell(agent.PlaceName(s.Path, s.Line)),
				s.Dated(), escape.Replace(s.Text))
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// escape escapes Markdown in a text of the user's notes.
var escape = strings.NewReplacer("[", "\\[", "<", "\\<", "`", "'", "*", "\\*", "_", "\\_")

func (bg *background) slashDoctor(ctx context.Context, _, _ string) (string, error) {
	var b strings.Builder
	for _, f := range CheckRunning(ctx, bg.App) {
		mark := "✓"
		switch {
		case !f.OK:
			mark = "✗"
		case f.Fix != "": // it works partly
			mark = "!"
		}
		fmt.Fprintf(&b, "- %s **%s** %s", mark, f.What, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(&b, " → `%s`", f.Fix)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

func (bg *background) slashSet(_ context.Context, _, given string) (string, error) {
	var tokens int
	if _, err := fmt.Sscanf(given, "parameter num_ctx %d", &tokens); err != nil || tokens < 0 {
		return "", fmt.Errorf("usage: /set parameter num_ctx N (0: the default)")
	}
	bg.App.Provider.SetWindow(tokens)
	bg.tell()
	window := bg.App.Provider.Window()
	if window == 0 {
		return "No model is available now; the window is set for when one is.", nil
	}
	return fmt.Sprintf("The next request asks for a window of %d tokens.", window), nil
}
