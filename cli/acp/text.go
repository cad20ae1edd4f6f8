package acp

import (
	"strings"

	"github.com/coder/acp-go-sdk"

	"lifehub/internal/pattern"
	"lifehub/tui/safetext"
)

// An editor draws Markdown, and may fetch the images in it: what a model was told
// to write would then send the user's words to a server. Of images only the text
// stays, as in the terminal.
var (
	image   = pattern.Lazy(`!(\[[^\]\n]*\][(\[])|(?i:<(img|picture|source|video|iframe))`)
	perhaps = pattern.Lazy(`(!(\[[^\]\n]{0,400}\]?)?|<[A-Za-z]{0,7})$`)
)

// withoutImages takes the images out of a text. What its continuation may make one
// is held back, where it is not the end.
func withoutImages(text string, end bool) (said, held string) {
	if !end {
		if at := perhaps.FindStringIndex(text); at != nil {
			text, held = text[:at[0]], text[at[0]:]
		}
	}
	return image.ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '!' {
			return found[1:]
		}
		return `\` + found
	}), held
}

// shown makes a text fit for the editor's screen.
func shown(text string) string {
	said, _ := withoutImages(safetext.Text(text), true)
	return said
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
