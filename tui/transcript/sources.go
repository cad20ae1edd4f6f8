package transcript

import (
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Sources is the end of a turn: the citations of its answer with their verdicts, and the
// effects of the turn. It takes a row or two, and is a list while a source is chosen.
type Sources struct {
	List    []Cited
	Preview bool // the chosen one shows its passage

	written   bool // the answer itself names the note and line of each
	Elsewhere bool // shown in the sidebar, and here only while one is chosen

	chosen int    // -1: none
	spots  []spot // start of each visible one
	host   string // of links to notes
	did    agent.Effects
	undo   bool // a command takes back what the turn did
}

// spot is where a source begins in the item.
type spot struct{ part, line, column int }

func NewSources(host string) *Sources { return &Sources{chosen: -1, host: host} }

// Show shows these sources.
func (s *Sources) Show(list []chat.Cited) {
	s.List = s.List[:0]
	for _, c := range list {
		s.List = append(s.List, Cited(c))
	}
}

func (s *Sources) Parts() int      { return len(s.List) }
func (s *Sources) choose(part int) { s.chosen = min(part, len(s.List)-1) }

func (s *Sources) line(part int) int {
	if at := slices.IndexFunc(s.spots, func(at spot) bool { return at.part == part }); at >= 0 {
		return s.spots[at].line
	}
	return 0
}

func (s *Sources) part(line, column int) (part int) {
	for _, at := range s.spots {
		if at.line < line || at.line == line && at.column <= column {
			part = at.part
		}
	}
	return part
}

func (s *Sources) Render(width int, theme *draw.Theme) (lines []string) {
	s.spots = s.spots[:0]
	switch {
	case len(s.List) == 0, (s.Elsewhere || s.written) && s.chosen < 0:
	case s.chosen >= 0:
		lines = s.listed(width, theme)
	default:
		lines = s.flowing(width, theme)
	}
	if s.did == nil {
		return lines
	}
	style := theme.Dim
	switch {
	case s.did.Warns():
		style = theme.Warning
	case slices.ContainsFunc(s.did, func(e agent.Effect) bool { return e.Kind != agent.RequestSent }):
		style = theme.Text
	}
	did := draw.StyleLines(style.Render, draw.Wrap(chat.EffectsLine(s.did, s.undo), width))
	if last := len(lines) - 1; last >= 0 && !s.did.Warns() && len(did) == 1 &&
		draw.Width(lines[last])+3+draw.Width(did[0]) <= width {
		lines[last] = draw.Justify(lines[last], did[0], width)
		return lines
	}
	return append(lines, did...)
}

// flowing draws the sources next to each other, in two rows if possible: further ones are
// left out, except those with a verdict that the user should see.
func (s *Sources) flowing(width int, theme *draw.Theme) []string {
	var shown []int
	for i := range s.List {
		shown = append(shown, i)
	}
	all := len(shown)
	for {
		rows, row := []string{}, ""
		add := func(part string) {
			switch {
			case row != "" && draw.Width(row)+3+draw.Width(part) > width:
				rows, row = append(rows, row), ""
			case row != "":
				row += "   "
			}
			row += part
		}
		s.spots = s.spots[:0]
		for _, i := range shown {
			part, below := s.List[i].brief(s.host, width, theme)
			add(part)
			s.spots = append(s.spots, spot{part: i, line: len(rows), column: draw.Width(row) - draw.Width(part)})
			if last := len(below) - 1; last >= 0 {
				rows, row = append(append(rows, row), below[:last]...), below[last]
			}
		}
		if hidden := all - len(shown); hidden > 0 {
			add(theme.Dim.Render(fmt.Sprintf("+%d more", hidden)))
		}
		last := len(shown) - 1
		for last >= 0 && s.List[shown[last]].mustBeSeen() {
			last--
		}
		if rows = append(rows, row); len(rows) <= 2 || last < 0 {
			return rows
		}
		shown = slices.Delete(shown, last, last+1)
	}
}

// brief returns the mark, place and verdict of a source for a row with others. A verdict
// that does not fit is below.
func (c Cited) brief(host string, width int, theme *draw.Theme) (brief string, below []string) {
	verdict := verdictMark(c.Citation, theme)
	brief = theme.Reference.Render(c.mark()) + " " + c.shown(host, max(16, width/2-draw.Width(c.mark())-1))
	brief = strings.TrimRight(brief, " ")
	if verdict != "" && draw.Width(brief)+1+draw.Width(verdict) > width {
		return draw.Truncate(brief, width), c.verdictBelow("    ", width, theme)
	}
	return draw.Truncate(strings.TrimRight(brief+" "+verdict, " "), width), nil
}

// verdictBelow returns the lines of a verdict below its source.
func (c Cited) verdictBelow(indent string, width int, theme *draw.Theme) []string {
	return draw.StyleLines(verdictStyle(c.Citation, theme).Render, draw.Hang(indent, verdictText(c.Citation), width))
}

// listed draws the sources as a list, of which one is chosen. A verdict that does not fit
// next to its source is below it.
func (s *Sources) listed(width int, theme *draw.Theme) (lines []string) {
	for i, c := range s.List {
		s.spots = append(s.spots, spot{part: i, line: len(lines)})
		sign, mark, style := "  ", theme.Reference.Render(c.mark()), theme.Text
		if i == s.chosen {
			sign, mark, style = theme.Selected.Render("› "), theme.Selected.Render(c.mark()), theme.Selected
		}
		verdict := verdictMark(c.Citation, theme)
		room := width - draw.Width(verdict) - 2
		below := room < min(width/2, 32)
		if below {
			room = width
		}
		left := sign + mark
		if place := c.shown(s.host, room-draw.Width(left)-1); place != "" {
			left += " " + style.Render(place)
		}
		if more := room - draw.Width(left) - 2; more >= 8 && c.Source.Heading != "" && c.Citation.Context == "" {
			left += "  " + theme.Dim.Render(draw.Truncate(safetext.Line(c.Source.Heading), more))
		}
		left = draw.Truncate(left, room)
		if below {
			lines = append(append(lines, left), c.verdictBelow("      ", width, theme)...)
		} else {
			lines = append(lines, strings.TrimRight(draw.Truncate(left+"  "+verdict, width), " "))
		}
		if i == s.chosen && s.Preview {
			lines = append(lines, c.passage(width, theme)...)
		}
	}
	return lines
}

func (s *Sources) Copied() string {
	var lines []string
	for i, c := range s.List {
		if s.chosen < 0 || s.chosen == i {
			lines = append(lines, c.mark()+" "+c.place())
		}
	}
	if len(lines) == 0 {
		return chat.EffectsLine(s.did, false)
	}
	return strings.Join(lines, "\n")
}

var _ multiPart = (*Sources)(nil)
