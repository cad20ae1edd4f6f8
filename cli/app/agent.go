package app

import (
	"cmp"
	"context"
	"io"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/agent/tools"
	"lifehub/agent/turn"
	"lifehub/cli/settings"
	"lifehub/store"
)

// Agent returns an agent that uses what is open.
func (a *App) Agent() *turn.Agent {
	options := turn.Options{
		Model: a.Provider, Server: prompt.ServerOf(a.Provider), Traits: a, TokenRatios: a.Store,
		Roles: a.roles, Workers: workers, Tools: a, Guide: tools.Guide, Notes: library{a},
		History: a.Store, Journal: a.Store, Memory: a.longTerm(), Summaries: a.Store, Facts: a.Facts(),
		Rules: a.Rules, Attach: Attached{a}, Marks: &a.Marks, Save: a, Unattended: a.Unattended, Session: session{a},
		Instructions: a.persona(),
		Limits: turn.Limits{
			Passages: a.Settings.Passages, Parallel: a.Settings.Parallel,
			Rounds: a.Settings.Loop.Max, Replans: cmp.Or(a.Settings.Replans, -1), Messages: a.Settings.Memory.Messages,
		},
		Trace: a.tracer(), Redact: a.Secrets,
	}
	for _, h := range Hooks(a.Paths, a.Settings) {
		switch h.Event {
		case "before_call":
			options.Before = runHook{h, a.Secrets}
		case "after_turn":
			options.After = runHook{h, a.Secrets}
		}
	}
	return turn.New(options)
}

// AtOnce has the tools of an App, without those that are to be waited for.
type AtOnce struct{ *App }

// Prepare implements [turn.Toolbox].
func (AtOnce) Prepare(context.Context, string, func(string)) {}

// session has what the user may change between turns.
type session struct{ app *App }

func (s session) Mode() agent.Mode { return s.app.Mode.Or(agent.Mode(s.app.Settings.Mode)) }
func (s session) Think() string    { return s.app.Think.Or(s.app.Settings.Think) }
func (s session) Approve() bool    { return s.app.Approve.On() }
func (s session) ReadOnly() bool   { return s.app.ReadOnly.On() }

// library reads the notes of the open vaults.
type library struct{ app *App }

// About implements [turn.Library].
func (l library) About(ctx context.Context) []string { return l.app.Library().About(ctx) }

// Reread implements [turn.Library].
func (l library) Reread(s agent.Source) (string, bool) { return l.app.Reread(s) }

// tracer returns what begins traces, or nil if they are off.
func (a *App) tracer() agent.Tracer {
	if a.Settings.Traces.Total == 0 {
		return nil
	}
	return tracer{a, store.Limits{Turn: a.Settings.Traces.Turn << 10, Total: int64(a.Settings.Traces.Total) << 20}}
}

type tracer struct {
	app    *App
	limits store.Limits
}

// Begin implements [events.Tracer].
func (t tracer) Begin(turn string) io.WriteCloser {
	return &settings.TraceWriter{WriteCloser: t.app.Store.Traces.Begin(turn, t.limits), Secrets: t.app.Secrets}
}
