package panel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Tree is the panel that shows a conversation with all its branches. A sequence of questions
// is in one column; alternatives begin their own columns.
type Tree struct {
	Rows   []treeRow
	chosen int
	page   int // visible rows
	now    time.Time
}

type treeRow struct {
	Exchange agent.Exchange
	Guide    string // the lines that lead to it
}

// maxGuide bounds the width of the guides: deeper branches are not indented further.
const maxGuide = 24

// NewTree returns a tree of turns, with the end of the current branch chosen.
func NewTree(list []agent.Exchange, now time.Time) *Tree {
	below := map[string][]agent.Exchange{}
	for _, e := range list {
		below[e.After] = append(below[e.After], e)
	}
	type open struct {
		treeRow
		lead string // what the rows below begin with
	}
	var stack []open
	push := func(after, lead string) {
		next := below[after]
		for i, e := range slices.Backward(next) {
			guide, inner := lead, lead
			if len(next) > 1 {
				guide, inner = lead+"├ ", lead+"│ "
				if i == len(next)-1 {
					guide, inner = lead+"└ ", lead+"  "
				}
			}
			if draw.Width(inner) > maxGuide {
				guide, inner = lead, lead
			}
			stack = append(stack, open{treeRow{e, guide}, inner})
		}
	}
	t := &Tree{now: now}
	push("", "")
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at.Exchange.Current {
			t.chosen = len(t.Rows)
		}
		t.Rows = append(t.Rows, at.treeRow)
		push(at.Exchange.Turn, at.lead)
	}
	return t
}

// View draws the rows, and the question and answer of the chosen one.
func (t *Tree) View(width, rows int, _ *draw.Keys, theme *draw.Theme) Content {
	c := Content{Title: "Tree of this conversation", Count: draw.Nth(t.chosen, len(t.Rows)), Rows: map[int]int{}}
	branches := 0
	for _, r := range t.Rows {
		if len(r.Exchange.Siblings) > 1 {
			branches++
		}
	}
	if branches > 0 {
		c.Title += fmt.Sprintf(" · %d branches", branches)
	}
	c.Lines = masterDetail(len(t.Rows), width, rows, theme, func(width, rows int) (lines []string) {
		t.page = rows
		from, to := inSight(t.chosen, len(t.Rows), rows)
		for at := from; at < to; at++ {
			c.Rows[len(lines)] = at
			lines = append(lines, t.row(at, width, theme))
		}
		return lines
	}, func(width int) []string { return t.preview(width, theme) })
	return c
}

func (t *Tree) row(at, width int, theme *draw.Theme) string {
	r := t.Rows[at]
	dot, text := theme.Dim.Render("○ "), safetext.Line(agent.QuoteSteering(r.Exchange.Question))
	if r.Exchange.Current {
		dot = theme.Brand.Render("● ")
	}
	mark := "  "
	switch {
	case at == t.chosen:
		mark, text = theme.Selected.Render("▌ "), theme.Selected.Render(text)
	case !r.Exchange.Current:
		text = theme.Dim.Render(text)
	}
	when := theme.Dim.Render(strings.TrimSpace(t.state(r) + "  " + draw.When(r.Exchange.Asked, t.now)))
	left := mark + theme.Border.Render(r.Guide) + dot
	room := width - draw.Width(left) - draw.Width(when) - 2
	if room < 12 {
		return draw.Truncate(left+text, width)
	}
	return draw.Justify(left+draw.Truncate(text, room), when, width)
}

// state describes the state of a turn, if it is not finished.
func (t *Tree) state(r treeRow) string {
	switch {
	case r.Exchange.Undone:
		return "undone"
	case r.Exchange.Answer.Error != "":
		return "failed"
	case r.Exchange.Answer.Cut:
		return "stopped"
	}
	return ""
}

// preview draws the question and answer of the chosen row.
func (t *Tree) preview(width int, theme *draw.Theme) []string {
	r := t.Rows[t.chosen]
	asked := draw.Hang(theme.You.Render("▌ "), safetext.Text(beginning(agent.QuoteSteering(r.Exchange.Question))),
		width)
	answer := beginning(cmp.Or(r.Exchange.Answer.Text, r.Exchange.Answer.Error))
	return append(append(cutHeight(asked, 3), ""), draw.NewDocumentView(draw.ParseDocument(answer),
		0, 0).All(width, theme)...)
}

// beginning returns as much of a text as a preview can show.
func beginning(text string) string {
	const most = 1200
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}

// Update moves in the tree, switches, forks or closes it.
func (t *Tree) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		return t, NotMine{PasteMsg: msg}, nil
	case tea.MouseWheelMsg:
		return t.Update(wheeled(msg), k)
	case Clicked:
		t.chosen = int(msg)
	case tea.KeyPressMsg:
		turn := t.Rows[t.chosen].Exchange.Turn
		switch {
		case key.Matches(msg, k.TreeClose):
			return nil, nil, nil
		case key.Matches(msg, k.TreeShow):
			return nil, Show{Turn: turn}, nil
		case key.Matches(msg, k.TreeGoOn):
			return nil, GoOn{Turn: turn}, nil
		case key.Matches(msg, k.TreeFork):
			return nil, Fork{Turn: turn}, nil
		}
		t.chosen, _ = k.Moved(msg, t.chosen, len(t.Rows), t.page)
	}
	return t, nil, nil
}

// Hints are the keys of the tree.
func (t *Tree) Hints(k *draw.Keys) []string {
	return []string{
		Hint(k.TreeShow, "show"), Hint(k.TreeGoOn, "continue there"), Hint(k.TreeFork, "fork"),
		Hint(k.TreeClose, "close"),
	}
}
