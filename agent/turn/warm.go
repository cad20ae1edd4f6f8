package turn

import (
	"context"

	"lifehub/agent"
	"lifehub/agent/prompt"
)

// Warm has the model read what the next prompt of a conversation begins with: the
// small vault, the instructions, the tools and the messages so far, so that its server
// holds them when a message is sent. Turns that begin meanwhile wait for it. It saves nothing
// and asks nothing of the user.
func (a *Agent) Warm(ctx context.Context, conversation string) (err error) {
	defer agent.Catch(&err)
	t := newTurn(a, conversation, nil)
	t.events.Journal, t.events.Trace = nil, nil
	if err := t.model.Wait(ctx); err != nil || a.Server.ModelName() == noModel {
		return err
	}
	t.offerTools()
	if err := t.recallWindow(ctx); err != nil {
		return err
	}
	t.recalled.Seen, t.recalled.Record = asSeen(t.talk.path, t.toolFence())
	t.fitModel()
	switch t.mode {
	case agent.LoopMode:
		a.vault.warmUp()
		t.readWhole(ctx)
		return t.newLoop().warm(ctx)
	case agent.TeamMode:
		return t.newLead().warm(ctx)
	}
	t.withoutLoopOnly()
	return t.warm(ctx, t.plannerPrompt(ctx))
}

// warm has the model read the beginning of the first round.
func (l *agentLoop) warm(ctx context.Context) error {
	err := l.turn.warm(ctx, l.prompt())
	if l.turn.traits.Native && l.inOtherNotation(err) {
		return l.turn.warm(ctx, l.prompt())
	}
	return err
}

// warm has the model read a prompt up to its last message, which holds what changes
// with each question. A model of a role has another server.
func (t *turn) warm(ctx context.Context, p prompt.Prompt) error {
	if t.model.Roles[p.Agent] != nil {
		return nil
	}
	p.Summary, p.Omitted, p.Intro, p.Material, p.Question = "", 0, "", nil, "…"
	return t.model.Warm(ctx, p)
}
