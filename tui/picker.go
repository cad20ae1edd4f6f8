package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/safetext"
)

// picker is a list over the whole screen to choose one thing from.
type picker struct {
	title  string
	empty  string // what to say when there is nothing to choose
	rows   []row
	filter string
	chosen int // among the rows that match
	pick   func(at int) tea.Cmd
	cancel func() tea.Cmd // nil: nothing to do
}

type row struct{ label, detail string }

// matching returns the rows that hold every word of the filter.
func (p *picker) matching() []int {
	var list []int
	words := strings.Fields(strings.ToLower(p.filter))
	for i, r := range p.rows {
		text := strings.ToLower(r.label + " " + r.detail)
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

// press moves, filters or chooses. done says that the picker is over.
func (p *picker) press(pressed tea.KeyPressMsg, page int) (done bool, cmd tea.Cmd) {
	list := p.matching()
	switch pressed.String() {
	case "esc", "ctrl+c":
		if p.cancel != nil {
			cmd = p.cancel()
		}
		return true, cmd
	case "enter":
		if p.chosen < len(list) {
			return true, p.pick(list[p.chosen])
		}
	case "up", "ctrl+p":
		p.chosen--
	case "down", "ctrl+n", "tab":
		p.chosen++
	case "pgup":
		p.chosen -= page
	case "pgdown":
		p.chosen += page
	case "home", "ctrl+home":
		p.chosen = 0
	case "end", "ctrl+end":
		p.chosen = len(list)
	case "backspace":
		if runes := []rune(p.filter); len(runes) > 0 {
			p.filter, p.chosen = string(runes[:len(runes)-1]), 0
		}
	case "ctrl+u":
		p.filter, p.chosen = "", 0
	default:
		if pressed.Text != "" {
			p.filter, p.chosen = p.filter+safetext.Line(pressed.Text), 0
		}
	}
	p.chosen = max(0, min(p.chosen, len(p.matching())-1))
	return false, nil
}

// view returns exactly height lines.
func (p *picker) view(width, height int, look *theme) []string {
	list := p.matching()
	lines := []string{spread(look.Strong.Render(p.title), look.Dim.Render(thousands(len(list))), width)}
	search := look.Dim.Render("type to filter")
	if p.filter != "" {
		search = p.filter + "▏"
	}
	lines = append(lines, fit(look.Brand.Render("> ")+search, width), "")
	if len(list) == 0 {
		lines = append(lines, look.Dim.Render(fit(p.empty, width)))
	}
	rows := max(1, height-len(lines))
	from := max(0, min(p.chosen-rows/2, len(list)-rows))
	for at := from; at < len(list) && at < from+rows; at++ {
		r := p.rows[list[at]]
		label, mark := safetext.Line(r.label), "  "
		detail := look.Dim.Render(fit(safetext.Line(r.detail), width*2/3))
		label = fit(label, max(10, width-4-cells(detail)))
		if at == p.chosen {
			mark, label = look.Selected.Render("› "), look.Selected.Render(label)
		}
		lines = append(lines, spread(mark+label, detail, width))
	}
	return filled(lines, height)
}
