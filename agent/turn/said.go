package turn

import (
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
	"lifehub/llm"
)

// fenceMark begins or ends a block of code in a message.
var fenceMark = pattern.Lazy("^(`{3,}|~{3,})")

// maxTopic bounds what of attachments a search is made of, in bytes.
const maxTopic = 500

// topic is what the message is about: what was typed, else the attachments. It
// is for finding and quoting, never for planning a call.
func (t *turn) topic() string {
	if t.question != agent.NothingTyped || len(t.with) == 0 {
		return t.question
	}
	return text.Clip(t.with[0].Text, maxTopic)
}

// typedBefore is the history with no more of the user's messages than was typed.
func (t *turn) typedBefore() []llm.Message {
	list := slices.Clone(t.history)
	for i, m := range list {
		if m.Role == llm.User {
			list[i].Text = agent.ParseMessage(m.Text).Text
		}
	}
	return list
}

// splitFences parts a message into what stands outside fences and inside.
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

// split parts a message of the user's into what was typed and what was not.
// Where untrusted text stands in it nothing is certain to have been typed.
func (t *turn) split(message string) (typed, brought string) {
	m := agent.ParseMessage(message)
	if len(t.quotedIn(m.Text)) > 0 {
		return "", message
	}
	typed, brought = splitFences(m.Text)
	for _, a := range m.Attached {
		brought += a.Text + "\n"
	}
	return typed, brought
}

// typed is what of a message of the user's was typed.
func (t *turn) typed(message string) string {
	typed, _ := t.split(message)
	return typed
}
