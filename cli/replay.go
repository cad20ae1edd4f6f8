package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/redact"
	"lifehub/cli/settings"
	"lifehub/store/trace"
	"lifehub/tui"
	"lifehub/tui/backend"
	"lifehub/tui/plain"
	"lifehub/tui/replay"
)

func newReplay(sh *app.Process) *cobra.Command {
	var speed float64
	var plain bool
	cmd := &cobra.Command{
		Use: "replay ID", Short: "Show a turn again as it was, without a model",
		Long: "Show a turn again on the screen, from its trace: nothing is asked and nothing runs.\n" +
			"Keys: space pauses, + and - change the speed, q leaves.",
		Example: "  lifehub trace replay 3f9c2a              # as fast as it was\n" +
			"  lifehub trace replay 3f9c2a --speed 4\n" +
			"  lifehub trace replay 3f9c2a --speed 0    # all at once",
		Args: app.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if speed < 0 {
				return settings.UsageError{Err: fmt.Errorf("--speed: %g is not a speed; 1 is as it was, 0 at once", speed)}
			}
			return withTrace(cmd.Context(), sh, given[0], func(t trace.Trace, events []agent.Event) error {
				return replayTrace(cmd.Context(), sh, t, replay.Recording{Question: t.Question, Events: events, Speed: speed}, plain)
			})
		},
	}
	cmd.Flags().Float64Var(&speed, "speed", 1, "how many times as fast as it was; 0: at once")
	cmd.Flags().BoolVar(&plain, "plain", false, "print lines and never draw again")
	return cmd
}

func replayTrace(ctx context.Context, sh *app.Process, t trace.Trace, r replay.Recording, lines bool) error {
	if len(r.Events) == 0 {
		return fmt.Errorf("the trace of %s holds no event that can be shown", t.Turn)
	}
	if lines || !app.HasScreen(sh) {
		if err := plain.Replay(ctx, r, sh.Out); err != nil {
			return fmt.Errorf("write the replay: %w", err)
		}
		return nil
	}
	_, c, err := app.LoadSettings(sh)
	if err != nil {
		return err
	}
	status := make(chan backend.Status, 1)
	status <- backend.Status{Provider: "replay", Model: modelOf(r.Events)}
	close(status)
	options := backend.Options{Replay: &r, Status: status, Theme: c.Theme, NoMouse: !c.Mouse, Editor: c.Editor, Environ: redact.WithoutOwnSecrets(sh.Environ())}
	if _, err := tui.Run(ctx, options); err != nil {
		return fmt.Errorf("show the replay: %w", err)
	}
	return nil
}

// modelOf is who answered in a turn; "": unknown.
func modelOf(events []agent.Event) (model string) {
	for _, e := range events {
		switch body := e.Body.(type) {
		case agent.Prompted:
			model = body.Model
		case agent.Ended:
			model = body.Model
		}
	}
	return model
}
