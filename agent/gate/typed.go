package gate

import (
	"strings"

	"lifehub/agent"
	"lifehub/internal/pattern"
)

// fenceMark matches the start or end of a fenced code block.
var fenceMark = pattern.Lazy("^(`{3,}|~{3,})")

// Outside returns the text of a message outside fenced code blocks.
func Outside(message string) string {
	outside, _ := splitFences(message)
	return outside
}

// splitFences splits a message into the text outside and inside fenced code
// blocks.
func splitFences(message string) (outside, inside string) {
	var unfenced, fenced strings.Builder
	open := ""
	for line := range strings.Lines(message) {
		mark := fenceMark.FindString(line)
		switch {
		case open == "" && mark != "":
			open = mark
		case open == "":
			unfenced.WriteString(line)
		case strings.HasPrefix(mark, open) && strings.TrimSpace(line) == mark:
			open = ""
		default:
			fenced.WriteString(line)
		}
	}
	return unfenced.String(), fenced.String()
}

// Split splits a message of the user into what was typed and the rest: fenced
// code and attachments. If the message contains untrusted text, nothing counts
// as typed.
func (r *Record) Split(message string) (typed, brought string) {
	m := agent.ParseMessage(message)
	if len(r.QuotedIn(m.Text)) > 0 {
		return "", message
	}
	typed, brought = splitFences(m.Text)
	for _, a := range m.Attached {
		brought += a.Text + "\n"
	}
	return typed, brought
}

// Typed returns the typed part of a message of the user.
func (r *Record) Typed(message string) string {
	typed, _ := r.Split(message)
	return typed
}
