package offline

import (
	"strings"

	"lifehub/internal/text"
	"lifehub/llm"
)

// Limits of a summary in bytes.
const (
	maxSummary     = 3 << 10
	maxSummaryLine = 240
)

// makeSummary reduces a conversation to the first sentence of each message. If
// the result is too long, the oldest lines are dropped.
func makeSummary(task *llm.Task) string {
	var lines []string
	for line := range strings.Lines(task.Summary) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for _, m := range task.History {
		who := "You: "
		if m.Role == llm.User {
			who = "User: "
		}
		message := strings.TrimSpace(m.Text)
		if first := text.OneLine(message[:text.SentenceEnd(message)]); first != "" {
			lines = append(lines, who+text.Cut(first, maxSummaryLine))
		}
	}
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if size += len(lines[i]) + 1; size > maxSummary {
			lines = lines[i+1:]
			break
		}
	}
	return strings.Join(lines, "\n")
}
