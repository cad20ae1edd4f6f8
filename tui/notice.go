package tui

import (
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/markdown"
	"lifehub/tui/safetext"
)

// notice is something to know that stops nothing.
type notice struct{ text string }

func (n *notice) render(width int, look *draw.Theme) []string {
	return draw.Styled(look.Dim.Render, draw.Wrapped("· ", safetext.Text(n.text), width))
}

func (n *notice) copied() string { return n.text }

// failure is an error with what to do next.
type failure struct{ text, hint string }

// failureOf is a failure of the model server, told as in a turn.
func failureOf(err error) *failure {
	told := agent.FailedBy(err)
	return &failure{told.Message, told.Hint}
}

func (f *failure) render(width int, look *draw.Theme) []string {
	lines := draw.Styled(look.Danger.Render, draw.Wrapped("✗ ", safetext.Text(f.text), width))
	if f.hint != "" {
		lines = append(lines, draw.Wrapped("  ", safetext.Text(f.hint), width)...)
	}
	return lines
}

func (f *failure) copied() string { return strings.TrimSpace(f.text + "\n" + f.hint) }

// page is the result of a slash command.
type page struct{ source string }

func (p *page) render(width int, look *draw.Theme) []string {
	return markdown.Render(p.source, width, look.Markdown)
}

func (p *page) copied() string { return p.source }
