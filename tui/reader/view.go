package reader

import (
	"math"

	"lifehub/tui/draw"
)

// View is what of a document is in sight. Its place is a block and a row of it, so
// that a long document costs no more than what is looked at.
type View struct {
	*Document
	From, To int // the cited lines; 0: none
	Chosen   Chosen

	rows          []place // in sight
	first         place   // the first row in sight
	goal          int     // a line to be brought into sight at the next picture; 0: none
	width, height int
	theme         *draw.Theme
}

// Chosen is a link of a block; Link -1: none.
type Chosen struct{ Block, Link int }

// place is a block and a row of it.
type place struct{ block, row int }

// NewView shows a document from a line on, with the lines up to another marked;
// 0: from its beginning, with none.
func NewView(d *Document, from, to int) *View {
	v := &View{Document: d, From: from, To: max(from, to), Chosen: Chosen{-1, -1}, goal: from}
	return v
}

// Lines are the rows in sight, and what they are of the source: from its line first
// to its line last.
func (v *View) Lines(width, height int, theme *draw.Theme) (rows []string, first, last int) {
	v.width, v.height, v.theme = width, max(1, height), theme
	if v.goal > 0 {
		at := v.At(v.goal)
		lines := max(1, v.Line(at+1)-v.Line(at))
		row := len(v.rowsOf(at).Rows) * (v.goal - v.Line(at)) / lines
		v.first = v.above(place{at, max(0, row)}, v.height/3)
		v.goal = 0
	}
	return v.from(v.top())
}

// All are the rows of the whole document, for a page that is printed.
func (v *View) All(width int, theme *draw.Theme) (rows []string) {
	v.width, v.theme = width, theme
	v.height = math.MaxInt
	rows, _, _ = v.from(place{})
	return rows
}

// top is the first row in sight: where the text ends before the window does, more
// of it is shown above.
func (v *View) top() place {
	p := v.first
	for {
		rows, _, _ := v.from(p)
		if len(rows) >= v.height || p == (place{}) {
			return p
		}
		p = v.above(p, v.height-len(rows))
	}
}

// from is what is in sight below a place.
func (v *View) from(p place) (rows []string, first, last int) {
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
			v.rows = append(v.rows, place{at, row + i})
		}
	}
	return rows, first, max(first, last)
}

// rowsOf draws a block, with the chosen link where it is.
func (v *View) rowsOf(at int) Drawn {
	chosen := -1
	if v.Chosen.Block == at {
		chosen = v.Chosen.Link
	}
	return v.Draw(at, chosen, max(1, v.width-draw.Width(v.margin(at))), v.theme)
}

// margin stands before each row where lines are marked.
func (v *View) margin(at int) string {
	switch {
	case v.From == 0:
		return ""
	case v.Line(at) <= v.To && v.Line(at+1) > v.From:
		return v.theme.Brand.Render("┃") + " "
	}
	return "  "
}

// Scroll moves by so many rows.
func (v *View) Scroll(by int) {
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

// above is so many rows above a place.
func (v *View) above(p place, by int) place {
	for p.row -= by; p.row < 0; p.row += len(v.rowsOf(p.block).Rows) {
		if p.block == 0 {
			return place{}
		}
		p.block--
	}
	return p
}

// GoTo brings a line of the source into sight.
func (v *View) GoTo(line int) { v.goal = line }

// LinksInSight is the link that begins on each row in sight that has one.
func (v *View) LinksInSight() map[int]Chosen {
	links := map[int]Chosen{}
	for i, at := range v.rows {
		for n, link := range v.links(at.block) {
			if _, taken := links[i]; link.Row == at.row && !taken {
				links[i] = Chosen{at.block, n}
			}
		}
	}
	return links
}

// Page is how far a page goes.
func (v *View) Page() int { return max(1, v.height-1) }

// ToTop and ToEnd go to the beginning and the end.
func (v *View) ToTop() { v.first = place{} }

// ToEnd goes to the end.
func (v *View) ToEnd() {
	if last := v.Blocks() - 1; last >= 0 && v.theme != nil {
		v.first = place{last, max(0, len(v.rowsOf(last).Rows)-v.height)}
	}
}

// Next chooses the link behind the chosen one, or the first in sight; with -1 the
// one before. It reports whether there is one, and brings it into sight.
func (v *View) Next(by int) bool {
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
			v.Chosen = Chosen{at, link}
			v.show(place{at, links[link].Row})
			return true
		}
		if at, link = at+by, 0; by < 0 {
			link = lastLink
		}
	}
	return false
}

// lastLink is the last one of a block that was not drawn yet.
const lastLink = 1 << 30

// links are those of a block.
func (v *View) links(at int) []Link {
	if !v.blocks[at].mayLink() {
		return nil
	}
	return v.Draw(at, -1, max(1, v.width-draw.Width(v.margin(at))), v.theme).Links
}

// show brings a row into sight.
func (v *View) show(p place) {
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

// Link is the chosen link; ok is false if none is.
func (v *View) Link() (link Link, ok bool) {
	if v.Chosen.Link < 0 {
		return Link{}, false
	}
	return v.links(v.Chosen.Block)[v.Chosen.Link], true
}

// Place is the line of the source that an editor opens at: the marked one, else
// that on top.
func (v *View) Place() int {
	if v.From > 0 || v.theme == nil {
		return max(1, v.From)
	}
	_, first, _ := v.from(v.top())
	return first
}
