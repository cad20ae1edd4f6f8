package tui

import (
	"cmp"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// picker is a list over the whole screen to choose one thing from.
type picker struct {
	title  string
	empty  string // what to say when there is nothing to choose
	none   string // what to say when nothing matches what is typed
	rows   []draw.Row
	filter string
	beside bool // the details stand right beside the labels, not at the end of the row
	chosen int  // among the rows that match
	pick   func(at int) tea.Cmd

	search func(words string) tea.Cmd // finds more than the rows hold; nil: nothing does
	found  foundMsg                   // what it found last
	height int                        // of the view, for the keys that go by pages
}

// foundMsg brings what was found for the words of a picker.
type foundMsg struct {
	words string
	rows  []draw.Row
	pick  func(at int) tea.Cmd
	err   error
}

// find starts a search for what is typed.
func (p *picker) find() tea.Cmd {
	if p.search == nil || strings.TrimSpace(p.filter) == "" {
		p.found = foundMsg{}
		return nil
	}
	return p.search(p.filter)
}

// take shows what was found, if it is still wanted.
func (p *picker) take(found foundMsg) {
	if found.words == p.filter {
		p.found = found
	}
}

// matching returns the rows that hold every word of the filter.
func (p *picker) matching() []int {
	var list []int
	words := strings.Fields(strings.ToLower(p.filter))
	for i, r := range p.rows {
		text := strings.ToLower(r.Label + " " + r.Detail)
		match := true
		for _, word := range words {
			match = match && strings.Contains(text, word)
		}
		if match {
			list = append(list, i)
		}
	}
	return list
}

// Update moves, filters, chooses, or shows what a search found.
func (p *picker) Update(msg tea.Msg, k *keys.Map) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		done, cmd := p.press(msg, k, p.height-1)
		if done {
			return nil, nil, cmd
		}
		return p, nil, cmd
	case tea.PasteMsg:
		p.filter += safetext.Line(msg.Content)
		return p, nil, p.find()
	case foundMsg:
		p.take(msg)
	}
	return p, nil, nil
}

// Hints are the keys of a list.
func (p *picker) Hints(k *keys.Map) []string {
	return []string{moveHint(k), hint(k.PickerChoose, "choose"), hint(k.PickerClose, "close")}
}

// hint is a key and what it does here.
func hint(b key.Binding, what string) string { return b.Help().Key + " " + what }

func moveHint(k *keys.Map) string { return k.ListUp.Help().Key + hint(k.ListDown, "move") }

func scrollHint(k *keys.Map) string { return k.ListUp.Help().Key + hint(k.ListDown, "scroll") }

// press moves, filters or chooses. done says that the picker is over.
func (p *picker) press(pressed tea.KeyPressMsg, k *keys.Map, page int) (done bool, cmd tea.Cmd) {
	list := p.matching()
	switch {
	case key.Matches(pressed, k.PickerClose):
		return true, nil
	case key.Matches(pressed, k.PickerChoose):
		if p.chosen < len(list) {
			return true, p.pick(list[p.chosen])
		}
		if at := p.chosen - len(list); at < len(p.found.rows) {
			return true, p.found.pick(at)
		}
		return false, nil
	}
	if to, moves := k.Moved(pressed, p.chosen, len(list)+len(p.found.rows), page); moves && pressed.Text == "" {
		p.chosen = to
		return false, nil
	}
	if filter := keys.Typed(p.filter, pressed); filter != p.filter {
		p.filter, p.chosen = filter, 0
		cmd = p.find()
	}
	p.chosen = max(0, min(p.chosen, len(p.matching())+len(p.found.rows)-1))
	return false, cmd
}

// View returns exactly height lines.
func (p *picker) View(width, height int, _ *keys.Map, look *draw.Theme) []string {
	p.height = height
	list := p.matching()
	total := len(list) + len(p.found.rows)
	lines := []string{draw.Spread(look.Strong.Render(safetext.Line(p.title)), look.Dim.Render(draw.Thousands(total)), min(width, draw.Readable))}
	search := look.Dim.Render("type to filter")
	if p.search != nil {
		search = look.Dim.Render("type to search titles and messages")
	}
	if p.filter != "" {
		search = p.filter + "▏"
	}
	lines = append(lines, draw.Fit(look.Brand.Render("> ")+search, width), "")
	switch {
	case p.found.err != nil:
		lines = append(lines, look.Danger.Render(draw.Fit(safetext.Line(p.found.err.Error()), width)))
	case total == 0:
		says := p.empty
		if strings.TrimSpace(p.filter) != "" && (len(p.rows) > 0 || p.search != nil) {
			says = cmp.Or(p.none, "nothing matches that")
		}
		lines = append(lines, draw.Styled(look.Dim.Render, draw.Broken(safetext.Text(says), width))...)
	}
	rows := max(1, height-len(lines))
	if len(p.found.rows) > 0 && rows > 1 {
		rows-- // for the heading between the two
	}
	from := max(0, min(p.chosen-rows/2, total-rows))
	for at := from; at < total && at < from+rows; at++ {
		if at == len(list) && rows > 1 {
			lines = append(lines, look.Dim.Render(draw.Fit("In messages", width)))
		}
		if at < len(list) {
			lines = append(lines, p.row(list[at], at == p.chosen, width, look))
		} else {
			lines = append(lines, p.found.rows[at-len(list)].View(at == p.chosen, width, look))
		}
	}
	return draw.Filled(lines, height)
}

// row is one of the picker's own rows.
func (p *picker) row(at int, chosen bool, width int, look *draw.Theme) string {
	if !p.beside {
		return p.rows[at].View(chosen, width, look)
	}
	column := 0
	for _, r := range p.rows {
		column = max(column, draw.Cells(r.Label))
	}
	return p.rows[at].Beside(chosen, min(column, width/2), width, look)
}
