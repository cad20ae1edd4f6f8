package composer

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/fuzzy"
	"lifehub/tui/keys"
)

// Palette is the list of commands above the composer while one is typed.
type Palette struct {
	Rows   []backend.Command
	Chosen int
	Used   map[string]int // how often each was chosen or run; nil: it is not counted
	typed  string
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
	if typed != p.typed {
		p.typed, p.Chosen = typed, 0
	}
	scores := map[string]int{}
	p.Rows = nil
	for _, c := range commands {
		scores[c.Name] = fuzzy.Score(c.Name, typed)
		for _, name := range c.Aliases {
			scores[c.Name] = max(scores[c.Name], fuzzy.Score(name, typed)-2)
		}
		if scores[c.Name] > 0 {
			p.Rows = append(p.Rows, c)
		}
	}
	slices.SortStableFunc(p.Rows, func(a, b backend.Command) int {
		return cmp.Or(scores[b.Name]-scores[a.Name], p.Used[b.Name]-p.Used[a.Name])
	})
	p.Chosen = max(0, min(p.Chosen, len(p.Rows)-1))
}

func (p *Palette) Open() bool { return len(p.Rows) > 0 }

// Press moves in the list of commands, completes from it or closes it; false:
// the key is the composer's.
func (p *Palette) Press(pressed tea.KeyPressMsg, k *keys.Map, c *Model, commands []backend.Command) bool {
	chosen := p.Rows[p.Chosen]
	if key.Matches(pressed, k.Complete, k.Send) {
		run := chosen.Name
		if named := backend.Find(commands, c.Text()[1:]); named != nil && !key.Matches(pressed, k.Complete) {
			run = named.Name
		}
		if p.Used != nil {
			p.Used[run]++
		}
	}
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

// wideUsage is from where on only the chosen command shows what it may be given.
const wideUsage = 24

// view shows the commands from one up to another, each with its key, and returns
// how wide they are.
func (p *Palette) view(from, to, width int, k *keys.Map, theme *draw.Theme) (lines []string, all int) {
	own := map[string]key.Binding{"help": k.Help, "new": k.New, "resume": k.Conversations, "model": k.Model, "mode": k.Mode, "quit": k.Leave}
	list, pressed := make([]draw.Row, len(p.Rows)), 0
	for i, c := range p.Rows {
		list[i] = draw.Row{Label: c.Usage(), Detail: c.Help, Typed: p.typed}
		if draw.Width(list[i].Label) > wideUsage {
			list[i].Label = "/" + c.Name + " …"
		}
		if b := own[c.Name]; b.Enabled() && width >= 60 {
			pressed = max(pressed, 2+draw.Width(b.Help().Key))
		}
	}
	column, all := draw.Columns(list, width-pressed)
	for at := from; at < to; at++ {
		if at == p.Chosen {
			list[at].Label = p.Rows[at].Usage()
		}
		b, room := own[p.Rows[at].Name], all
		if !b.Enabled() { // its detail takes the column of the keys
			room += pressed
		}
		line := list[at].View(at == p.Chosen, column, room, theme)
		if b.Enabled() && pressed > 0 {
			line = draw.Justify(line, theme.Key.Render(b.Help().Key), all+pressed)
		}
		lines = append(lines, line)
	}
	return lines, all + pressed
}
