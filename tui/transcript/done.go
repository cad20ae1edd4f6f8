package transcript

import (
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/plan"
	"lifehub/tui/safetext"
)

// Done is what a saved turn did, or thought, before it said more: one line, or
// unfolded a line an entry and as many as it needs.
type Done struct {
	Log      []agent.Logged
	Unfolded bool
}

func (d *Done) Folded() bool   { return !d.Unfolded }
func (d *Done) Fold(fold bool) { d.Unfolded = !fold }

func (d *Done) Render(width int, theme *draw.Theme) (lines []string) {
	if !d.Unfolded {
		var parts []string
		for _, l := range d.Log {
			parts = append(parts, brief(l))
		}
		return []string{theme.Dim.Render("· " + draw.Truncate(strings.Join(parts, " · "), width-4) + " ▸")}
	}
	for _, l := range d.Log {
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("· ", safetext.Line(l.String()), width))...)
	}
	return lines
}

// brief is an entry in a few words: the tool, and what it returned.
func brief(l agent.Logged) string {
	if l.Thought != "" {
		return "thought"
	}
	name, _, _ := strings.Cut(l.Action, "(")
	return safetext.Line(strings.TrimSuffix(strings.ReplaceAll(name, "_", " ")+": "+draw.Summary(plan.InWords(l.Result), 40), ": "))
}

func (d *Done) Copied() string {
	lines := make([]string, len(d.Log))
	for i, l := range d.Log {
		lines[i] = l.String()
	}
	return strings.Join(lines, "\n")
}
