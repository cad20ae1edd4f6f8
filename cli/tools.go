package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	toolargs "lifehub/agent/args"
	"lifehub/agent/rules"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
	"lifehub/tui/safetext"
)

func newTools(sh *app.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List every tool with its level, or show one with its schema",
		Args:  app.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withTools(cmd.Context(), sh, func(list []agent.Tool, gate *turn.Agent) error {
				if len(given) == 1 {
					return showTool(cmd.Context(), sh, list, gate, given[0])
				}
				return listTools(cmd.Context(), sh, list, gate, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// withTools opens what there is to call, MCP servers too, for one command.
func withTools(ctx context.Context, sh *app.Process, do func([]agent.Tool, *turn.Agent) error) error {
	a, err := app.Open(ctx, sh, app.RunFlags{NoSave: true})
	if err != nil {
		return err
	}
	defer a.Close()
	a.WaitForServers(ctx)
	list := a.Tools()
	slices.SortFunc(list, func(x, y agent.Tool) int { return strings.Compare(x.Spec().Name, y.Spec().Name) })
	return do(list, a.Agent())
}

func listTools(ctx context.Context, sh *app.Process, list []agent.Tool, gate *turn.Agent, asJSON bool) error {
	type row struct {
		Name        string          `json:"name"`
		Level       string          `json:"level"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
	}
	rows := []row{}
	for _, t := range list {
		spec := t.Spec()
		level, _ := gate.Decide(ctx, t, nil, false)
		rows = append(rows, row{spec.Name, level.String(), spec.Description, spec.Schema})
	}
	if asJSON {
		return json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(rows)
	}
	for _, r := range rows {
		first, _, _ := strings.Cut(r.Description, "\n")
		fmt.Fprintf(sh.Out, "%-24s %-8s %s\n", safetext.Line(r.Name), r.Level, safetext.Line(first))
	}
	return nil
}

func showTool(ctx context.Context, sh *app.Process, list []agent.Tool, gate *turn.Agent, name string) error {
	for _, t := range list {
		spec := t.Spec()
		if spec.Name != name {
			continue
		}
		_, why := gate.Decide(ctx, t, nil, false)
		var schema bytes.Buffer
		if err := json.Indent(&schema, spec.Schema, "", "  "); err != nil {
			return fmt.Errorf("show the schema of %s: %w", name, err)
		}
		fmt.Fprintf(sh.Out, "%s\n%s\n\n%s\n\n%s\n", name, safetext.Line(why), safetext.Text(strings.TrimSpace(spec.Description)), safetext.Text(schema.String()))
		return nil
	}
	return settings.UsageError{Err: fmt.Errorf("there is no tool %q; `lifehub tools` lists them", name)}
}

func newPermissions(sh *app.Process) *cobra.Command {
	return app.Group("permissions", "Which calls run, ask or are refused, and why",
		&cobra.Command{
			Use: "list", Short: "List the rules",
			Args: app.Args(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error { return listRules(sh) },
		},
		&cobra.Command{
			Use: "test CALL", Short: "Say which rule decides a call",
			Example: "  lifehub permissions test add_task\n  lifehub permissions test 'add_task text=milk note=home.md'",
			Args:    app.Args(cobra.MinimumNArgs(1)),
			RunE: func(cmd *cobra.Command, given []string) error {
				return testRules(cmd.Context(), sh, strings.Join(given, " "))
			},
		},
		&cobra.Command{
			Use: "revoke TOOL", Short: "Take the rules for a tool out of the file",
			Args: app.Args(cobra.ExactArgs(1)),
			RunE: func(_ *cobra.Command, given []string) error { return revokeRules(sh, given[0]) },
		},
	)
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
	folders, err := p.VaultPolicy(c, c.Notes)
	if err != nil {
		return err
	}
	for _, r := range all.Narrowed(folders.Rules).List() {
		fmt.Fprintf(sh.Out, "%-24s %-8s %s\n", safetext.Line(app.RuleText(r)), r.Level, safetext.Line(r.From))
	}
	if slices.ContainsFunc(all.Narrowed(folders.Rules).List(), func(r rules.Rule) bool {
		return r.Level == agent.Deny && len(r.Where) == 0 && r.MatchesTool("read_note") && !r.MatchesTool("search_notes")
	}) {
		fmt.Fprintln(sh.Err, "! deny for read_note does not keep notes from search_notes; with args: {path: {under: FOLDER}} it hides those notes from every tool")
	}
	if len(all.List()) == 0 && len(folders.Rules.List()) == 0 {
		fmt.Fprintf(sh.Err, "no rules; each tool has its own level (`lifehub tools`). Rules belong in %s\n", p.PermissionsFile())
	}
	return nil
}

func testRules(ctx context.Context, sh *app.Process, call string) error {
	name, rest, _ := strings.Cut(strings.TrimSpace(call), " ")
	return withTools(ctx, sh, func(list []agent.Tool, gate *turn.Agent) error {
		for _, t := range list {
			if t.Spec().Name == name {
				input, misfit, err := callArgs(t.Spec(), rest)
				if err != nil {
					return settings.UsageError{Err: err}
				}
				if misfit != nil && rest != "" {
					fmt.Fprintf(sh.Err, "! the tool would refuse this call: %s\n", safetext.Line(misfit.Error()))
				}
				level, why := gate.Decide(ctx, t, input, false)
				fmt.Fprintf(sh.Out, "%s\n%s\n", level, safetext.Line(why))
				if later, why := gate.Decide(ctx, t, input, true); later.String() != level.String() {
					fmt.Fprintf(sh.Out, "and once text was read that is not yours: %s\n%s\n", later, safetext.Line(why))
				}
				return nil
			}
		}
		return settings.UsageError{Err: fmt.Errorf("there is no tool %q; `lifehub tools` lists them", name)}
	})
}

// callArgs reads "key=value key2='two words'", or a JSON object, as arguments
// of a tool. misfit says what the tool would refuse of them; rules are tested
// all the same.
func callArgs(spec llm.ToolSpec, s string) (input json.RawMessage, misfit, err error) {
	input = json.RawMessage(strings.TrimSpace(s))
	if !strings.HasPrefix(string(input), "{") {
		pairs, err := rules.SplitArguments(s)
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
	mended, misfit := toolargs.Arguments(spec, input)
	if misfit == nil {
		input = mended
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
		return settings.UsageError{Err: fmt.Errorf("no rule names the tool %q; `lifehub permissions list` shows them", tool)}
	}
	rules := "1 rule"
	if n > 1 {
		rules = fmt.Sprintf("%d rules", n)
	}
	fmt.Fprintf(sh.Out, "took out %s for %s\n", rules, safetext.Line(tool))
	return nil
}
