package plan

import (
	"encoding/json"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Call is one run of a tool, with its input and result.
type Call struct {
	ID       string
	Name     string
	Input    json.RawMessage
	output   string
	err      string
	cause    string // the system's message for a network error
	Sources  int
	nothing  bool
	time     string         // period that a search was limited to; "" if none
	health   string         // coverage of a search; "" for other tools
	Progress agent.Progress // last progress reported
	Took     time.Duration
	Ended    bool
}

func (c *Call) End(e agent.ToolEnded) {
	c.output, c.err, c.cause, c.Sources, c.nothing = e.Output, e.Error, e.Cause, len(e.Sources), e.Nothing
	if e.Coverage != nil {
		c.health = safetext.Line(e.Coverage.Health())
		if e.Coverage.Time != nil {
			c.time = safetext.Line(e.Coverage.Time.String())
		}
	}
	c.Took, c.Ended = time.Duration(e.Took)*time.Millisecond, true
}

// found summarises what the call found.
func (c *Call) found() string {
	switch {
	case c.time != "":
		return c.time
	case c.Sources > 0:
		return draw.Count(c.Sources, "passage")
	case c.nothing:
		return "nothing found"
	}
	return ""
}

// Far returns the progress of a running call, or "" if none was reported.
func (c *Call) Far() string {
	if c.Ended {
		return ""
	}
	return safetext.Line(c.Progress.String())
}

// shownResult bounds the lines of a result on screen. Copying copies all of it.
const shownResult = 40

// details returns the arguments, result and duration of the call.
func (c *Call) details(width int, theme *draw.Theme) []string {
	var lines []string
	for _, pair := range Arguments(c.Input) {
		head := "     " + safetext.Line(pair.Key) + "  "
		lines = append(lines, draw.Hang(theme.Dim.Render(head), safetext.Text(pair.Text()), width)...)
	}
	switch {
	case c.err != "":
		lines = append(lines, draw.StyleLines(theme.Danger.Render, draw.Hang("     ✗ ", safetext.Text(c.err), width))...)
		if c.cause != "" {
			lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("       ", safetext.Text(c.cause), width))...)
		}
	case c.Ended:
		result := draw.Hang("   │ ", safetext.Text(strings.TrimSpace(c.output)), width)
		for i := 1; i < len(result); i++ {
			result[i] = "   │ " + strings.TrimPrefix(result[i], "     ")
		}
		if len(result) > shownResult {
			more := draw.Count(len(result)-shownResult, "more line")
			result = append(result[:shownResult], "   │ … "+more)
		}
		lines = append(lines, draw.StyleLines(theme.Dim.Render, result)...)
		lines = append(lines, theme.Dim.Render("     took "+draw.Duration(c.Took)))
	}
	return lines
}

// Tool is a call that does not belong to a plan.
type Tool struct {
	Call
	Unfolded bool
	Beat     int
}

func (t *Tool) Folded() bool   { return !t.Unfolded }
func (t *Tool) Fold(fold bool) { t.Unfolded = !fold }

func (t *Tool) Render(width int, theme *draw.Theme) []string {
	status := agent.Running
	switch {
	case t.err != "":
		status = agent.StepFailed
	case t.Ended:
		status = agent.Done
	}
	left := mark(status, t.Beat, theme) + " " + theme.Strong.Render(safetext.Line(t.Name)) + "  " + BriefArguments(t.Input)
	right := ""
	if far := t.Far(); far != "" {
		right = theme.Dim.Render(draw.Truncate(far, max(12, width/3)))
	}
	if t.Ended {
		right = theme.Dim.Render(strings.TrimSpace(t.found() + "  " + draw.Duration(t.Took)))
	}
	lines := []string{draw.Justify(draw.Truncate(left, max(width/2, width-draw.Width(right)-2)), right, width)}
	if t.Unfolded {
		lines = append(lines, t.details(width, theme)...)
	}
	return lines
}

func (t *Tool) Copied() string {
	if t.err != "" {
		return t.err
	}
	return t.output
}
