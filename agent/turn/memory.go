package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"lifehub/agent"
	"lifehub/agent/memory"
	"lifehub/agent/prompt"
)

// Recall returns at most k (0: 1) past exchanges that fit a question well, best
// first. It does not search messages that are already in the prompts.
func (a *Agent) Recall(ctx context.Context, conversation, question string, k int) ([]agent.Recollection, error) {
	shown := 0
	if a.History != nil && conversation != "" {
		w, err := a.window(ctx, conversation, a.Server.Ready)
		if err != nil {
			return nil, err
		}
		shown = len(messagesOf(w.Exchanges))
	}
	return a.recall(ctx, conversation, question, shown, k)
}

// recall is like Recall with the number of messages that are in the prompts.
func (a *Agent) recall(ctx context.Context, conversation, question string, shown, k int) ([]agent.Recollection, error) {
	return a.Memory.Recall(ctx, conversation, question, shown, k)
}

// recall loads what was said before: the messages of the conversation or a
// summary of the older ones, the facts about the user, and the most similar
// exchanges that are not in the prompts. Messages without text are omitted.
// Memory that cannot be read is reported and omitted.
func (t *turn) recall(ctx context.Context) error {
	if err := t.recallWindow(ctx); err != nil {
		return err
	}
	t.compactHistory(ctx)
	if t.command == nil { // else there is no prompt that they could be in
		if err := errors.Join(t.recallFacts(ctx), t.recallPast(ctx)); err != nil {
			t.events.Notice("Some memories could not be read for this turn: %v.", err)
		}
	}
	t.recallOrigins(ctx)
	if len(t.recalled.Past) > 0 || len(t.recalled.Facts) > 0 {
		t.events.Emit(agent.Remembered{Exchanges: t.recalled.Past, Facts: t.recalled.Facts})
	}
	return ctx.Err()
}

// recallWindow loads the exchanges in the prompts and the summary of older ones.
func (t *turn) recallWindow(ctx context.Context) error {
	w, err := t.agent.window(ctx, t.record.Conversation, t.model.Wait)
	if err != nil {
		return err
	}
	if t.agent.Summaries != nil {
		t.recalled.Summary = w.Summary
	}
	t.recalled.Omitted = w.Before
	t.talk.path = slices.DeleteFunc(w.Exchanges, func(e agent.Exchange) bool { return e.Turn == t.events.Turn })
	t.recalled.History = messagesOf(t.talk.path)
	t.recalled.Seen, t.recalled.Record = asSeen(t.talk.path, t.toolFence())
	return nil
}

func (t *turn) recallPast(ctx context.Context) (err error) {
	if t.agent.Memory.Store == nil {
		return nil
	}
	t.recalled.Past, err = t.agent.recall(ctx, t.record.Conversation, t.message.question, len(t.recalled.History),
		t.agent.Memory.K)
	return err
}

// recallFacts reads the facts, which the user may have edited, and selects
// those for the prompts.
func (t *turn) recallFacts(ctx context.Context) error {
	if t.agent.Facts == nil {
		return nil
	}
	all, err := t.agent.Facts.List(ctx)
	if err != nil {
		return err
	}
	t.recalled.Facts, err = memory.ChooseFacts(ctx, t.message.question, all)
	return err
}

// recallOrigins records where the messages, the summary and the memory in the
// prompts come from.
func (t *turn) recallOrigins(ctx context.Context) {
	t.record.Add(t.recalled.Summary.Origin)
	for _, e := range t.talk.path {
		t.record.AddMessage(e.Question)
		t.record.Add(e.Origin)
	}
	for _, r := range t.recalled.Past {
		t.record.Add(r.Origin)
		if r.Untrusted && !r.Origin.IsOutside() {
			t.record.Add(agent.FromOutside("the title of an earlier conversation"))
		}
	}
	for i := range t.recalled.Facts {
		t.recalled.Facts[i].Untrusted = t.record.IsOutside(ctx, t.recalled.Facts[i])
	}
	// nobody asked for it
	t.recalled.Facts = slices.DeleteFunc(t.recalled.Facts, func(f agent.Fact) bool { return f.Untrusted && !f.Fits })
	for _, f := range t.recalled.Facts {
		t.record.Add(agent.Own())
		if f.Untrusted {
			t.record.Add(agent.FromOutside("what was remembered"))
		}
	}
	t.record.AddMessage(t.message.whole)
}

// archive moves all but the last messages to long-term memory. Errors do not
// fail the turn.
func (t *turn) archive(ctx context.Context) {
	m := t.agent.Memory
	if m.Store == nil || t.events.Turn == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), agent.SaveTimeout)
	defer cancel()
	n, err := m.Store.Archive(ctx, t.record.Conversation, cmp.Or(t.agent.Limits.Messages, lastMessages), m.Everywhere)
	switch {
	case err != nil:
		t.events.Notice("Older messages could not be archived: %v.", err)
	case n > 0 && m.Embedding != nil:
		m.Embedding.Archived()
	}
}

// compactHistory summarizes the older half of a conversation that takes more
// than half of the window, in one step. If the history lost one message in each
// turn, servers could not cache the prompt.
func (t *turn) compactHistory(ctx context.Context) {
	if t.agent.Summaries == nil || t.agent.mostMessages() < everyMessage ||
		len(t.recalled.History) <= prompt.VerbatimMessages {
		return
	}
	room, used := t.model.Room(ctx)/2, 0
	for _, m := range t.recalled.Seen {
		used += prompt.Tokens(m.Text) + prompt.PerMessage
	}
	if used > room {
		t.compactOlder(ctx, room/2)
	}
}

// compactOlder summarizes the older turns, at most once in a turn, and reports
// whether it did.
func (t *turn) compactOlder(ctx context.Context, keep int) bool {
	if t.talk.compacted {
		return false
	}
	t.talk.compacted = true
	t.events.Count(func(m *agent.Metrics) { m.ModelCalls++ })
	done, err := t.agent.compact(ctx, t.record.Conversation, "", keep)
	if err == nil {
		err = t.recallWindow(ctx)
	}
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, agent.ErrNothingToCompact) {
			t.events.Degrade("the conversation could not be summarised", err)
		}
		return false
	}
	t.events.Notice("To fit the context window, %d older messages are now summarised.", done.Messages)
	return true
}

// Compact summarizes the older turns if a prompt does not fit even with
// its results shortened.
func (t *turn) Compact(ctx context.Context, p prompt.Prompt) prompt.Prompt {
	if t.agent.Summaries == nil || len(p.History) <= prompt.VerbatimMessages || !t.model.Overflows(ctx, p) ||
		!t.compactOlder(ctx, 0) {
		return p
	}
	return t.withConversation(p)
}
