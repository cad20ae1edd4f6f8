package panel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// sumsBy are the groupings of the figures, which tab cycles through.
var sumsBy = []string{"day", "model", "turn"}

// statsPage is /stats.
func statsPage() Page {
	const usage = "usage: /stats [day, model or turn]"
	return Page{
		Command: chat.Command{
			Name: "stats", Group: chat.InView, Args: "[day|model|turn]",
			Help: "show times, tokens, searches and tool calls",
		},
		There: func(o *chat.Options) bool { return o.Statistics != nil },
		Open: func(ctx context.Context, o *chat.Options, by string) (Panel, tea.Cmd, error) {
			s := &Stats{By: cmp.Or(by, sumsBy[0])}
			if !slices.Contains(sumsBy, s.By) {
				return nil, nil, errors.New(usage)
			}
			return s, Figures{s.By}.Do(ctx, o), nil
		},
		Lines: func(ctx context.Context, o *chat.Options, by string) ([]string, error) {
			if by = cmp.Or(by, sumsBy[0]); !slices.Contains(sumsBy, by) {
				return []string{usage}, nil
			}
			rows, err := o.Statistics.Figures(ctx, by)
			if err == nil && len(rows) == 0 {
				return []string{"no turns yet"}, nil
			}
			var lines []string
			for _, f := range rows {
				lines = append(lines, nameOf(f))
				for _, line := range figureLines(f) {
					lines = append(lines, "  "+line[0]+": "+line[1])
				}
			}
			return lines, err
		},
	}
}

// Stats is the page of figures: a chart of times, and all figures of the chosen row.
type Stats struct {
	By     string
	rows   []agent.Figures
	read   bool // the rows have come
	chosen int
}

type statsMsg struct {
	by   string
	rows []agent.Figures
	err  error
}

// Do reads the figures in the background.
func (f Figures) Do(ctx context.Context, o *chat.Options) tea.Cmd {
	return func() tea.Msg {
		rows, err := o.Statistics.Figures(ctx, f.By)
		return statsMsg{by: f.By, rows: rows, err: err}
	}
}

// Update moves, changes the grouping, or shows figures that were read, unless the grouping
// has changed; other keys close the page.
func (s *Stats) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case statsMsg:
		switch {
		case msg.by != s.By:
		case msg.err != nil:
			return nil, Failed{Err: msg.err}, nil
		default:
			s.rows, s.read = msg.rows, true
		}
	case tea.MouseWheelMsg:
		return s.Update(wheeled(msg), k)
	case Clicked:
		s.chosen = int(msg)
	case tea.PasteMsg:
		return s, NotMine{PasteMsg: msg}, nil
	case tea.KeyPressMsg:
		switch {
		case key.Matches(msg, k.StatsNext):
			return s.turn(1)
		case key.Matches(msg, k.StatsPrevious):
			return s.turn(-1)
		}
		var moves bool
		if s.chosen, moves = k.Moved(msg, s.chosen, len(s.rows), 10); !moves {
			return nil, nil, nil
		}
	}
	return s, nil, nil
}

// turn changes the grouping.
func (s *Stats) turn(by int) (Panel, tea.Msg, tea.Cmd) {
	at := slices.Index(sumsBy, s.By) + by
	next := &Stats{By: sumsBy[(at+len(sumsBy))%len(sumsBy)]}
	return next, Figures{next.By}, nil
}

// Hints are the keys of the page.
func (s *Stats) Hints(k *draw.Keys) []string {
	return []string{moveHint(k), Hint(k.StatsNext, "change grouping"), "esc close"}
}

// View draws a chart of times, and all figures of the chosen row.
func (s *Stats) View(width, rows int, _ *draw.Keys, theme *draw.Theme) Content {
	c := Content{Title: "Statistics", Count: draw.Nth(s.chosen, len(s.rows)), Rows: map[int]int{}}
	by := ""
	for _, name := range sumsBy {
		if name == s.By {
			by += theme.Selected.Render("by "+name) + "  "
		} else {
			by += theme.Dim.Render(name) + "  "
		}
	}
	c.Lines = []string{draw.Justify(by, theme.Dim.Render("█ median ░ p95"), width), ""}
	switch {
	case !s.read:
		c.Lines = append(c.Lines, theme.Dim.Render("…"))
		return c
	case len(s.rows) == 0:
		c.Lines = append(c.Lines, theme.Dim.Render("no turns yet"))
		return c
	}
	c.Lines = append(c.Lines, masterDetail(len(s.rows), width, rows-2, theme, func(width, rows int) (lines []string) {
		from, to := inSight(s.chosen, len(s.rows), rows)
		for at := from; at < to; at++ {
			c.Rows[2+at-from] = at
		}
		return s.chart(width, from, to, theme)
	}, func(width int) []string {
		lines := []string{theme.Strong.Render(draw.Summary(nameOf(s.rows[s.chosen]), width))}
		for _, line := range figureLines(s.rows[s.chosen]) {
			lines = append(lines, draw.Hang(theme.Dim.Render(line[0]+strings.Repeat(" ", 13-draw.Width(line[0]))),
				line[1], width)...)
		}
		return lines
	})...)
	return c
}

// chart draws a bar for each row: how long its turns took.
func (s *Stats) chart(width, from, to int, theme *draw.Theme) []string {
	longest, label := int64(1), 0
	for _, f := range s.rows[from:to] {
		longest = max(longest, f.Latency95)
		label = max(label, draw.Width(safetext.Line(nameOf(f))))
	}
	label = min(label, max(10, width*2/5))
	var lines []string
	for at := from; at < to; at++ {
		f := s.rows[at]
		name := draw.Truncate(safetext.Line(nameOf(f)), label)
		name += strings.Repeat(" ", label-draw.Width(name))
		head := "  " + name
		if at == s.chosen {
			head = theme.Selected.Render("▌ " + name)
		}
		turns := fmt.Sprintf(" %5s  ", draw.Thousands(f.Turns))
		times := fmt.Sprintf(" %9s %10s", took(f.Latency50), took(f.Latency95))
		bar := width - draw.Width(head+turns+times)
		if bar < 4 { // the times come first
			turns, bar = "  ", max(0, width-draw.Width(head+times)-2)
		}
		half, most := length(f.Latency50, longest, bar), length(f.Latency95, longest, bar)
		line := head + theme.Dim.Render(turns) + theme.Running.Render(strings.Repeat("█", half)) +
			theme.Dim.Render(strings.Repeat("░", max(0, most-half))) + strings.Repeat(" ",
			max(0, bar-max(half, most))) + times
		lines = append(lines, draw.Truncate(line, width))
	}
	return lines
}

// length returns the cells of a bar for a time, at least one if it is not zero.
func length(value, longest int64, cells int) int {
	if value <= 0 {
		return 0
	}
	return min(cells, max(1, int(value*int64(cells)/longest)))
}

// nameOf returns the name of a row.
func nameOf(f agent.Figures) string {
	switch {
	case f.Title != "":
		return f.Title
	case f.Of == "":
		return "unknown"
	}
	return f.Of
}

// took formats milliseconds; 0 is a dash.
func took(ms int64) string {
	if ms == 0 {
		return "–"
	}
	return draw.Duration(time.Duration(ms) * time.Millisecond)
}

// figureLines returns all figures of a row with their names.
func figureLines(f agent.Figures) [][2]string {
	pair := func(half, most int64) string {
		if half == 0 {
			return "–"
		}
		return fmt.Sprintf("median %s, p95 %s", took(half), took(most))
	}
	speed := ""
	if f.PerSecond > 0 {
		speed = fmt.Sprintf(", %.1f a second", f.PerSecond)
	}
	return [][2]string{
		{"turns", fmt.Sprintf("%s, %s not finished", draw.Thousands(f.Turns), draw.Thousands(f.Cut))},
		{"time", pair(f.Latency50, f.Latency95)},
		{"first word", pair(f.FirstToken50, f.FirstToken95)},
		{"tokens", fmt.Sprintf("%s read, %s written%s", draw.Short(f.PromptTokens), draw.Short(f.AnswerTokens), speed)},
		{"model calls", draw.Thousands(f.ModelCalls)},
		{"searches", draw.Thousands(f.Searches)},
		{"passages", fmt.Sprintf("%s found, %s verified", draw.Thousands(f.Passages),
			draw.Count(f.Cited, "quotation"))},
		{"tools", fmt.Sprintf("%s ok, %s failed, %s not allowed", draw.Thousands(f.ToolsOK),
			draw.Thousands(f.ToolsFailed), draw.Thousands(f.ToolsDenied))},
		{"permissions", draw.Count(f.Asked, "question")},
	}
}
