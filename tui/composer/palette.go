package composer

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/draw"
)

// Palette is the list of commands above the composer while one is typed.
type Palette struct {
	Rows   []chat.Command
	Chosen int
	Used   map[string]int // number of uses of each; nil if not counted
	heads  map[int]string // heading above a row
	typed  string
}

// Follow updates the palette after a change of the text.
func (p *Palette) Follow(text string, commands []chat.Command) {
	typed, isCommand := strings.CutPrefix(text, "/")
	if !isCommand || strings.ContainsAny(typed, " \n") {
		p.Rows = nil
		return
	}
	if typed != p.typed {
		p.typed, p.Chosen = typed, 0
	}
	scores := map[string]int{}
	p.Rows, p.heads = nil, nil
	for _, c := range commands {
		scores[c.Name] = draw.Match(c.Name, typed)
		for _, name := range c.Aliases {
			scores[c.Name] = max(scores[c.Name], draw.Match(name, typed)-2)
		}
		if scores[c.Name] <= 0 && strings.Contains(" "+strings.ToLower(c.Help), " "+strings.ToLower(typed)) {
			scores[c.Name] = 1 // a word of its description
		}
		if scores[c.Name] > 0 {
			p.Rows = append(p.Rows, c)
		}
	}
	slices.SortStableFunc(p.Rows, func(a, b chat.Command) int {
		return cmp.Or(scores[b.Name]-scores[a.Name], p.Used[b.Name]-p.Used[a.Name])
	})
	p.group()
	p.Chosen = max(0, min(p.Chosen, len(p.Rows)-1))
}

// mostRecent is the number of most used commands above all groups.
const mostRecent = 3

// group groups the commands, with the most used ones first. While something is typed, the
// group of the best match is first.
func (p *Palette) group() {
	recent, order := 0, chat.Groups
	if p.typed != "" {
		order = nil
		for _, c := range p.Rows {
			order = append(order, c.Group)
		}
	}
	for p.typed == "" && recent < min(mostRecent, len(p.Rows)) && p.Used[p.Rows[recent].Name] > 0 {
		recent++
	}
	rest := p.Rows[recent:]
	slices.SortStableFunc(rest, func(a, b chat.Command) int {
		return slices.Index(order, a.Group) - slices.Index(order, b.Group)
	})
	p.heads = map[int]string{}
	if recent > 0 {
		p.heads[0] = "Used most"
	}
	for i, c := range rest {
		if i == 0 || c.Group != rest[i-1].Group {
			p.heads[recent+i] = cmp.Or(c.Group, "Yours")
		}
	}
}

func (p *Palette) Open() bool { return len(p.Rows) > 0 }

// Press moves in the list of commands, completes from it or closes it. It reports false if the
// key goes to the composer.
func (p *Palette) Press(pressed tea.KeyPressMsg, k *draw.Keys, c *Model, commands []chat.Command) bool {
	chosen := p.Rows[p.Chosen]
	if key.Matches(pressed, k.Complete, k.Send) {
		run := chosen.Name
		if named := chat.Find(commands, c.Text()[1:]); named != nil && !key.Matches(pressed, k.Complete) {
			run = named.Name
		}
		if p.Used != nil {
			p.Used[run]++
		}
	}
	switch {
	case key.Matches(pressed, k.Stop):
		p.Rows = nil
		c.Set("") // so that undo restores the text
	case key.Matches(pressed, k.Up):
		p.Chosen = around(p.Chosen-1, len(p.Rows))
	case key.Matches(pressed, k.Down):
		p.Chosen = around(p.Chosen+1, len(p.Rows))
	case key.Matches(pressed, k.Complete):
		c.Set("/" + chosen.Name + " ")
		p.Rows = nil
	case key.Matches(pressed, k.Send) && chat.Find(commands, c.Text()[1:]) == nil:
		c.Set("/" + chosen.Name + " ")
		p.Rows = nil
		return chosen.Args != "" && chosen.Args[0] != '[' // otherwise it runs at once
	default:
		return false
	}
	return true
}

// barred is the number of cells that a row has besides its title and what is at its right.
const barred = 6

// around wraps an index around a list of n rows.
func around(at, n int) int { return (at + n) % n }

const (
	// namedFrom is the width of a row from which the names of commands are shown next to their
	// titles: that of a window of 60 columns.
	namedFrom = 60 - 2*draw.Gutter - draw.BoxSides
	// leastNames is the width that they need, without taking any from the titles.
	leastNames = 12
)

// wideUsage is the width from which a usage is shown only for the chosen command.
const wideUsage = 24

// lines draws the commands by group, each with its description, key and name. rows has
// the command of each line, or -1.
func (p *Palette) lines(width int, k *draw.Keys, theme *draw.Theme) (lines []string, rows []int) {
	own := map[string]key.Binding{
		"help": k.Help, "new": k.New, "resume": k.Conversations, "model": k.Model,
		"mode": k.Mode, "quit": k.Leave,
	}
	usage := func(at int) string {
		if c := p.Rows[at]; at == p.Chosen || draw.Width(c.Usage()) <= wideUsage {
			return c.Usage()
		}
		return "/" + p.Rows[at].Name + " …"
	}
	pressed, typed, titles := 0, 0, 0
	for at, c := range p.Rows {
		if b := own[c.Name]; b.Enabled() && width >= 60 {
			pressed = max(pressed, 2+draw.Width(b.Help().Key))
		}
		typed, titles = max(typed, draw.Width(usage(at))), max(titles, draw.Width(c.Title()))
	}
	if room := width - barred - titles - pressed; width < namedFrom || room < min(typed, leastNames) {
		typed = 0
	} else {
		typed = min(typed, room)
	}
	for at, c := range p.Rows {
		if head := p.heads[at]; head != "" {
			lines, rows = append(lines, theme.Dim.Render(draw.Truncate(head, width))), append(rows, -1)
		}
		keys := ""
		if b := own[c.Name]; b.Enabled() && pressed > 0 {
			keys = b.Help().Key
		}
		name := draw.Truncate(usage(at), typed)
		right := theme.Key.Render(keys) + strings.Repeat(" ",
			pressed-draw.Width(keys)) + theme.Dim.Render(name) + strings.Repeat(" ", typed-draw.Width(name))
		row := draw.Row{Label: c.Title(), Typed: p.typed, Right: right}
		label := width - barred - draw.Width(right)
		if draw.Match(strings.ToLower(c.Title()), strings.ToLower(p.typed)) <= 0 {
			row.Typed = ""
		}
		rows = append(rows, at)
		lines = append(lines, row.View(at == p.Chosen, max(1, label), width, theme))
	}
	return lines, rows
}
