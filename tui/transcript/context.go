package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// contextParts are the parts of a prompt, in the order in which they stand in
// it, with what they are called on the screen.
var contextParts = []struct{ kind, name string }{
	{"system", "system and tools"},
	{"history", "last messages"},
	{"summary", "summary of older ones"},
	{"memory", "memory"},
	{"sources", "sources"},
	{"results", "results"},
	{"question", "question"},
	{"repair", "second try"},
}

// Window is how the last prompt filled the model's window, a bar a part, and
// which calls it held the results of.
type Window struct {
	ContextCounted agent.ContextCounted
	counted        int // tokens of that prompt by the server's own count; 0: it has not said
}

// Count takes in what an event says of the window.
func (w *Window) Count(body agent.Body) {
	switch e := body.(type) {
	case agent.ContextCounted:
		w.ContextCounted, w.counted = e, 0
	case agent.Used:
		if e.Agent == w.ContextCounted.Agent {
			w.counted = e.Prompt
		}
	}
}

func (w *Window) Render(width int, theme *draw.Theme) []string {
	lines := w.lines(width, theme.Running.Render, theme.Border.Render)
	lines[0] = theme.Strong.Render(lines[0])
	last := len(lines) - 1
	lines[last] = theme.Dim.Render(lines[last])
	return lines
}

func (w *Window) Copied() string {
	const usual = 80
	return strings.Join(w.lines(usual, draw.Unstyled, draw.Unstyled), "\n")
}

// part is what some of the window is used for.
type part struct {
	name   string
	tokens int
}

// parts reports how the window is filled: the whole, each part, and what the
// server counted.
func (w *Window) parts() (head string, parts []part, said string) {
	head = fmt.Sprintf("Context window: %s tokens", draw.Thousands(w.ContextCounted.Used))
	if w.ContextCounted.Allocated > 0 {
		head += fmt.Sprintf(" of %s (%d %%)", draw.Thousands(w.ContextCounted.Allocated), w.ContextCounted.Used*100/w.ContextCounted.Allocated)
	}
	for _, known := range contextParts {
		if n := w.ContextCounted.Parts[known.kind]; n > 0 {
			parts = append(parts, part{name: known.name, tokens: n})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(w.ContextCounted.Parts)) {
		n := w.ContextCounted.Parts[kind]
		if !slices.ContainsFunc(contextParts, func(p struct{ kind, name string }) bool { return p.kind == kind }) && n > 0 {
			parts = append(parts, part{name: safetext.Line(kind), tokens: n})
		}
	}
	if w.ContextCounted.Allocated > 0 {
		parts = append(parts, part{name: "reserved for the answer", tokens: w.ContextCounted.Reserve}, part{name: "free", tokens: max(0, w.ContextCounted.Allocated-w.ContextCounted.Used-w.ContextCounted.Reserve)})
	}
	said = "estimated; the server has not reported its count"
	if w.counted > 0 {
		said = fmt.Sprintf("estimated; the server reported %s", draw.Thousands(w.counted))
	}
	return head, parts, said
}

// lines draws the bars with a way to draw what is full and what is empty.
func (w *Window) lines(width int, full, empty func(...string) string) []string {
	head, parts, said := w.parts()
	total := max(w.ContextCounted.Used+w.ContextCounted.Reserve, w.ContextCounted.Allocated)
	lines := []string{draw.Truncate(head, width)}
	add := func(name string, n int) {
		label := draw.Truncate(fmt.Sprintf("  %-21s %7s  ", name, draw.Thousands(n)), width)
		room := min(40, width-draw.Width(label))
		if room < 4 || total == 0 {
			lines = append(lines, label)
			return
		}
		filled := n * room / total
		if n > 0 {
			filled = max(1, filled)
		}
		lines = append(lines, label+full(strings.Repeat("█", filled))+empty(strings.Repeat("░", room-filled)))
	}
	for _, p := range parts {
		add(p.name, p.tokens)
	}
	for _, l := range w.ContextCounted.Log {
		lines = append(lines, draw.Truncate("  "+safetext.Line("step "+l.Step+": "+l.String()), width))
	}
	return append(lines, draw.Truncate("  "+said, width))
}

// Words reports how the window is filled, a line a part, without bars.
func (w *Window) Words() []string {
	head, parts, said := w.parts()
	lines := []string{head}
	for _, part := range parts {
		lines = append(lines, part.name+": "+draw.Thousands(part.tokens))
	}
	return append(lines, said)
}
