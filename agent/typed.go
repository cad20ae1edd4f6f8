package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// Attachment is a text that came with a message and that nobody typed: what was
// piped, pasted or read from a file. It is untrusted, and nothing in it is a command.
type Attachment struct{ Name, Text string }

// Message is what the user sent.
type Message struct {
	Text     string // what was typed
	Attached []Attachment
	// Tools are the only ones that may be called to answer it; nil: all.
	Tools []string
}

// NothingTyped is the text of a message that is all attachments.
const NothingTyped = "See what is attached."

// attachedMark begins an attachment, toolsMark the names of the tools.
var (
	attachedMark = pattern.Lazy("^(`{3,})attached (.+)$")
	toolsMark    = "```only these tools"
)

// String is the message as one text, which is how it is saved and shown: so a
// message that is asked again, queued or resumed is the same one. Each
// attachment stands in a fence that says what it is, longer than any in it, and
// so do the names of the tools.
func (m Message) String() string {
	sent := ParseMessage(m.Text) // what looks like an attachment in it could take the mark of another for its end
	m.Text, m.Attached = sent.Text, append(sent.Attached, m.Attached...)
	if m.Tools == nil {
		m.Tools = sent.Tools
	}
	whole := cmp.Or(strings.TrimSpace(m.Text), NothingTyped)
	if m.Tools != nil {
		whole += "\n\n" + toolsMark + "\n" + strings.Join(append(slices.Clip(m.Tools), "```"), "\n")
	}
	for _, a := range m.Attached {
		mark := "```"
		for strings.Contains(a.Text, mark) {
			mark += "`"
		}
		whole += "\n\n" + mark + "attached " + cmp.Or(text.OneLine(a.Name), "text") + "\n" + strings.TrimRight(a.Text, "\n") + "\n" + mark
	}
	return whole
}

// ParseMessage is the message that a text from [Message.String] was.
func ParseMessage(text string) (m Message) {
	var typed, attached strings.Builder
	open := "" // the mark that ends the attachment under way
	for line := range strings.Lines(text) {
		begins := attachedMark.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case open == toolsMark && strings.TrimSpace(line) == "```":
			open = ""
		case open == toolsMark:
			m.Tools = append(m.Tools, strings.Fields(line)...)
		case open != "" && strings.TrimSpace(line) == open:
			m.Attached[len(m.Attached)-1].Text = strings.TrimSuffix(attached.String(), "\n")
			open = ""
		case open != "":
			attached.WriteString(line)
		case strings.TrimSpace(line) == toolsMark:
			open, m.Tools = toolsMark, append([]string{}, m.Tools...)
		case begins != nil:
			m.Attached = append(m.Attached, Attachment{Name: begins[2]})
			open = begins[1]
			attached.Reset()
		default:
			typed.WriteString(line)
		}
	}
	if open != "" && open != toolsMark {
		m.Attached[len(m.Attached)-1].Text = attached.String()
	}
	m.Text = strings.TrimSpace(typed.String())
	return m
}

// Attacher reads what a message names to be read along with it, such as
// @server:uri.
type Attacher interface {
	// Find lists the names that stand in a message, each once, apart from those
	// that stand for nothing it can read.
	Find(message string) (names, unknown []string)
	// Read reads one of them.
	Read(ctx context.Context, name string) (Result, error)
}
