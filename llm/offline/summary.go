package offline

import (
	"strings"

	"lifehub/llm"
)

// Bounds of a summary that is made of quotations, in bytes.
const (
	maxSummary     = 3 << 10
	maxSummaryLine = 240
)

// makeSummary shortens a conversation by quoting it: of each message the
// sentence that has most to do with what matters, or its first. Where that is
// still too long, the oldest lines go.
func makeSummary(task *llm.Task) string {
	matters := contentQuery(&llm.Task{Question: task.Question})
	var lines []string
	for line := range strings.Lines(task.Summary) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for _, m := range task.History {
		best, score := "", -1.0
		for _, s := range segments(m.Text) {
			if got := matters.score(s.text); got > score && !s.code && !s.heading {
				best, score = s.text, got
			}
		}
		if best = oneLine(best); best == "" {
			continue
		}
		who := "You: "
		if m.Role == llm.User {
			who = "User: "
		}
		lines = append(lines, who+clipBytes(best, maxSummaryLine))
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
