package turn

import (
	"context"
	"errors"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/agent/events"
	"lifehub/agent/memory"
	"lifehub/agent/provenance"
	"lifehub/llm"
)

// Recall finds past exchanges that help with a question, the best first: at
// most k (0: 1), and only those that fit it well. Of a conversation's own messages
// the last few are not searched, because they are in the prompts.
func (a *Agent) Recall(ctx context.Context, conversation, question string, k int) ([]agent.Recollection, error) {
	found, err := a.Memory.Recall(ctx, conversation, question, a.Limits.Messages, k)
	for i, r := range found {
		found[i].Untrusted = len(provenance.Sources(ctx, a.Provenance, r.Title, r.Question, r.Answer)) > 0 || len(agent.ParseMessage(r.Question).Attached) > 0
	}
	return found, err
}

// recall brings back what was said before: the window of recent messages, the
// facts about the user, and from beyond the window the exchanges most like the
// question. An answer that never came leaves no message. A memory that cannot
// be read is told and left out.
func (t *turn) recall(ctx context.Context) error {
	recent, err := t.Conversations.Recent(ctx, t.Conversation, t.agent.Limits.Messages)
	if err != nil {
		return err
	}
	t.History = slices.DeleteFunc(recent, func(m llm.Message) bool { return strings.TrimSpace(m.Text) == "" })
	for i, m := range t.History {
		if sent := agent.ParseMessage(m.Text); m.Role == llm.User && sent.Tools != nil { // that was for its own turn
			sent.Tools = nil
			t.History[i].Text = sent.String()
		}
	}
	if err := errors.Join(t.recallSummary(ctx), t.recallFacts(ctx), t.recallPast(ctx)); err != nil {
		t.Notice("Some memories could not be read for this turn: %v.", err)
	}
	t.recallUntrusted(ctx) // in the words that were said
	if slices.ContainsFunc(t.History, func(m llm.Message) bool { return m.Role == llm.Assistant && strings.ContainsAny(m.Text, "[【(") }) {
		if path, err := t.Conversations.Exchanges(ctx, t.Conversation); err == nil { // else they keep their numbers
			t.History = withPaths(t.History, path)
		}
	}
	if len(t.Past) > 0 || len(t.Facts) > 0 {
		t.Emit(agent.Remembered{Exchanges: t.Past, Facts: t.Facts})
	}
	return ctx.Err()
}

// withPaths are the messages of a conversation's path with the notes that its
// answers cite in place of their numbers.
func withPaths(messages []llm.Message, path []agent.Exchange) []llm.Message {
	messages = slices.Clone(messages)
	for i, m := range slices.Backward(messages) { // the last of two that are the same first
		if m.Role != llm.Assistant {
			continue
		}
		var sources []agent.Source
		for j, e := range slices.Backward(path) {
			if e.Answer.Text == m.Text {
				sources, path = e.Answer.Sources, path[:j]
				break
			}
		}
		messages[i].Text = citation.WithPaths(m.Text, sources)
	}
	return messages
}

func (t *turn) recallPast(ctx context.Context) (err error) {
	if t.agent.Memory.Store == nil {
		return nil
	}
	t.Past, err = t.agent.Recall(ctx, t.Conversation, t.Question, t.agent.Memory.K)
	return err
}

// recallFacts reads the facts again, since the user may have edited them, and
// keeps those that the prompts are to hold.
func (t *turn) recallFacts(ctx context.Context) error {
	if t.agent.Facts == nil {
		return nil
	}
	all, err := t.agent.Facts(ctx)
	if err != nil {
		return err
	}
	t.Facts, err = memory.ChooseFacts(ctx, t.Question, all)
	return err
}

// recallUntrusted finds out what of the messages, the summary and the memory
// that are in the prompts is untrusted.
func (t *turn) recallUntrusted(ctx context.Context) {
	t.AddOwn(t.Persona)
	for _, m := range append(slices.Clip(t.History), llm.Message{Role: llm.User, Text: t.message}) {
		t.AddMessage(ctx, m.Text, m.Role == llm.User)
	}
	t.MarkUntrusted(provenance.Sources(ctx, t.Store, t.Summary.Text)...)
	for i := range t.Facts {
		f := &t.Facts[i]
		if f.Untrusted = f.Untrusted || len(provenance.Sources(ctx, t.Store, f.Text)) > 0; f.Untrusted {
			t.MarkUntrusted("what was remembered")
		} else {
			t.AddOwn(f.Text)
		}
	}
	for _, r := range t.Past {
		if r.Untrusted {
			t.MarkUntrusted("what was remembered")
		} else {
			t.AddOwn(r.Question, r.Answer)
		}
	}
}

// archive puts what has left the window into long-term memory. It never costs
// the turn.
func (t *turn) archive(ctx context.Context) {
	m := t.agent.Memory
	if m.Store == nil || t.Turn == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), events.SaveTimeout)
	defer cancel()
	n, err := m.Store.Archive(ctx, t.Conversation, t.agent.Limits.Messages, m.Everywhere)
	switch {
	case err != nil:
		t.Notice("Older messages could not be archived: %v.", err)
	case n > 0 && m.Archived != nil:
		m.Archived()
	}
}
