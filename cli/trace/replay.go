package trace

import (
	"context"
	"fmt"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/redact"
	"lifehub/store/trace"
	"lifehub/tui"
	"lifehub/tui/backend"
	"lifehub/tui/plain"
	"lifehub/tui/replay"
)

func (c *traceCommand) replay(ctx context.Context, t trace.Trace, events []agent.Event) error {
	if len(events) == 0 {
		return fmt.Errorf("the trace of %s has no events to show", t.Turn)
	}
	r := replay.Recording{Question: t.Question, Events: events, Speed: c.speed}
	if c.plain || !app.HasScreen(c.Process) {
		if err := plain.Replay(ctx, r, c.Out); err != nil {
			return fmt.Errorf("write the replay: %w", err)
		}
		return nil
	}
	_, config, err := app.LoadSettings(c.Process)
	if err != nil {
		return err
	}
	status := make(chan backend.Status, 1)
	status <- backend.Status{Provider: "replay", Model: modelOf(events)}
	close(status)
	options := backend.Options{Replay: &r, Status: status, Screen: backend.Screen{Theme: backend.Theme{Name: config.Theme}, NoMouse: !config.Mouse, Editor: config.Editor, Environ: redact.WithoutOwnSecrets(c.Environ())}}
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
