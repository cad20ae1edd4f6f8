package composer

import (
	"slices"
	"strings"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
)

// Palette is the list of commands above the composer while one is typed.
type Palette struct {
	Rows   []backend.Command
	Chosen int
	Closed string // the text for which the user closed it
}

// Follow brings the palette in line with what is typed.
func (p *Palette) Follow(text string, commands []backend.Command) {
	typed, isCommand := strings.CutPrefix(text, "/")
	if text != p.Closed {
		p.Closed = ""
	}
	if !isCommand || strings.ContainsAny(typed, " \n") || text == p.Closed {
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

// Move chooses another command, around at the ends.
func (p *Palette) Move(by int) { p.Chosen = (p.Chosen + by + len(p.Rows)) % len(p.Rows) }

// View shows at most height commands.
func (p *Palette) View(width, height int, theme *draw.Theme) []string {
	rows := min(len(p.Rows), height)
	from := max(0, min(p.Chosen-rows/2, len(p.Rows)-rows))
	column := 0
	for _, c := range p.Rows {
		column = max(column, draw.Width(c.Usage()))
	}
	column = min(column, max(6, width/2))
	var lines []string
	for at := from; at < from+rows; at++ {
		c := p.Rows[at]
		lines = append(lines, draw.Row{Label: c.Usage(), Detail: c.Help}.Beside(at == p.Chosen, column, width, theme))
	}
	return lines
}
