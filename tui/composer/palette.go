package composer

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
)

// Palette is the list of commands above the composer while one is typed.
type Palette struct {
	Rows   []backend.Command
	Chosen int
	closed string // the text for which the user closed it
}

// Follow brings the palette in line with what is typed.
func (p *Palette) Follow(text string, commands []backend.Command) {
	typed, isCommand := strings.CutPrefix(text, "/")
	if text != p.closed {
		p.closed = ""
	}
	if !isCommand || strings.ContainsAny(typed, " \n") || text == p.closed {
		p.Rows = nil
		return
	}
	var rows []backend.Command
	for _, c := range commands {
		if strings.HasPrefix(c.Name, typed) {
			rows = append(rows, c)
		}
	}
	for _, c := range commands {
		if !strings.HasPrefix(c.Name, typed) && (strings.Contains(c.Name, typed) || slices.ContainsFunc(c.Aliases, func(a string) bool { return strings.HasPrefix(a, typed) })) {
			rows = append(rows, c)
		}
	}
	p.Rows = rows
	p.Chosen = max(0, min(p.Chosen, len(rows)-1))
}

func (p *Palette) Open() bool { return len(p.Rows) > 0 }

// Press moves in the list of commands, completes from it or closes it; false:
// the key is the composer's.
func (p *Palette) Press(pressed tea.KeyPressMsg, k *keys.Map, c *Model, commands []backend.Command) bool {
	chosen := p.Rows[p.Chosen]
	switch {
	case key.Matches(pressed, k.Stop):
		p.closed, p.Rows = c.Text(), nil
		if p.closed == "/" { // nobody began to write a command
			p.closed = ""
			c.Set("")
		}
	case key.Matches(pressed, k.Up):
		p.Chosen = around(p.Chosen-1, len(p.Rows))
	case key.Matches(pressed, k.Down):
		p.Chosen = around(p.Chosen+1, len(p.Rows))
	case key.Matches(pressed, k.Complete):
		c.Set("/" + chosen.Name + " ")
		p.Rows = nil
	case key.Matches(pressed, k.Send) && backend.Find(commands, c.Text()[1:]) == nil:
		c.Set("/" + chosen.Name + " ")
		p.Rows = nil
		return chosen.Args != "" && chosen.Args[0] != '[' // else it runs at once
	default:
		return false
	}
	return true
}

// around is a place in a list of n rows whose ends meet.
func around(at, n int) int { return (at + n) % n }

// view shows at most so many commands.
func (p *Palette) view(width, rows int, theme *draw.Theme) (lines []string, all int) {
	list := make([]draw.Row, len(p.Rows))
	for i, c := range p.Rows {
		list[i] = draw.Row{Label: c.Usage(), Detail: c.Help}
	}
	column, all := draw.Columns(list, width)
	from := max(0, min(p.Chosen-rows/2, len(list)-rows))
	for at := from; at < min(len(list), from+rows); at++ {
		lines = append(lines, list[at].View(at == p.Chosen, column, width, theme))
	}
	return lines, all
}
