package transcript

import (
	"strings"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// call draws one run of a tool.
type call chat.Call

// found summarises what the call found.
func (c *call) found() string {
	switch {
	case c.Result.Coverage != nil && c.Result.Coverage.Time != nil:
		return safetext.Line(c.Result.Coverage.Time.String())
	case len(c.Result.Sources) > 0:
		return draw.Count(len(c.Result.Sources), "passage")
	case c.Result.Nothing:
		return "nothing found"
	}
	return ""
}

// far returns the progress of a running call, or "" if none was reported.
func (c *call) far() string {
	if c.Ended {
		return ""
	}
	return safetext.Line(c.Progress.String())
}

// shownResult bounds the lines of a result on screen. Copying copies all of it.
const shownResult = 40

// details returns the arguments, result and duration of the call.
func (c *call) details(width int, theme *draw.Theme) []string {
	var lines []string
	for _, pair := range chat.Arguments(c.Input) {
		head := "     " + safetext.Line(pair.Key) + "  "
		lines = append(lines, draw.Hang(theme.Dim.Render(head), safetext.Text(pair.Text()), width)...)
	}
	switch {
	case c.Result.Error != "":
		lines = append(lines, draw.StyleLines(theme.Danger.Render,
			draw.Hang("     ✗ ", safetext.Text(c.Result.Error), width))...)
		if c.Result.Cause != "" {
			lines = append(lines, draw.StyleLines(theme.Dim.Render,
				draw.Hang("       ", safetext.Text(c.Result.Cause), width))...)
		}
	case c.Ended:
		result := draw.Hang("   │ ", safetext.Text(strings.TrimSpace(c.Result.Output)), width)
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
	Call     *chat.Call
	Unfolded bool
	Beat     int
}

func (t *Tool) Folded() bool   { return !t.Unfolded }
func (t *Tool) Fold(fold bool) { t.Unfolded = !fold }

func (t *Tool) Render(width int, theme *draw.Theme) []string {
	status := agent.Running
	switch {
	case t.Call.Result.Error != "":
		status = agent.StepFailed
	case t.Call.Ended:
		status = agent.Done
	}
	left := mark(status, t.Beat, theme) + " " + theme.Strong.Render(safetext.Line(t.Call.Name)) + "  " +
		chat.BriefArguments(t.Call.Input)
	right := ""
	if far := (*call)(t.Call).far(); far != "" {
		right = theme.Dim.Render(draw.Truncate(far, max(12, width/3)))
	}
	if t.Call.Ended {
		right = theme.Dim.Render(strings.TrimSpace((*call)(t.Call).found() + "  " + draw.Duration(t.Call.Took)))
	}
	lines := []string{draw.Justify(draw.Truncate(left, max(width/2, width-draw.Width(right)-2)), right, width)}
	if t.Unfolded {
		lines = append(lines, (*call)(t.Call).details(width, theme)...)
	}
	return lines
}

func (t *Tool) Copied() string {
	if t.Call.Result.Error != "" {
		return t.Call.Result.Error
	}
	return t.Call.Result.Output
}
