package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/store"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// traceCommand is `lifehub trace` and its flags.
type traceCommand struct {
	Process *app.Process
	limit   int
	asJSON  bool
}

func newTrace(sh *app.Process) *cobra.Command {
	c := &traceCommand{Process: sh}
	list := &cobra.Command{Use: "list", Short: "List traces, newest first", RunE: app.ReadingStore(sh, c.list)}
	app.AddNumber(list, &c.limit, 20, 0, "traces", "how many; 0: all")
	app.AddJSON(list, &c.asJSON, "print a JSON array")
	show := &cobra.Command{
		Use: "show [ID]", Short: "Print what happened in a turn as JSON lines, without secrets",
		Long: "Print what happened in a turn as JSON lines: a header, then each event and prompt as --stream-json " +
			"writes\n" +
			"events. ID is that of a turn, or of a conversation for its last turn; without one it is the last turn " +
			"of all.\n" +
			"Keys and passwords from the settings, the environment and mcp.json are removed in every encoding " +
			"(plain, URL,\n" +
			"base64, hex), and so is anything that looks like one.",
		Example: "  lifehub trace show 3f9c2a       # the last turn of that conversation",
		RunE:    app.ReadingStore(sh, c.show),
	}
	return app.Group("trace", "Inspect what happened in a turn", list, show)
}

const noTraces = "no traces yet; each turn saves one"

func (c *traceCommand) list(ctx context.Context, s *store.Store, _ []string) error {
	list, err := s.Traces.List(ctx, c.limit)
	if err != nil {
		return err
	}
	secrets := app.SecretsOf(c.Process)
	for i := range list {
		list[i].Question = secrets.Text(list[i].Question)
	}
	return app.PrintList(c.Process, c.asJSON, "traces", noTraces, list, func(t store.Trace) string {
		note := ""
		switch {
		case t.Readable() != nil:
			note = fmt.Sprintf(" (format %d)", t.Format)
		case !t.Complete:
			note = " (incomplete)"
		}
		return fmt.Sprintf("%-12s  %s  %-6s  %4d events  %8s  %s%s", t.Turn, t.Started.Local().Format(app.ShownTime),
			t.State, t.Events, draw.Bytes(t.Size), draw.Summary(t.Question, 60), note)
	})
}

// traceHead is the first line of a trace.
type traceHead struct {
	Type string `json:"type"`
	store.Trace
}

// show prints a trace as far as it can be read. Damage is reported on stderr.
func (c *traceCommand) show(ctx context.Context, s *store.Store, given []string) error {
	secrets := app.SecretsOf(c.Process)
	if len(given) == 0 {
		last, err := s.Traces.List(ctx, 1)
		if err != nil {
			return err
		}
		if len(last) == 0 {
			return app.ExitError{Err: errors.New(noTraces), Code: app.ExitNothing}
		}
		fmt.Fprintf(c.Process.Err, "the last turn, %s: %s\n", last[0].Turn,
			draw.Summary(secrets.Text(last[0].Question), 60))
		given = []string{last[0].Turn}
	}
	t, err := s.Traces.Read(ctx, given[0])
	if errors.Is(err, store.ErrNone) {
		return app.ExitError{Err: err, Code: app.ExitNothing}
	}
	if err != nil {
		return settings.UsageError{Err: err}
	}
	if err := t.Readable(); err != nil {
		return err
	}
	if t.Damage != "" {
		c.Process.Notice("the trace is damaged; the readable part follows: " + t.Damage)
	}
	t.Question = secrets.Text(t.Question)
	if err := app.PrintJSON(c.Process, "trace", traceHead{"trace", t}); err != nil {
		return err
	}
	if _, err := (safetext.JSONWriter{To: c.Process.Out}).Write(secrets.Trace(t.Lines)); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}
