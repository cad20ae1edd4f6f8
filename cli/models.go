package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
	"lifehub/llm/servers"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// modelsCommand is `lifehub models` and its flag.
type modelsCommand struct {
	Process *app.Process
	asJSON  bool
}

func newModels(sh *app.Process) *cobra.Command {
	c := &modelsCommand{Process: sh}
	list := &cobra.Command{Use: "list", Short: "List installed models", RunE: c.onServer(c.list)}
	app.AddJSON(list, &c.asJSON, "print a JSON array")
	show := &cobra.Command{
		Use: "show [NAME]", Short: "Show what a model can do (default: the one in use)",
		RunE: c.onServer(c.show),
	}
	app.AddJSON(show, &c.asJSON, "print one JSON object")
	pull := &cobra.Command{
		Use: "pull NAME", Short: "Pull a model from the server's library",
		Example: "  lifehub models pull embeddinggemma",
		RunE:    c.onServer(c.pull),
	}
	return app.Group("models", "List, show and pull models", list, show, pull)
}

// onServer opens the model servers for one command.
func (c *modelsCommand) onServer(do func(context.Context, *servers.Set,
	string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, given []string) error {
		_, config, err := app.LoadSettings(c.Process)
		if err != nil {
			return err
		}
		p, err := servers.Open(app.ModelSettings(config, app.SecretsOf(c.Process)))
		if err != nil {
			return settings.UsageError{Err: err}
		}
		defer p.Close()
		err = do(cmd.Context(), p, strings.Join(given, ""))
		if errors.Is(err, llm.ErrUnreachable) {
			return fmt.Errorf("%w\n  %s", err, agent.FailedFrom(err).Hint)
		}
		return err
	}
}

func (c *modelsCommand) pull(ctx context.Context, p *servers.Set, name string) error {
	bar := app.NewBar(c.Process)
	err := p.Pull(ctx, name, func(p llm.Progress) { bar.Bytes(p.Status, p.Done, p.Total) })
	if bar.Clear(); err != nil {
		return fmt.Errorf("pull %s: %w", name, err)
	}
	return app.PrintText(c.Process, "name", "pulled "+safetext.Line(name)+"\n")
}

func (c *modelsCommand) list(ctx context.Context, p *servers.Set, _ string) error {
	list, err := p.All(ctx)
	if err != nil && len(list) == 0 {
		return fmt.Errorf("list models: %w", err)
	} else if err != nil {
		fmt.Fprintln(c.Process.Err, "lifehub: without", safetext.Text(err.Error()))
	}
	return app.PrintList(c.Process, c.asJSON, "models", "no models are installed; `lifehub models pull qwen3:8b` "+
		"pulls one", list, func(m llm.Info) string {
		mark, size := " ", ""
		if m.Name == p.State().Model {
			mark = "*"
		}
		if m.Size > 0 { // 0 if unknown
			size = draw.Bytes(m.Size)
		}
		can := strings.TrimSpace(strings.Join(m.Capabilities, " ") + " " + m.Remote)
		return fmt.Sprintf("%s %-32s %8s  %-8s %s",
			mark, safetext.Line(m.Name), size, safetext.Line(m.Parameters), safetext.Line(can))
	})
}

func (c *modelsCommand) show(ctx context.Context, p *servers.Set, name string) error {
	if name == "" {
		name = p.State().Model
	}
	m, err := p.Info(ctx, name)
	if err != nil {
		return fmt.Errorf("show model: %w", err)
	}
	if c.asJSON {
		return app.PrintJSON(c.Process, "model", m)
	}
	rows := [][2]string{
		{"model", m.Name},
		{"runs at", p.State().Provider},
		{"family", m.Family},
		{"parameters", m.Parameters},
		{"quantization", m.Quantization},
		{"can", strings.Join(m.Capabilities, ", ")},
		{"runs on", m.Remote},
	}
	if m.Size > 0 {
		rows = append(rows, [2]string{"size", draw.Bytes(m.Size)})
	}
	if m.Context > 0 {
		rows = append(rows, [2]string{"context", fmt.Sprintf("%d tokens at most, %d requested",
			m.Context, m.Allocated)})
	}
	for _, r := range rows {
		if r[1] != "" {
			fmt.Fprintf(c.Process.Out, "%-14s %s\n", r[0], safetext.Line(r[1]))
		}
	}
	return nil
}
