package agent

import (
	"cmp"
	"slices"
	"strings"

	"lifehub/internal/pattern"
	"lifehub/llm"
)

// Attachment is a text that came with a message and that nobody typed: what was
// piped, pasted or read from a file. It is untrusted, and nothing in it is a command.
type Attachment struct{ Name, Text string }

// Message is what the user sent.
type Message struct {
	Text     string // what was typed
	Attached []Attachment
}

// NothingTyped is the text of a message that is all attachments.
const NothingTyped = "See what is attached."

var (
	// fenceMark begins or ends a block of code in a message.
	fenceMark = pattern.Lazy("^(`{3,}|~{3,})")
	// attachedMark begins an attachment.
	attachedMark = pattern.Lazy("^(`{3,})attached (.+)$")
)

// String is the message as one text, which is how it is saved and shown. Each
// attachment stands in a fence that says what it is, longer than any in it.
func (m Message) String() string {
	sent := ParseMessage(m.Text) // what looks like an attachment in it could take the mark of another for its end
	m.Text, m.Attached = sent.Text, append(sent.Attached, m.Attached...)
	text := cmp.Or(strings.TrimSpace(m.Text), NothingTyped)
	for _, a := range m.Attached {
		mark := "```"
		for strings.Contains(a.Text, mark) {
			mark += "`"
		}
		text += "\n\n" + mark + "attached " + cmp.Or(oneLine(a.Name), "text") + "\n" + strings.TrimRight(a.Text, "\n") + "\n" + mark
	}
	return text
}

// ParseMessage is the message that a text from [Message.String] was.
func ParseMessage(text string) (m Message) {
	var typed, attached strings.Builder
	open := "" // the mark that ends the attachment under way
	for line := range strings.Lines(text) {
		begins := attachedMark.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case open != "" && strings.TrimSpace(line) == open:
			m.Attached[len(m.Attached)-1].Text = strings.TrimSuffix(attached.String(), "\n")
			open = ""
		case open != "":
			attached.WriteString(line)
		case begins != nil:
			m.Attached = append(m.Attached, Attachment{Name: begins[2]})
			open = begins[1]
			attached.Reset()
		default:
			typed.WriteString(line)
		}
	}
	if open != "" {
		m.Attached[len(m.Attached)-1].Text = attached.String()
	}
	m.Text = strings.TrimSpace(typed.String())
	return m
}

// maxTopic bounds what of attachments a search is made of, in bytes.
const maxTopic = 500

// topic is what the message is about: what was typed, else the attachments. It
// is for finding and quoting, never for planning a call.
func (t *turn) topic() string {
	if t.question != NothingTyped || len(t.with) == 0 {
		return t.question
	}
	return clip(t.with[0].Text, maxTopic)
}

// typedBefore is the history with no more of the user's messages than was typed.
func (t *turn) typedBefore() []llm.Message {
	list := slices.Clone(t.history)
	for i, m := range list {
		if m.Role == llm.User {
			list[i].Text = ParseMessage(m.Text).Text
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
	m := ParseMessage(message)
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
