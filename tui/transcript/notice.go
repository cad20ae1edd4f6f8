package transcript

import (
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Notice is a message that interrupts nothing.
type Notice struct{ Text string }

func (n *Notice) Render(width int, theme *draw.Theme) []string {
	return draw.StyleLines(theme.Dim.Render, draw.Hang("· ", safetext.Text(n.Text), width))
}

func (n *Notice) Copied() string { return n.Text }

// Failure is an error with advice.
type Failure struct{ Text, Hint string }

// FailureOf returns the failure for an error of the model server, worded as in a turn.
func FailureOf(err error) *Failure {
	failed := agent.FailedFrom(err)
	return &Failure{Text: failed.Message, Hint: failed.Hint}
}

func (f *Failure) Render(width int, theme *draw.Theme) []string {
	lines := draw.StyleLines(theme.Danger.Render, draw.Hang("✗ ", safetext.Text(f.Text), width))
	if f.Hint != "" {
		lines = append(lines, draw.Hang("  ", safetext.Text(f.Hint), width)...)
	}
	return lines
}

func (f *Failure) Copied() string { return strings.TrimSpace(f.Text + "\n" + f.Hint) }

// Page is the result of a slash command.
type Page struct{ Source string }

func (p *Page) Render(width int, theme *draw.Theme) []string {
	return draw.NewDocumentView(draw.ParseDocument(p.Source), 0, 0).All(width, theme)
}

func (p *Page) Copied() string { return p.Source }
