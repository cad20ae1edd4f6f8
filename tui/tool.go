package tui

import (
	"encoding/json"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/arguments"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// call is one run of a tool, with what it was given and what it brought.
type call struct {
	id       string
	name     string
	input    json.RawMessage
	output   string
	err      string
	sources  int
	nothing  bool
	progress agent.Progress // the last that it told; zero: nothing
	took     time.Duration
	ended    bool
}

func (c *call) end(e agent.ToolEnded) {
	c.output, c.err, c.sources, c.nothing = e.Output, e.Error, len(e.Sources), e.Nothing
	c.took, c.ended = time.Duration(e.Took)*time.Millisecond, true
}

// found says in a word what the call brought.
func (c *call) found() string {
	if c.sources > 0 {
		return draw.Count(c.sources, "passage")
	}
	if c.nothing {
		return "nothing found"
	}
	return ""
}

// far says how far a running call is; "" when it has not told.
func (c *call) far() string {
	if c.ended {
		return ""
	}
	return safetext.Line(c.progress.String())
}

// shownResult bounds the lines of a result on screen; all of it can be copied.
const shownResult = 40

// details shows the call unfolded: arguments, result, time.
func (c *call) details(width int, look *draw.Theme) []string {
	var lines []string
	for _, pair := range arguments.Of(c.input) {
		head := "     " + safetext.Line(pair.Key) + "  "
		lines = append(lines, draw.Wrapped(look.Dim.Render(head), safetext.Text(pair.Text()), width)...)
	}
	switch {
	case c.err != "":
		lines = append(lines, draw.Styled(look.Danger.Render, draw.Wrapped("     ✗ ", safetext.Text(c.err), width))...)
	case c.ended:
		result := draw.Wrapped("   │ ", safetext.Text(strings.TrimSpace(c.output)), width)
		for i := 1; i < len(result); i++ {
			result[i] = "   │ " + strings.TrimPrefix(result[i], "     ")
		}
		if len(result) > shownResult {
			more := draw.Count(len(result)-shownResult, "more line")
			result = append(result[:shownResult], "   │ … "+more)
		}
		lines = append(lines, draw.Styled(look.Dim.Render, result)...)
		lines = append(lines, look.Dim.Render("     took "+draw.Duration(c.took)))
	}
	return lines
}

// tool is a call that belongs to no plan.
type tool struct {
	call
	unfolded bool
	beat     int
}

func (t *tool) folded() bool   { return !t.unfolded }
func (t *tool) fold(fold bool) { t.unfolded = !fold }

func (t *tool) render(width int, look *draw.Theme) []string {
	status := agent.Running
	switch {
	case t.err != "":
		status = agent.Broken
	case t.ended:
		status = agent.Done
	}
	left := mark(status, t.beat, look) + " " + look.Strong.Render(safetext.Line(t.name)) + "  " + arguments.Brief(t.input)
	right := ""
	if far := t.far(); far != "" {
		right = look.Dim.Render(draw.Fit(far, max(12, width/3)))
	}
	if t.ended {
		right = look.Dim.Render(strings.TrimSpace(t.found() + "  " + draw.Duration(t.took)))
	}
	lines := []string{draw.Spread(draw.Fit(left, max(8, width-len(right)/2)), right, width)}
	if t.unfolded {
		lines = append(lines, t.details(width, look)...)
	}
	return lines
}

func (t *tool) copied() string {
	if t.err != "" {
		return t.err
	}
	return t.output
}
