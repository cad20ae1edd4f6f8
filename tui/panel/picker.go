package panel

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// Picker is a list over the whole screen to choose one thing from.
type Picker struct {
	Title  string
	Empty  string // what to say when there is nothing to choose
	None   string // what to say when nothing matches what is typed
	Rows   []draw.Row
	Filter string
	Beside bool // the details stand right next to the labels, not at the end of the row
	Chosen int  // among the rows that match
	Pick   func(at int) tea.Cmd

	Search func(words string) tea.Cmd // finds more than the rows hold; nil: nothing does
	Found  FoundMsg                   // what it found last
	height int                        // of the view, for the keys that go by pages
}

// FoundMsg brings what was found for the words of a picker.
type FoundMsg struct {
	Words string
	Rows  []draw.Row
	Pick  func(at int) tea.Cmd
	Err   error
}

// find starts a search for what is typed.
func (p *Picker) find() tea.Cmd {
	if p.Search == nil || strings.TrimSpace(p.Filter) == "" {
		p.Found = FoundMsg{}
		return nil
	}
	return p.Search(p.Filter)
}

// take shows what was found, if it is still wanted.
func (p *Picker) take(found FoundMsg) {
	if found.Words == p.Filter {
		p.Found = found
	}
}

// Matching returns the rows that hold every word of the filter.
func (p *Picker) Matching() (list []int) {
	words := strings.Fields(strings.ToLower(p.Filter))
	for i, r := range p.Rows {
		text := strings.ToLower(r.Label + " " + r.Detail)
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) }) {
			list = append(list, i)
		}
	}
	return list
}

// Update moves, filters, chooses, or shows what a search found.
func (p *Picker) Update(msg tea.Msg, k *keys.Map) (Panel, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		done, cmd := p.press(msg, k, p.height-1)
		if done {
			return nil, nil, cmd
		}
		return p, nil, cmd
	case tea.PasteMsg:
		p.Filter += safetext.Line(msg.Content)
		return p, nil, p.find()
	case FoundMsg:
		p.take(msg)
	}
	return p, nil, nil
}

// Hints are the keys of a list.
func (p *Picker) Hints(k *keys.Map) []string {
	return []string{moveHint(k), Hint(k.PickerChoose, "choose"), Hint(k.PickerClose, "close")}
}

// Hint is a key and what it does here.
func Hint(b key.Binding, what string) string { return b.Help().Key + " " + what }

func moveHint(k *keys.Map) string { return k.ListUp.Help().Key + Hint(k.ListDown, "move") }

func scrollHint(k *keys.Map) string { return k.ListUp.Help().Key + Hint(k.ListDown, "scroll") }

// press moves, filters or chooses. done says that the picker is over.
func (p *Picker) press(pressed tea.KeyPressMsg, k *keys.Map, page int) (done bool, cmd tea.Cmd) {
	list := p.Matching()
	switch {
	case key.Matches(pressed, k.PickerClose):
		return true, nil
	case key.Matches(pressed, k.PickerChoose):
		if p.Chosen < len(list) {
			return true, p.Pick(list[p.Chosen])
		}
		if at := p.Chosen - len(list); at < len(p.Found.Rows) {
			return true, p.Found.Pick(at)
		}
		return false, nil
	}
	if to, moves := k.Moved(pressed, p.Chosen, len(list)+len(p.Found.Rows), page); moves && pressed.Text == "" {
		p.Chosen = to
		return false, nil
	}
	if filter := keys.Typed(p.Filter, pressed); filter != p.Filter {
		p.Filter, p.Chosen = filter, 0
		cmd = p.find()
	}
	p.Chosen = max(0, min(p.Chosen, len(p.Matching())+len(p.Found.Rows)-1))
	return false, cmd
}

// View returns exactly height lines.
func (p *Picker) View(width, height int, _ *keys.Map, theme *draw.Theme) []string {
	p.height = height
	list := p.Matching()
	total := len(list) + len(p.Found.Rows)
	lines := []string{draw.Justify(theme.Strong.Render(safetext.Line(p.Title)), theme.Dim.Render(draw.Thousands(total)), min(width, draw.Readable))}
	search := theme.Dim.Render("type to filter")
	if p.Search != nil {
		search = theme.Dim.Render("type to search titles and messages")
	}
	if p.Filter != "" {
		search = p.Filter + "▏"
	}
	lines = append(lines, draw.Truncate(theme.Brand.Render("> ")+search, width), "")
	switch {
	case p.Found.Err != nil:
		lines = append(lines, theme.Danger.Render(draw.Truncate(safetext.Line(p.Found.Err.Error()), width)))
	case total == 0:
		says := p.Empty
		if strings.TrimSpace(p.Filter) != "" && (len(p.Rows) > 0 || p.Search != nil) {
			says = cmp.Or(p.None, "nothing matches that")
		}
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Wrap(safetext.Text(says), width))...)
	}
	rows := max(1, height-len(lines))
	if len(p.Found.Rows) > 0 && rows > 1 {
		rows-- // for the heading between the two
	}
	from := max(0, min(p.Chosen-rows/2, total-rows))
	for at := from; at < total && at < from+rows; at++ {
		if at == len(list) && rows > 1 {
			lines = append(lines, theme.Dim.Render(draw.Truncate("In messages", width)))
		}
		if at < len(list) {
			lines = append(lines, p.row(list[at], at == p.Chosen, width, theme))
		} else {
			lines = append(lines, p.Found.Rows[at-len(list)].View(at == p.Chosen, width, theme))
		}
	}
	return draw.PadHeight(lines, height)
}

// row is one of the picker's own rows.
func (p *Picker) row(at int, chosen bool, width int, theme *draw.Theme) string {
	if !p.Beside {
		return p.Rows[at].View(chosen, width, theme)
	}
	column := 0
	for _, r := range p.Rows {
		column = max(column, draw.Width(r.Label))
	}
	return p.Rows[at].Beside(chosen, min(column, width/2), width, theme)
}
