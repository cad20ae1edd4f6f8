package gate

import (
	"strings"

	"lifehub/agent"
	"lifehub/internal/pattern"
)

// fenceMark begins or ends a block of code in a message.
var fenceMark = pattern.Lazy("^(`{3,}|~{3,})")

// Outside is what of a message stands outside fences.
func Outside(message string) string {
	outside, _ := splitFences(message)
	return outside
}

// splitFences parts a message into what is outside fences and inside.
func splitFences(message string) (outside, inside string) {
	var kept, fenced strings.Builder
	open := ""
	for line := range strings.Lines(message) {
		mark := fenceMark.FindString(line)
		switch {
		case open == "" && mark != "":
			open = mark
		case open == "":
			kept.WriteString(line)
		case strings.HasPrefix(mark, open) && strings.TrimSpace(line) == mark:
			open = ""
		default:
			fenced.WriteString(line)
		}
	}
	return kept.String(), fenced.String()
}

// Split parts a message of the user's into what was typed and what was not.
// Where untrusted text is in it nothing is certain to have been typed.
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

// Typed is what of a message of the user's was typed.
func (r *Record) Typed(message string) string {
	typed, _ := r.Split(message)
	return typed
}
