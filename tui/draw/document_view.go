package draw

import (
	"math"
)

// DocumentView is a window onto a document. Its position is a block and a row in it, so that only visible
// blocks have to be drawn.
type DocumentView struct {
	*Document
	From, To int // marked lines; 0 for none
	Chosen   ChosenLink

	rows          []viewPlace // visible rows
	first         viewPlace   // first visible row
	goal          int         // line to scroll to in the next frame; 0 for none
	width, height int
	theme         *Theme
}

// ChosenLink is a link of a block. Link is -1 if none is chosen.
type ChosenLink struct{ Block, Link int }

// viewPlace is a row of a block.
type viewPlace struct{ block, row int }

// NewDocumentView returns a view that begins near line from and marks the lines up to to. If from is 0, it
// begins at the top and marks nothing.
func NewDocumentView(d *Document, from, to int) *DocumentView {
	v := &DocumentView{Document: d, From: from, To: max(from, to), Chosen: ChosenLink{-1, -1}, goal: from}
	return v
}

// Lines returns the visible rows, and the first and last source line they show.
func (v *DocumentView) Lines(width, height int, theme *Theme) (rows []string, first, last int) {
	v.width, v.height, v.theme = width, max(1, height), theme
	if v.goal > 0 {
		at := v.At(v.goal)
		lines := max(1, v.Line(at+1)-v.Line(at))
		row := len(v.rowsOf(at).Rows) * (v.goal - v.Line(at)) / lines
		v.first = v.above(viewPlace{at, max(0, row)}, v.height/3)
		v.goal = 0
	}
	return v.from(v.top())
}

// All returns the rows of the whole document, for printing.
func (v *DocumentView) All(width int, theme *Theme) (rows []string) {
	v.width, v.theme = width, theme
	v.height = math.MaxInt
	rows, _, _ = v.from(viewPlace{})
	return rows
}

// top returns the first visible row. If the text ends before the window does, it moves up to fill
// the window.
func (v *DocumentView) top() viewPlace {
	p := v.first
	for {
		rows, _, _ := v.from(p)
		if len(rows) >= v.height || p == (viewPlace{}) {
			return p
		}
		p = v.above(p, v.height-len(rows))
	}
}

// from returns the rows that are visible from a position on.
func (v *DocumentView) from(p viewPlace) (rows []string, first, last int) {
	at, row := p.block, p.row
	first, last = v.Line(at), 0
	v.rows = v.rows[:0]
	for ; at < v.Blocks() && len(rows) < v.height; at, row = at+1, 0 {
		block := v.rowsOf(at)
		drawn := block.Rows
		lines := max(1, v.Line(at+1)-v.Line(at))
		if row > 0 && len(rows) == 0 {
			first = v.Line(at) + row*lines/max(1, len(drawn))
		}
		here := drawn[min(row, len(drawn)):]
		here = here[:min(len(here), v.height-len(rows))]
		last = min(v.Document.Lines, v.Line(at)+max(0, (row+len(here))*lines/max(1, len(drawn))-1))
		for i, line := range here {
			margin := v.margin(at)
			if block.Gap && row+i == 0 && margin != "" {
				margin = "  "
			}
			rows = append(rows, margin+line)
			v.rows = append(v.rows, viewPlace{at, row + i})
		}
	}
	return rows, first, max(first, last)
}

// rowsOf draws a block, with the chosen link highlighted.
func (v *DocumentView) rowsOf(at int) Drawn {
	chosen := -1
	if v.Chosen.Block == at {
		chosen = v.Chosen.Link
	}
	return v.Draw(at, chosen, max(1, v.width-Width(v.margin(at))), v.theme)
}

// margin returns what precedes each row of a block in a view that marks lines.
func (v *DocumentView) margin(at int) string {
	switch {
	case v.From == 0:
		return ""
	case v.Line(at) <= v.To && v.Line(at+1) > v.From:
		return v.theme.Brand.Render("┃") + " "
	}
	return "  "
}

// Scroll scrolls by a number of rows.
func (v *DocumentView) Scroll(by int) {
	if v.theme == nil {
		return
	}
	if v.first = v.top(); by < 0 {
		v.first = v.above(v.first, -by)
		return
	}
	for v.first.row += by; v.first.block < v.Blocks()-1 && v.first.row >= len(v.rowsOf(v.first.block).Rows); v.first.block++ {
		v.first.row -= len(v.rowsOf(v.first.block).Rows)
	}
	v.first = v.top()
}

// above returns the position a number of rows above p.
func (v *DocumentView) above(p viewPlace, by int) viewPlace {
	for p.row -= by; p.row < 0; p.row += len(v.rowsOf(p.block).Rows) {
		if p.block == 0 {
			return viewPlace{}
		}
		p.block--
	}
	return p
}

// GoTo scrolls to a line of the source.
func (v *DocumentView) GoTo(line int) { v.goal = line }

// LinksInSight returns, for each visible row in which links begin, the first of them.
func (v *DocumentView) LinksInSight() map[int]ChosenLink {
	links := map[int]ChosenLink{}
	for i, at := range v.rows {
		for n, link := range v.links(at.block) {
			if _, taken := links[i]; link.Row == at.row && !taken {
				links[i] = ChosenLink{at.block, n}
			}
		}
	}
	return links
}

// Page returns the number of rows of a page.
func (v *DocumentView) Page() int { return max(1, v.height-1) }

// ToTop scrolls to the beginning.
func (v *DocumentView) ToTop() { v.first = viewPlace{} }

// ToEnd scrolls to the end.
func (v *DocumentView) ToEnd() {
	if last := v.Blocks() - 1; last >= 0 && v.theme != nil {
		v.first = viewPlace{last, max(0, len(v.rowsOf(last).Rows)-v.height)}
	}
}

// Next chooses the link after the chosen one or, if none is, the first visible one; with -1 the one
// before. It scrolls to the link and reports whether there is one.
func (v *DocumentView) Next(by int) bool {
	if v.theme == nil {
		return false
	}
	at, link := v.Chosen.Block, v.Chosen.Link+by
	if at < 0 {
		at, link = v.first.block, 0
	}
	for at >= 0 && at < v.Blocks() {
		links := v.links(at)
		if link == lastLink {
			link = len(links) - 1
		}
		if link >= 0 && link < len(links) {
			v.Chosen = ChosenLink{at, link}
			v.show(viewPlace{at, links[link].Row})
			return true
		}
		if at, link = at+by, 0; by < 0 {
			link = lastLink
		}
	}
	return false
}

// lastLink stands for the last link of a block that is not drawn yet.
const lastLink = 1 << 30

// links returns the links of a block.
func (v *DocumentView) links(at int) []DocumentLink {
	if !v.blocks[at].mayLink() {
		return nil
	}
	return v.Draw(at, -1, max(1, v.width-Width(v.margin(at))), v.theme).Links
}

// show scrolls until a row is visible.
func (v *DocumentView) show(p viewPlace) {
	top := v.top()
	if p.block < top.block || p.block == top.block && p.row < top.row {
		v.first = p
		return
	}
	below := p.row - top.row
	for at := top.block; at < p.block && below < 2*v.height; at++ {
		below += len(v.rowsOf(at).Rows)
	}
	if below >= v.height {
		v.first = v.above(p, v.height-1)
	}
}

// Link returns the chosen link and whether there is one.
func (v *DocumentView) Link() (link DocumentLink, ok bool) {
	if v.Chosen.Link < 0 {
		return DocumentLink{}, false
	}
	return v.links(v.Chosen.Block)[v.Chosen.Link], true
}

// Place returns the source line that an editor should open at: the marked one or else the first
// visible one.
func (v *DocumentView) Place() int {
	if v.From > 0 || v.theme == nil {
		return max(1, v.From)
	}
	_, first, _ := v.from(v.top())
	return first
}
