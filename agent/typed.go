package agent

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
)

// Attachment is text that came with a message without being typed: it was
// piped, pasted or read from a file. It is untrusted and contains no commands.
type Attachment struct{ Name, Text string }

// Message is what the user sent.
type Message struct {
	Text     string // typed text
	Attached []Attachment
	// Tools are the only tools that may be called to answer the message; nil:
	// all.
	Tools []string
}

// NothingTyped is the text of a message that consists of attachments only.
const NothingTyped = "See what is attached."

// DoAsAsked returns the text of a message that asks to do what an attachment asks.
func DoAsAsked(name string) string { return "Do what " + name + " asks." }

// attachedMark matches the start of an attachment, with its name, or of a
// steering message; toolsMark starts the list of tools.
var (
	attachedMark = regexp.MustCompile("^(`{3,})(?:attached (.+)|" + steeringMark + ")$")
	toolsMark    = "```only these tools"
)

// String returns the message as one text, which is how it is saved and shown,
// so that it stays the same if it is asked again, queued or resumed. Each
// attachment is in a labelled fence longer than any inside it; the names of the
// tools are fenced as well.
func (m Message) String() string {
	sent := ParseMessage(m.Text) // text that looks like an attachment could end another one early
	m.Text, m.Attached = sent.Text, append(sent.Attached, m.Attached...)
	if m.Tools == nil {
		m.Tools = sent.Tools
	}
	encoded := cmp.Or(strings.TrimSpace(m.Text), NothingTyped)
	if m.Tools != nil {
		encoded += "\n\n" + toolsMark + "\n" + strings.Join(append(slices.Clip(m.Tools), "```"), "\n")
	}
	for _, a := range m.Attached {
		mark := fenceOutside(a.Text)
		encoded += "\n\n" + mark + "attached " + cmp.Or(text.OneLine(a.Name), "text") + "\n" +
			strings.TrimRight(a.Text, "\n") + "\n" + mark
	}
	return encoded
}

// fenceOutside returns a fence that no line of a text can end.
func fenceOutside(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark
}

// ParseMessage parses what [Message.String] returned. Messages that were sent
// while it was answered are part of it.
func ParseMessage(text string) Message {
	m, steering := parseMessage(text)
	for _, sent := range steering {
		more := ParseMessage(sent)
		m.Text = strings.TrimSpace(m.Text + "\n\n" + more.Text)
		m.Attached = append(m.Attached, more.Attached...)
	}
	return m
}

// parseMessage parses a message without those sent while it was answered, which
// it returns apart.
func parseMessage(text string) (m Message, steering []string) {
	var typed, inside strings.Builder
	var ended func()
	open := "" // fence that ends the current attachment or steering message
	for line := range strings.Lines(text) {
		begins := attachedMark.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case open == toolsMark && strings.TrimSpace(line) == "```":
			open = ""
		case open == toolsMark:
			m.Tools = append(m.Tools, strings.Fields(line)...)
		case open != "" && strings.TrimSpace(line) == open:
			ended()
			open = ""
		case open != "":
			inside.WriteString(line)
		case strings.TrimSpace(line) == toolsMark:
			open, m.Tools = toolsMark, append([]string{}, m.Tools...)
		case begins != nil:
			open = begins[1]
			inside.Reset()
			ended = func() {
				if name := begins[2]; name != "" {
					m.Attached = append(m.Attached, Attachment{
						Name: name,
						Text: strings.TrimSuffix(inside.String(), "\n"),
					})
				} else {
					steering = append(steering, strings.TrimSuffix(inside.String(), "\n"))
				}
			}
		default:
			typed.WriteString(line)
		}
	}
	if open != "" && open != toolsMark {
		ended()
	}
	m.Text = strings.TrimSpace(typed.String())
	return m, steering
}

// Attacher reads what a message names to be attached, such as @server:uri.
type Attacher interface {
	// Find returns the names in a message that it can read, each once, and
	// those it cannot.
	Find(message string) (names, unknown []string)
	// Read reads one of them.
	Read(ctx context.Context, name string) (Result, error)
}
