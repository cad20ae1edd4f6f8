package acp

import (
	"strings"

	"github.com/coder/acp-go-sdk"

	"lifehub/internal/pattern"
	"lifehub/tui/safetext"
)

// An editor draws Markdown, and may fetch the images in it: what a model was told
// to write would then send the user's words to a server. A space within what begins
// an image, or an element that fetches, makes a text of it for every renderer.
var image = pattern.Lazy(`!\[|(?i)<(?:img|image|picture|source|video|audio|track|i?frame|embed|object|input|link|style|script|svg)`)

// streamed takes the images out of a text that comes in pieces. It holds the end of
// the piece before, with which the next one may begin an image.
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

// shown makes a text fit for the editor's screen.
func shown(text string) string {
	return new(streamed).next(safetext.Text(text))
}

// escaped is a text that Markdown draws as it is.
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

// fenced is a safe text in a block that Markdown draws as it is.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// literal is what a tool said as the content of its call: data, nothing in it is drawn.
func literal(text string) []acp.ToolCallContent {
	if text = strings.TrimSpace(safetext.Text(text)); text == "" {
		return nil
	}
	return []acp.ToolCallContent{acp.ToolContent(acp.TextBlock(fenced(text)))}
}
