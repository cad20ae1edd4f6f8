package panel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// contextParts are the parts of a prompt in their order, with their names on the screen.
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

// Context is the panel about the last prompt: how much of the model's window each part takes,
// and the calls whose results it contains.
type Context struct {
	ContextCounted agent.ContextCounted
	counted        int // tokens of that prompt as counted by the server; 0 if unknown
	top, rows      int // the first visible line, and how many are
	lines          int
}

// Count updates it from an event.
func (c *Context) Count(body agent.Body) {
	switch e := body.(type) {
	case agent.ContextCounted:
		c.ContextCounted, c.counted = e, 0
	case agent.Used:
		if e.Agent == c.ContextCounted.Agent {
			c.counted = e.Prompt
		}
	}
}

// part is a part of the window.
type part struct {
	name   string
	tokens int
}

// parts returns the total, the parts, and the tokens counted by the server.
func (c *Context) parts() (head string, parts []part, note string) {
	head = fmt.Sprintf("Context window: %s tokens", draw.Thousands(c.ContextCounted.Used))
	if c.ContextCounted.Allocated > 0 {
		head += fmt.Sprintf(" of %s (%d %%)", draw.Thousands(c.ContextCounted.Allocated),
			c.ContextCounted.Used*100/c.ContextCounted.Allocated)
	}
	for _, known := range contextParts {
		if n := c.ContextCounted.Parts[known.kind]; n > 0 {
			parts = append(parts, part{name: known.name, tokens: n})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(c.ContextCounted.Parts)) {
		n := c.ContextCounted.Parts[kind]
		if !slices.ContainsFunc(contextParts, func(p struct{ kind, name string }) bool { return p.kind == kind }) &&
			n > 0 {
			parts = append(parts, part{name: safetext.Line(kind), tokens: n})
		}
	}
	if counted := c.ContextCounted; counted.Allocated > 0 {
		parts = append(parts,
			part{name: "reserved for the answer", tokens: counted.Reserve},
			part{name: "free", tokens: max(0, counted.Allocated-counted.Used-counted.Reserve)})
	}
	note = "estimated; the server has not reported its count"
	if c.counted > 0 {
		note = fmt.Sprintf("estimated; the server reported %s", draw.Thousands(c.counted))
	}
	return head, parts, note
}

// Update scrolls; other keys close the page.
func (c *Context) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		return c.Update(wheeled(msg), k)
	case tea.PasteMsg:
		return c, NotMine{PasteMsg: msg}, nil
	case tea.KeyPressMsg:
		top, scrolls := k.Scrolled(msg, c.top, c.lines, c.rows)
		if !scrolls {
			return nil, nil, nil
		}
		c.top = top
	}
	return c, nil, nil
}

// Hints are the keys of the page.
func (c *Context) Hints(k *draw.Keys) []string {
	if c.lines > c.rows {
		return []string{scrollHint(k), "esc close"}
	}
	return []string{"esc close"}
}

// View draws the parts with bars in one column, then the calls.
func (c *Context) View(width, rows int, _ *draw.Keys, theme *draw.Theme) Content {
	head, parts, note := c.parts()
	total := max(c.ContextCounted.Used+c.ContextCounted.Reserve, c.ContextCounted.Allocated)
	names, figures := 0, 0
	for _, p := range parts {
		names, figures = max(names, draw.Width(p.name)), max(figures, len(draw.Thousands(p.tokens)))
	}
	lines := []string{theme.Strong.Render(draw.Truncate(head, width)), ""}
	for _, p := range parts {
		label := fmt.Sprintf("%-*s  %*s", names, p.name, figures, draw.Thousands(p.tokens))
		room := width - draw.Width(label) - 2
		if room < 4 || total == 0 {
			lines = append(lines, draw.Truncate(label, width))
			continue
		}
		filled := length(int64(p.tokens), int64(total), room)
		lines = append(lines, label+"  "+theme.Running.Render(strings.Repeat("█",
			filled))+theme.Border.Render(strings.Repeat("░", room-filled)))
	}
	if len(c.ContextCounted.Log) > 0 {
		lines = append(lines, "")
	}
	for _, l := range c.ContextCounted.Log {
		lines = append(lines, draw.Truncate(safetext.Line("step "+l.Step+": "+l.String()), width))
	}
	lines = append(lines, "", theme.Dim.Render(draw.Truncate(note, width)))
	c.lines, c.rows = len(lines), rows
	c.top = max(0, min(c.top, len(lines)-rows))
	return Content{Title: "Context", Count: c.share(), Lines: lines[c.top:min(len(lines), c.top+rows)]}
}

// share returns the used percentage of the window; "" if its size is unknown.
func (c *Context) share() string {
	if c.ContextCounted.Allocated == 0 {
		return ""
	}
	return fmt.Sprintf("%d %%", c.ContextCounted.Used*100/c.ContextCounted.Allocated)
}

// Words describes the parts, one per line, without bars.
func (c *Context) Words() []string {
	head, parts, note := c.parts()
	lines := []string{head}
	for _, part := range parts {
		lines = append(lines, part.name+": "+draw.Thousands(part.tokens))
	}
	return append(lines, note)
}
