package turn

import (
	"cmp"
	"context"
	"strings"

	"lifehub/agent"
	"lifehub/agent/citation"
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
func (a *Agent) window(ctx context.Context, conversation string, wait func(context.Context) error) (agent.Window,
	error,
) {
	w, err := a.History.Window(ctx, conversation, min(a.mostMessages(), prompt.VerbatimMessages))
	if err == nil && w.Before > 0 {
		_ = wait(ctx) // the first request reports any error
		w, err = a.History.Window(ctx, conversation, a.mostMessages())
	}
	return w, err
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
