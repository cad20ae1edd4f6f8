package turn

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
	"lifehub/llm"
)

//go:embed prompts/summary.md
var summaryPrompt string

const (
	// summaryWords bounds a summary.
	summaryWords = 300
	// maxSummaryTokens bounds it for a model that ignores summaryWords.
	maxSummaryTokens = 1024
	// summaryRoom is how much is summarized at once if the window is unknown,
	// in estimated tokens.
	summaryRoom = 6000
	// maxSummaries bounds the model calls of one compaction.
	maxSummaries = 6
)

// Compact summarizes all but the last messages of a conversation. focus is what
// matters most; "" for everything. The messages remain readable and searchable.
func (a *Agent) Compact(ctx context.Context, conversation, focus string) (agent.Compacted, error) {
	return a.compact(ctx, conversation, focus, 0)
}

// compact is like Compact but leaves at least the last keep tokens of messages
// in full.
func (a *Agent) compact(ctx context.Context, conversation, focus string, keep int) (agent.Compacted, error) {
	if a.Summaries == nil {
		return agent.Compacted{}, errors.New("this conversation is not saved")
	}
	w, err := a.History.Window(ctx, conversation, everyMessage)
	if err != nil {
		return agent.Compacted{}, err
	}
	before, path := w.Summary, uncovered(w.Exchanges, keep)
	messages := messagesOf(withDeeds(path))
	if len(messages) == 0 {
		return agent.Compacted{}, agent.ErrNothingToCompact
	}
	done := agent.Compacted{Messages: len(messages), Before: prompt.Tokens(before.Text)}
	for _, m := range messages {
		done.Before += prompt.Tokens(m.Text) + prompt.PerMessage
	}
	if done.Text, err = a.summarise(ctx, before.Text, messages, focus); err != nil {
		return agent.Compacted{}, err
	}
	done.After = prompt.Tokens(done.Text)
	summary := agent.Summary{Turn: path[len(path)-1].Turn, Text: done.Text, Origin: before.Origin}
	for _, e := range path {
		summary.Origin = summary.Origin.And(e.Origin)
	}
	return done, a.Summaries.SaveSummary(ctx, summary)
}

// withDeeds returns exchanges whose answers end with what was done.
func withDeeds(path []agent.Exchange) []agent.Exchange {
	path = slices.Clone(path)
	for i, e := range path {
		if did := e.Did(); did != "" {
			path[i].Answer.Text = strings.TrimSpace(e.Answer.Text + "\n\nWhat was done: " + did)
		}
	}
	return path
}

// uncovered returns the exchanges that precede those left in full. At least two
// are left in full, and as many as fit into keep tokens.
func uncovered(path []agent.Exchange, keep int) []agent.Exchange {
	for len(path) > 0 && path[len(path)-1].Open {
		path = path[:len(path)-1]
	}
	verbatim, used := 0, 0
	for _, e := range slices.Backward(path) {
		used += prompt.Tokens(e.Question) + prompt.Tokens(e.Answer.Text) + 2*prompt.PerMessage
		if verbatim >= prompt.VerbatimMessages/2 && used > keep {
			break
		}
		verbatim++
	}
	return path[:len(path)-verbatim]
}

// summarise adds messages to a summary, as many at a time as fit the window.
func (a *Agent) summarise(ctx context.Context, summary string, messages []llm.Message, focus string) (string, error) {
	if err := a.Server.Ready(ctx); err != nil {
		return "", err
	}
	room := summaryRoom
	if window := a.Server.Window(); window > 0 {
		s := prompt.Scale(a.meters.Of(ctx, a.Server.ModelName()), a.Server.RejectsLongPrompts())
		room = max(prompt.Floor, int(float64(window/2)/s)-maxSummaryTokens/2)
	}
	most := max(prompt.Floor, maxSummaries*room/len(messages)) // of one message
	for len(messages) > 0 {
		used, n := prompt.Tokens(summary), 0
		var part []llm.Message
		for n < len(messages) && (n == 0 || used < room) {
			m := messages[n]
			m.Text = prompt.ClipTokens(m.Text, min(most, room/2))
			if used += prompt.Tokens(m.Text) + prompt.PerMessage; n > 0 && used > room {
				break
			}
			part = append(part, m)
			n++
		}
		messages = messages[n:]
		text, err := a.summariseOnce(ctx, summary, part, focus)
		if err != nil {
			return "", err
		}
		summary = text
	}
	return summary, nil
}

func (a *Agent) summariseOnce(ctx context.Context, before string, messages []llm.Message, focus string) (string,
	error,
) {
	const fence = "«««"
	var b strings.Builder
	if before != "" {
		fmt.Fprintf(&b, "What came before, shortened already:\n%s\n%s\n%s\n\n", fence, before, fence)
	}
	fmt.Fprintf(&b, "The conversation:\n%s\n", fence)
	for _, m := range messages {
		name := "User"
		if m.Role == llm.Assistant {
			name = "You"
		}
		fmt.Fprintf(&b, "%s: %s\n", name, strings.ReplaceAll(m.Text, fence, "««"))
	}
	fmt.Fprintf(&b, "%s\n\nShorten all of it now.", fence)
	if focus != "" {
		fmt.Fprintf(&b, " Keep above all what has to do with: %s", text.OneLine(focus))
	}
	var summary strings.Builder
	asker := a.asker(agent.NewStream(nil, a.Now), "")
	if _, err := asker.Ask(ctx, prompt.Prompt{
		System:   strings.ReplaceAll(summaryPrompt, "{words}", strconv.Itoa(summaryWords)),
		Question: b.String(), Request: llm.Request{MaxTokens: maxSummaryTokens},
	}, func(piece string) { summary.WriteString(piece) }); err != nil {
		return "", err
	}
	if text := prompt.Answer(prompt.WithoutThoughts(summary.String())); text != "" {
		return text, nil
	}
	return "", agent.ErrNoAnswer
}
