package panel

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Picker is a list to choose one thing from.
type Picker struct {
	Title   string
	Invites string // shown while nothing is typed; "": to filter
	Empty   string // what to say when there is nothing to choose
	None    string // what to say when nothing matches what is typed
	Rows    []draw.Row
	Heads   map[int]string // above a row while nothing is typed: what a group is
	Foot    []string       // below the rows
	Filter  string
	Chosen  int // among the rows that match
	Pick    func(at int) tea.Cmd

	Search func(words string) tea.Cmd // finds more than the rows hold; nil: nothing does
	Found  FoundMsg                   // what it found last
	page   int                        // visible rows
}

// FoundMsg has the results for the words of a picker.
type FoundMsg struct {
	Words string
	Rows  []draw.Row
	Pick  func(at int) tea.Cmd
	Err   error
}

// Find starts a search for what is typed.
func (p *Picker) Find() tea.Cmd {
	if p.Search == nil || strings.TrimSpace(p.Filter) == "" {
		p.Found = FoundMsg{}
		return nil
	}
	return p.Search(p.Filter)
}

// take shows results, unless the words have changed.
func (p *Picker) take(found FoundMsg) {
	if found.Words == p.Filter {
		p.Found = found
	}
}

// Matching returns the rows that match the filter, best first.
func (p *Picker) Matching() (list []int) {
	scores := make([]int, len(p.Rows))
	for i, r := range p.Rows {
		if scores[i] = 1; !draw.Blank(p.Filter) {
			scores[i] = draw.MatchRow(r.Label, r.Detail, p.Filter)
		}
		if scores[i] > 0 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return scores[b] - scores[a] })
	return list
}

// Update moves, filters, chooses, or shows what a search found.
func (p *Picker) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		done, cmd := p.press(msg, k, p.page)
		if done {
			return nil, nil, cmd
		}
		return p, nil, cmd
	case tea.PasteMsg:
		p.Filter += safetext.Line(msg.Content)
		return p, nil, p.Find()
	case FoundMsg:
		p.take(msg)
	case tea.MouseWheelMsg:
		return p.Update(wheeled(msg), k)
	case Clicked:
		if p.Chosen != int(msg) {
			p.Chosen = int(msg)
			break
		}
		done, cmd := p.choose()
		if done {
			return nil, nil, cmd
		}
	}
	return p, nil, nil
}

// Hints are the keys of a list.
func (p *Picker) Hints(k *draw.Keys) []string {
	return []string{moveHint(k), Hint(k.PickerChoose, "choose"), Hint(k.PickerClose, "close")}
}

// Hint is a key and what it does here.
func Hint(b key.Binding, what string) string { return b.Help().Key + " " + what }

func moveHint(k *draw.Keys) string { return k.ListUp.Help().Key + Hint(k.ListDown, "move") }

func scrollHint(k *draw.Keys) string { return k.ListUp.Help().Key + Hint(k.ListDown, "scroll") }

// press moves, filters or chooses. done reports that the picker closes.
func (p *Picker) press(pressed tea.KeyPressMsg, k *draw.Keys, page int) (done bool, cmd tea.Cmd) {
	switch {
	case key.Matches(pressed, k.PickerClose):
		return true, nil
	case key.Matches(pressed, k.PickerChoose):
		return p.choose()
	}
	if to, moves := k.Moved(pressed, p.Chosen, len(p.Matching())+len(p.Found.Rows), page); moves && pressed.Text == "" {
		p.Chosen = to
		return false, nil
	}
	if filter := draw.TypedInto(p.Filter, pressed); filter != p.Filter {
		p.Filter, p.Chosen = filter, 0
		cmd = p.Find()
	}
	p.Chosen = max(0, min(p.Chosen, len(p.Matching())+len(p.Found.Rows)-1))
	return false, cmd
}

// choose picks the chosen row. done reports whether there is one.
func (p *Picker) choose() (done bool, cmd tea.Cmd) {
	list := p.Matching()
	if p.Chosen < len(list) {
		return true, p.Pick(list[p.Chosen])
	}
	if at := p.Chosen - len(list); at < len(p.Found.Rows) {
		return true, p.Found.Pick(at)
	}
	return false, nil
}

// View draws the filter and the matching rows.
func (p *Picker) View(width, rows int, _ *draw.Keys, theme *draw.Theme) Content {
	list := p.Matching()
	total := len(list) + len(p.Found.Rows)
	c := Content{Title: p.Title, Rows: map[int]int{}, Count: draw.Nth(p.Chosen, total)}
	if rows > 1 {
		c.Lines = append(c.Lines, filterLine(p.Filter, cmp.Or(p.Invites, "type to filter"), width, theme))
	}
	if rows > 6 {
		c.Lines = append(c.Lines, "")
	}
	switch {
	case p.Found.Err != nil:
		c.Lines = append(c.Lines, theme.Danger.Render(draw.Truncate(safetext.Line(p.Found.Err.Error()), width)))
	case total == 0:
		says := p.Empty
		if strings.TrimSpace(p.Filter) != "" && (len(p.Rows) > 0 || p.Search != nil) {
			says = cmp.Or(p.None, "no matches")
		}
		c.Lines = append(c.Lines, draw.StyleLines(theme.Dim.Render, draw.Wrap(safetext.Text(says), width))...)
	}
	var foot []string
	for _, line := range p.Foot {
		mark, says, _ := strings.Cut(safetext.Line(line), " ")
		foot = append(foot, draw.StyleLines(theme.Dim.Render, draw.Hang(mark+" ", says, width))...)
	}
	heads := p.Heads
	if !draw.Blank(p.Filter) || rows-len(c.Lines)-len(foot) < 3*len(heads) { // the names tell it as well
		heads = nil
	}
	apart := len(heads) > 0 && rows-len(c.Lines)-len(foot)-2*len(heads) >= total // a blank line between the groups
	if apart && len(foot) > 0 {
		foot = append([]string{""}, foot...)
	}
	p.page = max(1, rows-len(c.Lines)-len(foot)-len(heads))
	between := len(p.Rows) > 0 && len(p.Found.Rows) > 0 && p.page > 1
	if between {
		p.page-- // for the heading between the two
	}
	column, found := draw.Columns(p.Rows, width), draw.Columns(p.Found.Rows, width)
	from, to := inSight(p.Chosen, total, p.page)
	for at := from; at < to; at++ {
		if at == len(list) && between {
			c.Lines = append(c.Lines, theme.Dim.Render(draw.Truncate("In messages", width)))
		}
		if head, ok := heads[at]; ok {
			if apart && at > from {
				c.Lines = append(c.Lines, "")
			}
			c.Lines = append(c.Lines, theme.Dim.Render(draw.Truncate(safetext.Line(head), width)))
		}
		c.Rows[len(c.Lines)] = at
		if at < len(list) {
			row := p.Rows[list[at]]
			row.Typed = p.Filter
			c.Lines = append(c.Lines, row.View(at == p.Chosen, column, width, theme))
		} else {
			c.Lines = append(c.Lines, p.Found.Rows[at-len(list)].View(at == p.Chosen, found, width, theme))
		}
	}
	c.Lines = append(c.Lines, foot...)
	// It stays as high as it was while what is typed leaves fewer rows.
	c.Lines = draw.PadHeight(c.Lines, min(rows, max(len(c.Lines), len(p.Rows)+len(p.Heads)+len(foot)+2)))
	return c
}

// filterLine draws the filter of a list, or a placeholder.
func filterLine(typed, invites string, width int, theme *draw.Theme) string {
	if typed == "" {
		return draw.Truncate(theme.Brand.Render("> ")+theme.Dim.Render(invites), width)
	}
	return draw.Truncate(theme.Brand.Render("> ")+typed+"▏", width)
}
