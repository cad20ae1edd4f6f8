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
	"lifehub/agent/gate"
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
	if a.ModelName() == noModel {
		return min(n, lastMessages)
	}
	return n
}

// inPrompts returns the number of messages of a conversation in the prompts,
// excluding those covered by a summary.
func (a *Agent) inPrompts(ctx context.Context, conversation string) int {
	n := a.mostMessages()
	if a.Summaries == nil {
		return n
	}
	if s, err := a.Summaries.Summary(ctx, conversation); err == nil && s.Turn != "" {
		n = min(n, s.After)
	}
	return n
}

// Recall returns at most k (0: 1) past exchanges that fit a question well, best
// first. It does not search messages that are already in the prompts.
func (a *Agent) Recall(ctx context.Context, conversation, question string, k int) ([]agent.Recollection, error) {
	found, err := a.Memory.Recall(ctx, conversation, question, a.inPrompts(ctx, conversation), k)
	for i, r := range found {
		found[i].Untrusted = len(gate.Sources(ctx, a.Provenance, r.Title, r.Question, r.Answer)) > 0 || len(agent.ParseMessage(r.Question).Attached) > 0
	}
	return found, err
}

// recall loads what was said before: the messages of the conversation or a
// summary of the older ones, the facts about the user, and the most similar
// exchanges that are not in the prompts. Messages without text are omitted.
// Memory that cannot be read is reported and omitted.
func (t *turn) recall(ctx context.Context) error {
	recent, err := t.answer.conversations.Recent(ctx, t.record.Conversation, cmp.Or(t.agent.Limits.Messages, everyMessage))
	if err != nil {
		return err
	}
	t.recent = slices.DeleteFunc(recent, func(m llm.Message) bool { return strings.TrimSpace(m.Text) == "" })
	for i, m := range t.recent {
		if m.Role == llm.User {
			t.recent[i].Text = withoutTools(m.Text)
		}
	}
	if len(t.recent) > prompt.VerbatimMessages {
		_ = t.model.Wait(ctx) // the model determines how many are in the prompt; the first request reports any error
		t.recent = t.recent[max(0, len(t.recent)-t.agent.mostMessages()):]
	}
	if len(t.recent) > 0 {
		if path, err := t.answer.conversations.Exchanges(ctx, t.record.Conversation); err == nil { // otherwise the answers stay without records
			t.path = slices.DeleteFunc(path, func(e agent.Exchange) bool { return e.Turn == t.events.Turn })
		}
	}
	err = t.recallSummary(ctx)
	t.compactHistory(ctx)
	if err := errors.Join(err, t.recallFacts(ctx), t.recallPast(ctx)); err != nil {
		t.events.Notice("Some memories could not be read for this turn: %v.", err)
	}
	t.recalled.History = t.recent
	t.recallUntrusted(ctx) // by the original text
	t.keepHistory()
	if len(t.recalled.Past) > 0 || len(t.recalled.Facts) > 0 {
		t.events.Emit(agent.Remembered{Exchanges: t.recalled.Past, Facts: t.recalled.Facts})
	}
	return ctx.Err()
}

// keepHistory rewrites the messages of the prompts as the model sees them, and
// counts the omitted ones.
func (t *turn) keepHistory() {
	t.recalled.History = asSeen(t.recent, t.path)
	messages := 0
	for _, e := range t.path {
		if messages++; strings.TrimSpace(e.Answer.Text) != "" {
			messages++
		}
	}
	t.recalled.Omitted = max(0, messages-len(t.recent))
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

// asSeen returns messages as a model sees them: with paths in place of citation
// numbers, and with the record of each turn after its answer. A turn without an
// answer is represented by its record alone.
func asSeen(messages []llm.Message, path []agent.Exchange) (seen []llm.Message) {
	for _, m := range slices.Backward(messages) { // match identical messages from the end
		at := len(path) - 1
		for at >= 0 && (m.Role == llm.Assistant && path[at].Answer.Text != m.Text || m.Role == llm.User && withoutTools(path[at].Question) != m.Text) {
			at--
		}
		switch {
		case at < 0 && m.Role == llm.Assistant:
			m.Text = citation.WithPaths(m.Text, nil)
		case at < 0:
		case m.Role == llm.Assistant:
			e := path[at]
			e.Answer.Text = citation.WithPaths(m.Text, e.Answer.Sources)
			m.Text, path = e.WithRecord(), path[:at+1]
		default:
			if e := path[at]; strings.TrimSpace(e.Answer.Text) == "" && e.Answer.Effects != nil {
				seen = append(seen, llm.Message{Role: llm.Assistant, Text: e.WithRecord()})
			}
			path = path[:at]
		}
		seen = append(seen, m)
	}
	slices.Reverse(seen)
	return seen
}

func (t *turn) recallPast(ctx context.Context) (err error) {
	if t.agent.Memory.Store == nil {
		return nil
	}
	t.recalled.Past, err = t.agent.Recall(ctx, t.record.Conversation, t.answer.question, t.agent.Memory.K)
	return err
}

// recallFacts reads the facts, which the user may have edited, and selects
// those for the prompts.
func (t *turn) recallFacts(ctx context.Context) error {
	if t.agent.Facts == nil {
		return nil
	}
	all, err := t.agent.Facts(ctx)
	if err != nil {
		return err
	}
	t.recalled.Facts, err = memory.ChooseFacts(ctx, t.answer.question, all)
	return err
}

// recallUntrusted records which of the messages, the summary and the memory in
// the prompts are untrusted.
func (t *turn) recallUntrusted(ctx context.Context) {
	t.record.AddOwn(t.answer.persona)
	for _, m := range append(slices.Clip(t.recalled.History), llm.Message{Role: llm.User, Text: t.message}) {
		t.record.AddMessage(ctx, m.Text, m.Role == llm.User)
	}
	t.record.MarkUntrusted(gate.Sources(ctx, t.record.Store, t.recalled.Summary.Text)...)
	for i := range t.recalled.Facts {
		f := &t.recalled.Facts[i]
		if f.Untrusted = f.Untrusted || len(gate.Sources(ctx, t.record.Store, f.Text)) > 0; f.Untrusted {
			t.record.MarkUntrusted("what was remembered")
		} else {
			t.record.AddOwn(f.Text)
		}
	}
	for _, r := range t.recalled.Past {
		if r.Untrusted {
			t.record.MarkUntrusted("what was remembered")
		} else {
			t.record.AddOwn(r.Question, r.Answer)
		}
	}
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
