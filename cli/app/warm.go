package app

import (
	"context"
	"log/slog"

	"lifehub/agent/turn"
)

// Warm has a model on this machine read what the prompts of a conversation begin with, unless
// `warm_start` is off. A failure is only logged: the next question shows it.
func (a *App) Warm(ctx context.Context, assistant *turn.Agent, conversation string) {
	if !a.Settings.WarmStart || a.Models.Remote() != "" || a.Provider.Ready(ctx) != nil {
		return
	}
	_, others := a.Servers.Unknown("")
	a.waitFor(ctx, others, newServerPatience)
	if a.Models.Remote() != "" { // only a server that is ready tells of a model that it has from elsewhere
		return
	}
	if err := assistant.Warm(ctx, conversation); err != nil && ctx.Err() == nil {
		slog.Warn("have the model read the beginning of the prompts", "error", err)
	}
}
