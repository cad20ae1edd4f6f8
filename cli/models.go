package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
	"lifehub/tui/safetext"
)

func newModels(sh *app.Process) *cobra.Command {
	var listJSON, showJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the models of the server",
		Args: app.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withProvider(cmd.Context(), sh, func(ctx context.Context, p llm.Provider) error {
				return listModels(ctx, sh, p, listJSON)
			})
		},
	}
	list.Flags().BoolVar(&listJSON, "json", false, "print a JSON array")
	show := &cobra.Command{
		Use: "show [NAME]", Short: "Show what a model can do; without a name, the one in use",
		Args: app.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withProvider(cmd.Context(), sh, func(ctx context.Context, p llm.Provider) error {
				return showModel(ctx, sh, p, strings.Join(given, ""), showJSON)
			})
		},
	}
	show.Flags().BoolVar(&showJSON, "json", false, "print one JSON object")
	pull := &cobra.Command{
		Use: "pull NAME", Short: "Fetch a model",
		Example: "  lifehub models pull nomic-embed-text",
		Args:    app.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withProvider(cmd.Context(), sh, func(ctx context.Context, p llm.Provider) error {
				bar := app.NewBar(sh)
				defer bar.Clear()
				err := p.Pull(ctx, given[0], func(p llm.Progress) { bar.Bytes(p.Status, p.Done, p.Total) })
				if err != nil {
					return fmt.Errorf("pull %s: %w", given[0], err)
				}
				bar.Clear()
				fmt.Fprintln(sh.Out, "pulled", safetext.Line(given[0]))
				return nil
			})
		},
	}
	return app.Group("models", "Models of the server: list, show, fetch", list, show, pull)
}

// withProvider reaches the model server for one command.
func withProvider(ctx context.Context, sh *app.Process, do func(context.Context, llm.Provider) error) error {
	_, c, err := app.LoadSettings(sh)
	if err != nil {
		return err
	}
	p, err := llm.Open(app.ModelSettings(c))
	if err != nil {
		return settings.UsageError{Err: err}
	}
	defer p.Close()
	err = do(ctx, p)
	if errors.Is(err, llm.ErrUnreachable) {
		return fmt.Errorf("%w\n  %s", err, agent.FailedFrom(err).Hint)
	}
	return err
}

func listModels(ctx context.Context, sh *app.Process, p llm.Provider, asJSON bool) error {
	list, err := p.Models(ctx)
	if err != nil {
		return fmt.Errorf("list models: %w", err)
	}
	if asJSON {
		if list == nil {
			list = []llm.Info{}
		}
		return json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.Err, "no models are installed; `lifehub models pull qwen3:8b` fetches one")
	}
	for _, m := range list {
		mark := " "
		if m.Name == p.State().Model {
			mark = "*"
		}
		fmt.Fprintf(sh.Out, "%s %-32s %8s  %-8s %s\n", mark, safetext.Line(m.Name), app.Size(m.Size), safetext.Line(m.Parameters), strings.Join(m.Capabilities, " "))
	}
	return nil
}

func showModel(ctx context.Context, sh *app.Process, p llm.Provider, name string, asJSON bool) error {
	if name == "" {
		name = p.State().Model
	}
	m, err := p.Info(ctx, name)
	if err != nil {
		return fmt.Errorf("show model: %w", err)
	}
	if asJSON {
		return json.NewEncoder(safetext.JSONWriter{To: sh.Out}).Encode(m)
	}
	rows := [][2]string{{"model", m.Name}, {"runs at", p.State().Provider}, {"family", m.Family}, {"parameters", m.Parameters}, {"quantization", m.Quantization}, {"can", strings.Join(m.Capabilities, ", ")}, {"runs on", m.Remote}}
	if m.Size > 0 {
		rows = append(rows, [2]string{"size", app.Size(m.Size)})
	}
	if m.Context > 0 {
		rows = append(rows, [2]string{"context", fmt.Sprintf("%d tokens at most, %d asked for", m.Context, m.Allocated)})
	}
	for _, r := range rows {
		if r[1] != "" {
			fmt.Fprintf(sh.Out, "%-14s %s\n", r[0], safetext.Line(r[1]))
		}
	}
	return nil
}
