package transcript

import (
	"strings"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Waiting is a model that is silent: why, and the passages of the notes that it reads.
type Waiting struct {
	why   string // "": it is not late
	found []agent.Source
}

const (
	// ShownPassages bounds the passages that are shown while the model reads.
	ShownPassages = 3
	shownLines    = 2 // of each passage
)

func (w *Waiting) Render(width int, theme *draw.Theme) (lines []string) {
	if w.why != "" {
		lines = draw.Hang("· ", safetext.Text(w.why), width)
	}
	for _, s := range w.found[:min(len(w.found), ShownPassages)] {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		place := draw.Truncate(safetext.Line(agent.PlaceName(s.Path, s.Line)), width/2)
		lines = append(lines, draw.Justify(draw.Truncate("  "+safetext.Line(s.Heading), width-draw.Width(place)-2),
			place, width))
		var text []string
		for line := range strings.Lines(safetext.Text(s.Text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") { // the heading is above
				text = append(text, draw.Wrap(line, width-4)...)
			}
		}
		for i, line := range text[:min(len(text), shownLines)] {
			if i+1 == shownLines && len(text) > shownLines {
				line = draw.Truncate(line+" …", width-4)
			}
			lines = append(lines, "  │ "+line)
		}
	}
	return draw.StyleLines(theme.Dim.Render, lines)
}

func (w *Waiting) Copied() string { return w.why }

// wait shows why the model is silent, and what was found for it to read; nothing if
// there is neither.
func (t *Turn) wait(why string) {
	if t.waiting != nil && !t.in.ends(t.waiting) || why == "" && len(t.found) == 0 {
		t.endWait()
	}
	if t.waiting == nil && (why != "" || len(t.found) > 0) {
		t.waiting = &Waiting{}
		t.in.Add(t.waiting)
	}
	if t.waiting != nil {
		t.waiting.why, t.waiting.found = why, t.found
		t.in.Invalidate(t.waiting)
	}
}

// endWait folds what is shown of a silent model.
func (t *Turn) endWait() {
	if t.waiting != nil {
		t.in.remove(t.waiting)
		t.waiting = nil
	}
}
