package acp

import (
	"regexp"
	"strings"

	"github.com/coder/acp-go-sdk"

	"lifehub/internal/text"
	"lifehub/tui/safetext"
)

// image matches what makes a Markdown renderer fetch something. An editor may load images, so an
// injected model could send the user's words to a server in an image address. A space inside the
// match turns it into plain text in every renderer.
var image = regexp.MustCompile(`!\[|(?i)<(?:img|image|picture|source|video|audio|track|i?frame|embed|object|input|` +
	`link|style|script|svg)`)

// streamed defuses images in text that arrives in pieces. It holds the end of the previous piece,
// because an image may begin there.
type streamed string

func (before *streamed) next(text string) string {
	const longest = len("<picture")
	all := string(*before) + text
	at := len(*before)
	var b strings.Builder
	for _, found := range image.FindAllStringIndex(all, -1) {
		if split := max(found[0]+1, len(*before)); split < found[1] {
			b.WriteString(all[at:split] + " ")
			at = split
		}
	}
	b.WriteString(all[at:])
	text = b.String()
	end := string(*before) + text
	*before = streamed(end[max(0, len(end)-longest):])
	return text
}

// shown makes a text safe to show in an editor.
func shown(text string) string {
	return new(streamed).next(safetext.Text(text))
}

// escaped escapes Markdown syntax in a text.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>!#|~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// literal returns the text of a tool as call content, in a code block so that nothing in it is
// rendered.
func literal(output string) []acp.ToolCallContent {
	if output = strings.TrimSpace(safetext.Text(output)); output == "" {
		return nil
	}
	return []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(text.Fenced("", output)))}
}
