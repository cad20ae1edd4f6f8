package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// line is a line of glyphs as it was painted. Positions are along and across the
// direction of the text, so that turned text is arranged as upright text is.
type line struct {
	turn   [2]float64 // unit vector of the text's direction
	y      float64    // of the baseline
	height float64    // of a glyph
	cells  []cell
}

// cell is a part of a line with a wide gap before and after it.
type cell struct {
	from, to float64
	text     []byte
}

func (l *line) last() *cell { return &l.cells[len(l.cells)-1] }

// maxMarker is the length of the longest mark of a list, such as "12.", in
// characters. The gap behind it divides nothing.
const maxMarker = 3

// dividesAfter reports whether a wide gap after the last cell begins another.
func (l *line) dividesAfter() bool {
	return len(l.cells) > 1 || utf8.RuneCountInString(strings.TrimSpace(string(l.cells[0].text))) > maxMarker
}

func (l *line) text() string {
	texts := make([]string, len(l.cells))
	for i, c := range l.cells {
		texts[i] = string(c.text)
	}
	return strings.Join(texts, " ")
}

// sameRow reports whether two lines have the same baseline.
func (l *line) sameRow(other *line) bool {
	return l.near(other) && math.Abs(l.y-other.y) < 0.3*min(l.height, other.height)
}

// near reports whether two lines have the same direction and similar heights.
func (l *line) near(other *line) bool {
	same := l.turn[0]*other.turn[0]+l.turn[1]*other.turn[1] > 0.999
	return same && l.height < 2*other.height && other.height < 2*l.height
}

// printed is a line of text, or a row of a table.
type printed struct {
	text string
	row  bool
}

// arranged returns the text of a page from its lines in painting order. Lines in
// succession whose gaps are above each other are a block: a table, of which each
// line becomes a row, or columns of text, which are read one after the other.
// Everything else keeps its order.
func arranged(lines []line) []printed {
	lines = joinedRows(lines)
	var text []printed
	for len(lines) > 0 {
		size, gaps := block(lines)
		switch {
		case size == 0:
			text, size = append(text, printed{text: lines[0].text()}), 1
		case areColumns(lines[:size], gaps):
			size += tail(lines[size-1:], gaps)
			for column := range len(gaps) + 1 {
				for i := range lines[:size] {
					text = append(text, printed{text: lines[i].inColumn(gaps, column)})
				}
			}
		default:
			for i := range lines[:size] {
				text = append(text, printed{lines[i].row(gaps), true})
			}
		}
		lines = lines[size:]
	}
	return text
}

// joinedRows puts the columns of a table that was painted by columns next to each
// other.
func joinedRows(lines []line) []line {
	joined := make([]line, 0, len(lines))
	for len(lines) > 0 {
		size, rows := nextColumn(joined, lines)
		for i, row := range rows {
			joined[row].extend(lines[i].cells)
		}
		if size == 0 {
			joined, size = append(joined, lines[0]), 1
		}
		lines = lines[size:]
	}
	return joined
}

// extend adds cells to the end of a line.
func (l *line) extend(cells []cell) {
	if !l.dividesAfter() {
		last := l.last()
		last.text, last.to = append(append(last.text, ' '), cells[0].text...), cells[0].to
		cells = cells[1:]
	}
	l.cells = append(l.cells, cells...)
}

// nextColumn returns how many of the lines are a column to the right of the last
// lines of before, and the line of before that each of them continues. It is 0
// unless all of them do.
func nextColumn(before, lines []line) (size int, rows []int) {
	first, edge := len(before), math.Inf(-1)
	for { // the row of the first line, above which nothing matters
		first--
		if first < 0 || !before[first].near(&lines[0]) || first+1 < len(before) && before[first].y < before[first+1].y || len(before)-first > maxRows {
			return 0, nil
		}
		if edge = max(edge, before[first].last().to); edge >= lines[0].cells[0].from {
			return 0, nil
		}
		if before[first].sameRow(&lines[0]) {
			break
		}
	}
	row := first
	for size < len(lines) {
		l := &lines[size]
		if !l.near(&lines[0]) || l.cells[0].from <= edge || size > 0 && l.y > lines[size-1].y {
			break
		}
		for row < len(before) && !before[row].sameRow(l) {
			row++
		}
		if row == len(before) {
			return 0, nil
		}
		rows, size = append(rows, row), size+1
	}
	return size, rows
}

// maxRows bounds the rows of a table that is painted by columns.
const maxRows = 200

// span is a range along the text.
type span struct{ from, to float64 }

// gaps returns the gaps between the cells of a line.
func (l *line) gaps() []span {
	gaps := make([]span, 0, len(l.cells))
	for i := range l.cells[1:] {
		gaps = append(gaps, span{l.cells[i].to, l.cells[i+1].from})
	}
	return gaps
}

// common returns the parts of gaps that are in both lists and wider than least.
func common(a, b []span, least float64) (both []span) {
	for len(a) > 0 && len(b) > 0 {
		if s := (span{max(a[0].from, b[0].from), min(a[0].to, b[0].to)}); s.to-s.from > least {
			both = append(both, s)
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// maxLeading is the greatest distance between the lines of a block, relative to
// the height of a glyph.
const maxLeading = 4

// block returns how many lines from the first on are a block, and the gaps that
// they have in common. At least two of them have several cells.
func block(lines []line) (size int, gaps []span) {
	gaps = lines[0].gaps()
	if len(gaps) == 0 {
		return 0, nil
	}
	for i := 1; i < len(lines) && lines[i].follows(&lines[i-1], maxLeading); i++ {
		if len(lines[i].cells) == 1 {
			if !lines[i].fits(gaps) {
				break
			}
			continue // part of the block only if another row follows
		}
		both := common(gaps, lines[i].gaps(), wordGap*lines[i].height)
		if len(both) == 0 {
			break
		}
		size, gaps = i+1, both
	}
	return size, gaps
}

// follows reports whether a line is below another at no more than a distance.
func (l *line) follows(above *line, leading float64) bool {
	drop := (above.y - l.y) / l.height
	return l.near(above) && drop > 0 && drop < leading
}

// fits reports whether no cell of a line is within or across a gap.
func (l *line) fits(gaps []span) bool {
	for _, c := range l.cells {
		for _, g := range gaps {
			if c.from < g.to && c.to > g.from {
				return false
			}
		}
	}
	return true
}

// inColumn returns the text of a line before, between or after gaps.
func (l *line) inColumn(gaps []span, column int) string {
	var texts []string
	for _, c := range l.cells {
		at := 0
		for _, g := range gaps {
			if c.from >= (g.from+g.to)/2 {
				at++
			}
		}
		if at == column {
			texts = append(texts, string(c.text))
		}
	}
	return strings.Join(texts, " ")
}

// row returns a line as a row of a Markdown table.
func (l *line) row(gaps []span) string {
	var row strings.Builder
	for column := range len(gaps) + 1 {
		row.WriteString("| " + cleaned(l.inColumn(gaps, column)) + " ")
	}
	return row.String() + "|"
}

// Columns of running text have at least that many lines, and most of these have at
// least that many characters.
const columnLines, columnText = 3, 20

// areColumns reports whether a block is columns of running text: their lines are
// long, and most of them fill their column.
func areColumns(lines []line, gaps []span) bool {
	for column := range len(gaps) + 1 {
		var lengths []int
		for i := range lines {
			if text := cleaned(lines[i].inColumn(gaps, column)); text != "" {
				lengths = append(lengths, utf8.RuneCountInString(text))
			}
		}
		slices.Sort(lengths)
		if n := len(lengths); n < columnLines || lengths[n/2] < columnText || lengths[n/2] < lengths[n-1]*3/4 {
			return false
		}
	}
	return true
}

// tail returns how many lines after the first one continue one of the columns.
func tail(lines []line, gaps []span) int {
	i := 1
	for i < len(lines) && lines[i].follows(&lines[i-1], maxLeading/2) && lines[i].fits(gaps) {
		i++
	}
	return i - 1
}
