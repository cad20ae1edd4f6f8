package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/agent/events"
	"lifehub/agent/memory"
	"lifehub/agent/prompt"
	"lifehub/llm"
)

const (
	// everyMessage is more than any conversation has.
	everyMessage = 1 << 16
	// lastMessages is the number of messages in the history if no model is
	// connected to read it. Earlier messages are found in long-term memory.
	lastMessages = 6
)

// mostMessages returns the maximum number of messages of a conversation in the
// prompts.
func (a *Agent) mostMessages() int {
	n := cmp.Or(a.Limits.Messages, everyMessage)
	if a.Server.ModelName() == noModel {
		return min(n, lastMessages)
	}
	return n
}

// window returns the exchanges of a conversation that are in the prompts, and the
// summary of those before them. Which those are may depend on the model, so a
// longer conversation waits for it.
func (a *Agent) window(ctx context.Context, conversation string, wait func(context.Context) error) (agent.Window, error) {
	w, err := a.History.Window(ctx, conversation, min(a.mostMessages(), prompt.VerbatimMessages))
	if err == nil && w.Before > 0 {
		_ = wait(ctx) // the first request reports any error
		w, err = a.History.Window(ctx, conversation, a.mostMessages())
	}
	return w, err
}

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

// messagesOf returns the messages of exchanges, with paths in place of citation
// numbers.
func messagesOf(path []agent.Exchange) (list []llm.Message) {
	for _, e := range path {
		list = append(list, llm.Message{Role: llm.User, Text: withoutTools(e.Question)})
		if answer := citation.WithPaths(e.Answer.Text, e.Answer.Sources); strings.TrimSpace(answer) != "" {
			list = append(list, llm.Message{Role: llm.Assistant, Text: answer})
		}
	}
	return list
}

// withoutTools returns a message without its list of tools, which applied only
// to its own turn.
func withoutTools(message string) string {
	sent := agent.ParseMessage(message)
	if sent.Tools == nil {
		return message
	}
	sent.Tools = nil
	return sent.String()
}

// unanswered is the placeholder for a missing answer, because the templates of
// some models reject two consecutive user messages.
const unanswered = "(This turn was stopped before an answer.)"

// asSeen returns the messages of exchanges as a model sees them, in every request
// alike: the record of what a turn did begins the user's next message, where no
// model writes. record is that of the last turn.
func asSeen(path []agent.Exchange, mark string) (seen []llm.Message, record string) {
	for _, e := range path {
		messages := messagesOf([]agent.Exchange{e})
		if record != "" {
			messages[0].Text = record + "\n\n" + messages[0].Text
		}
		if seen = append(seen, messages...); len(messages) == 1 {
			seen = append(seen, llm.Message{Role: llm.Assistant, Text: unanswered})
		}
		record = e.Record(mark)
	}
	return seen, record
}

func (t *turn) recallPast(ctx context.Context) (err error) {
	if t.agent.Memory.Store == nil {
		return nil
	}
	t.recalled.Past, err = t.agent.recall(ctx, t.record.Conversation, t.message.question, len(t.recalled.History), t.agent.Memory.K)
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
	t.recalled.Facts = slices.DeleteFunc(t.recalled.Facts, func(f agent.Fact) bool { return f.Untrusted && !f.Fits }) // nobody asked for it
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), events.SaveTimeout)
	defer cancel()
	n, err := m.Store.Archive(ctx, t.record.Conversation, cmp.Or(t.agent.Limits.Messages, lastMessages), m.Everywhere)
	switch {
	case err != nil:
		t.events.Notice("Older messages could not be archived: %v.", err)
	case n > 0 && m.Archived != nil:
		m.Archived()
	}
}
