package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/mcpclient/config"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

func newTools(sh *app.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List tools with their permission level, or show one with its schema",
		RunE: withTools(sh, func(ctx context.Context, list []app.KnownTool, gate *turn.Agent, name string) error {
			if name != "" {
				return showTool(ctx, sh, list, gate, name)
			}
			return listTools(ctx, sh, list, gate, asJSON)
		}),
	}
	app.AddJSON(cmd, &asJSON, "print a JSON array")
	return cmd
}

// withTools opens all tools, including those of MCP servers, for one command.
func withTools(sh *app.Process, do func(context.Context, []app.KnownTool, *turn.Agent,
	string) error,
) func(*cobra.Command, []string) error {
	return withApp(sh, app.RunFlags{NoSave: true}, func(ctx context.Context, a *app.App, given []string) error {
		a.WaitForServers(ctx)
		waiting, cancel := context.WithTimeout(ctx, app.ServerPatience)
		_ = a.Provider.Ready(waiting) // without a model, its mode and window are those of the offline provider
		cancel()
		of := a.Agent()
		return do(ctx, a.KnownTools(of), of, strings.Join(given, " "))
	})
}

func toolNamed(list []app.KnownTool, name string) (app.KnownTool, error) {
	at := slices.IndexFunc(list, func(t app.KnownTool) bool { return t.Tool.Spec().Name == name })
	if at < 0 {
		return app.KnownTool{}, settings.UsageError{Err: fmt.Errorf("unknown tool %q; `lifehub tools` lists them",
			name)}
	}
	return list[at], nil
}

// toolRow is a tool as `lifehub tools` lists it.
type toolRow struct {
	Name        string          `json:"name"`
	Level       string          `json:"level"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Missing     string          `json:"missing,omitempty"` // why it is not available now
}

func listTools(ctx context.Context, sh *app.Process, list []app.KnownTool, gate *turn.Agent, asJSON bool) error {
	var rows []toolRow
	for _, t := range list {
		spec := t.Tool.Spec()
		level, _ := gate.Decide(ctx, t.Tool, nil, agent.Origin{})
		rows = append(rows, toolRow{spec.Name, level.String(), spec.Description, spec.Schema, t.Missing})
	}
	width, ok := app.Columns(sh.Out)
	return app.PrintList(sh, asJSON, "tools", "no tools", rows, func(r toolRow) string {
		first, _, _ := strings.Cut(r.Description, "\n")
		if r.Missing != "" {
			first = "not available: " + r.Missing + ". " + first
		}
		head := fmt.Sprintf("%-24s %-8s ", safetext.Line(r.Name), r.Level)
		if !ok { // one line each, for other programs
			return head + safetext.Line(first)
		}
		return strings.Join(draw.Hang(head, safetext.Line(first), width), "\n")
	})
}

func showTool(ctx context.Context, sh *app.Process, list []app.KnownTool, gate *turn.Agent, name string) error {
	known, err := toolNamed(list, name)
	if err != nil {
		return err
	}
	t := known.Tool
	_, why := gate.Decide(ctx, t, nil, agent.Origin{})
	why = safetext.Line(why)
	if known.Missing != "" {
		why += "\nnot available: " + safetext.Line(known.Missing)
	}
	var schema bytes.Buffer
	if err := json.Indent(&schema, t.Spec().Schema, "", "  "); err != nil {
		return fmt.Errorf("show the schema of %s: %w", name, err)
	}
	description := safetext.Text(strings.TrimSpace(t.Spec().Description))
	return app.PrintText(sh, "tool", fmt.Sprintf("%s\n%s\n\n%s\n\n%s\n", name, why, description,
		safetext.Text(schema.String())))
}

func newPermissions(sh *app.Process) *cobra.Command {
	return app.Group("permissions", "Manage permission rules: which calls run, ask or are refused",
		&cobra.Command{
			Use: "list", Short: "List the rules",
			RunE: func(*cobra.Command, []string) error { return listRules(sh) },
		},
		&cobra.Command{
			Use: "test CALL…", Short: "Show which rule decides a call",
			Example: "  lifehub permissions test add_task\n  lifehub permissions test 'add_task text=milk note=home.md'",
			RunE: withTools(sh, func(ctx context.Context, list []app.KnownTool, gate *turn.Agent, call string) error {
				return testRules(ctx, sh, list, gate, call)
			}),
		},
		&cobra.Command{
			Use: "revoke TOOL", Short: "Remove the rules for a tool",
			RunE: func(_ *cobra.Command, given []string) error { return revokeRules(sh, given[0]) },
		},
		newTrustHook(sh),
	)
}

func newTrustHook(sh *app.Process) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "trust HOOK", Short: "Review a hook that is new or has changed, and trust it",
		Long: "Show what a hook of the settings (before_call, after_turn) runs, and how that differs from what you\n" +
			"trusted. A hook does not run until you agree.",
		Example: "  lifehub permissions trust before_call",
		RunE:    func(cmd *cobra.Command, given []string) error { return trustHook(cmd.Context(), sh, given[0], yes) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "trust it without asking")
	return cmd
}

func trustHook(ctx context.Context, sh *app.Process, event string, yes bool) error {
	p, c, err := app.LoadSettings(sh)
	if err != nil {
		return err
	}
	hooks := app.Hooks(p, c)
	i := slices.IndexFunc(hooks, func(h app.Hook) bool { return h.Event == event })
	if i < 0 {
		return settings.UsageError{Err: fmt.Errorf("no hook %q is set; hooks.before_call and hooks.after_turn in %s "+
			"set them", event, p.ConfigFile())}
	}
	changes, err := hooks[i].Unseen()
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		fmt.Fprintln(sh.Out, "Nothing has changed since you reviewed it.")
		return nil
	}
	for _, c := range changes {
		if err := showChange(sh, safetext.Reveal(c.What)+":", c); err != nil {
			return err
		}
	}
	if err := agree(ctx, sh, fmt.Sprintf("Trust the hook %s with this?", event), yes); err != nil {
		return err
	}
	return hooks[i].Accept(changes)
}

func listRules(sh *app.Process) error {
	p, c, err := app.LoadSettings(sh)
	if err != nil {
		return err
	}
	all, err := app.LoadRules(p.PermissionsFile())
	if err != nil {
		return err
	}
	list := all.List()
	none := "no rules; each tool has a default level (`lifehub tools`). Rules go in " + p.PermissionsFile()
	err = app.PrintList(sh, false, "rules", none, list, func(r gate.Rule) string {
		return fmt.Sprintf("%-24s %-8s %s", safetext.Line(app.RuleText(r)), r.Level, safetext.Line(r.From))
	})
	servers, failed := config.Read(p.ServersFile())
	for _, server := range servers.Servers {
		if server.Reads && !server.Disabled {
			fmt.Fprintf(sh.Out, "%-24s %-8s tools that only read run, and text of your notes may go there; "+
				"not with untrusted text from elsewhere, nor with an address; \"trust\" in %s\n",
				config.WirePrefix(server.Name)+"_*", "read", safetext.Line(p.ServersFile()))
		}
	}
	err = errors.Join(err, failed)
	for _, h := range app.Hooks(p, c) {
		if h.Event == "before_call" {
			does := cmp.Or(h.Problem(), "may deny each call: "+strings.Join(h.Command, " "))
			fmt.Fprintf(sh.Out, "%-24s %-8s %s; hooks.before_call in %s\n",
				"*", "hook", safetext.Line(does), safetext.Line(p.ConfigFile()))
		}
	}
	if slices.ContainsFunc(list, func(r gate.Rule) bool {
		return r.Level == agent.Deny && len(r.Where) == 0 && r.MatchesTool("read_note") &&
			!r.MatchesTool("search_notes")
	}) {
		sh.Notice("denying read_note does not hide notes from search_notes; with args: {path: {under: FOLDER}} it hides " +
			"those notes from every tool")
	}
	return err
}

func testRules(ctx context.Context, sh *app.Process, list []app.KnownTool, gate *turn.Agent, call string) error {
	name, rest, _ := strings.Cut(strings.TrimSpace(call), " ")
	known, err := toolNamed(list, name)
	if err != nil {
		return err
	}
	t := known.Tool
	input, misfit, err := callArgs(t, rest)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	if misfit != nil && rest != "" {
		sh.Notice("the tool would reject this call: " + misfit.Error())
	}
	outside := agent.FromOutside("a page of the web, for example")
	var before agent.Level
	for i, read := range []struct {
		what string
		from agent.Origin
	}{
		{"", agent.Origin{}},
		{"text of your notes", agent.Own()},
		{"untrusted text", outside},
		{"both", outside.And(agent.Own())},
	} {
		level, why := gate.Decide(ctx, t, input, read.from)
		if i > 0 && level.String() == before.String() {
			continue
		}
		if before = level; i > 0 {
			fmt.Fprintf(sh.Out, "and with %s: ", read.what)
		}
		fmt.Fprintf(sh.Out, "%s\n%s\n", level, safetext.Line(why))
	}
	if known.Missing != "" {
		fmt.Fprintf(sh.Out, "not available: %s\n", safetext.Line(known.Missing))
	}
	return nil
}

// callArgs parses "key=value key2='two words'", or a JSON object, as the arguments of a tool.
// misfit reports why the tool would reject them; rules can be tested nevertheless.
func callArgs(tool agent.Tool, s string) (input json.RawMessage, misfit, err error) {
	input = json.RawMessage(strings.TrimSpace(s))
	if !strings.HasPrefix(string(input), "{") {
		pairs, err := gate.SplitArguments(s)
		if err != nil {
			return nil, nil, err
		}
		object := map[string]string{}
		for _, pair := range pairs {
			object[pair[0]] = pair[1]
		}
		if input, err = json.Marshal(object); err != nil {
			return nil, nil, err
		}
	}
	repaired, misfit := new(agent.Schemas).Repair(tool, input)
	if misfit == nil {
		input = repaired.Input.JSON()
	}
	return input, misfit, nil
}

func revokeRules(sh *app.Process, tool string) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	n, err := app.RemoveRules(p.PermissionsFile(), tool)
	if err != nil {
		return err
	}
	if n == 0 {
		return settings.UsageError{Err: fmt.Errorf("no rule names the tool %q; `lifehub permissions list` shows them",
			tool)}
	}
	fmt.Fprintf(sh.Out, "removed %s for %s\n", draw.Count(n, "rule"), safetext.Line(tool))
	return nil
}
