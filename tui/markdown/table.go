package markdown

import (
	"sort"
	"strings"

	"lifehub/tui/measure"
)

const (
	// sample is how many rows set the widths of a table's columns. Later rows
	// are drawn as they come, and wrapped if they are wider.
	sample = 8
	// maxRow is the longest row in bytes, maxColumns their number.
	maxRow     = 4096
	maxColumns = 40
	// leastColumn is the width under which columns are not drawn side by side,
	// unless they hold no more.
	leastColumn = 6
	// longestUsual is the width of a word for which a column is made wide enough;
	// what is longer is an address or the like, and broken.
	longestUsual = 20
)

// table is a table under way.
type table struct {
	margin  margin
	head    []string
	aligns  []alignment
	rows    []string // not yet drawn: the sample
	widths  []int    // nil until the sample is whole
	narrow  bool     // no blanks stand next to the borders
	stacked bool     // too many columns: each row is a list
	drawn   int      // rows drawn
	base    Style
}

// tableBegins makes a table of the one line under way if body is the line of
// dashes under its head.
func (s *Stream) tableBegins(matched int, body string) bool {
	p := s.paragraph
	if p == nil || p.long || p.several || matched < len(s.containers) {
		return false
	}
	aligns := alignments(body)
	head := cells(string(p.raw))
	if aligns == nil || len(aligns) != len(head) || len(head) > maxColumns || !strings.Contains(string(p.raw)+body, "|") {
		return false
	}
	s.paragraph = nil
	s.back(p.before)
	s.separate(apart)
	s.table = &table{margin: p.margin, head: head, aligns: aligns, base: s.base()}
	return true
}

// alignments reads "| :-- | --: |", nil if the line is something else.
func alignments(line string) []alignment {
	if !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, ":") && !strings.HasPrefix(line, "--") || strings.Trim(line, "-:| ") != "" {
		return nil
	}
	var all []alignment
	for _, cell := range cells(line) {
		if strings.Trim(cell, "-") != strings.Trim(cell, "-:") && strings.Trim(strings.Trim(cell, ":"), "-") != "" || !strings.Contains(cell, "-") || strings.Contains(strings.Trim(cell, ":"), ":") || strings.Contains(cell, " ") {
			return nil
		}
		a := alignLeft
		switch left, right := cell[0] == ':', cell[len(cell)-1] == ':'; {
		case left && right:
			a = alignCenter
		case right:
			a = alignRight
		}
		all = append(all, a)
	}
	return all
}

// isRow reports whether a line under a table is one of its rows.
func isRow(line string) bool {
	return len(line) <= maxRow && strings.Contains(line[:min(len(line), maxMarkup)], "|")
}

// cells splits a row.
func cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	var all []string
	from := 0
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '|':
			all = append(all, cell(row[from:i]))
			from = i + 1
		}
	}
	if strings.TrimSpace(row[from:]) != "" || len(all) == 0 {
		all = append(all, cell(row[from:]))
	}
	return all
}

// cells splits a row of the table. What it has more than columns stands in the
// last one.
func (t *table) cells(row string) []string {
	all := cells(row)
	if n := len(t.head); len(all) > n {
		all = append(all[:n-1], strings.Join(all[n-1:], " | "))
	}
	return all
}

func cell(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), `\|`, "|") }

// tableRow takes a row.
func (s *Stream) tableRow(row string) {
	t := s.table
	t.rows = append(t.rows, row)
	if t.widths == nil && len(t.rows) < sample {
		return
	}
	s.drawTable()
}

func (s *Stream) closeTable() {
	s.drawTable()
	s.table = nil
}

// previewTable draws the head of a table whose second line has not come yet.
func (s *Stream) previewTable(p *paragraph) {
	head := cells(string(p.raw))
	if len(head) > maxColumns {
		return
	}
	s.table = &table{margin: p.margin, head: head, aligns: make([]alignment, len(head)), base: s.base()}
	s.closeTable()
}

// drawTable draws the rows that wait, and before the first ones the head.
func (s *Stream) drawTable() {
	t := s.table
	if t.widths == nil {
		s.fit(t)
		if !t.stacked {
			s.drawRow(t, t.head, s.theme.TableHead.over(t.base))
			s.drawRule(t)
		}
	}
	for _, row := range t.rows {
		if t.stacked {
			s.drawStacked(t, t.cells(row))
		} else {
			s.drawRow(t, t.cells(row), t.base)
		}
		t.drawn++
	}
	t.rows = nil
}

// fit sets the widths of the columns: each is at least as wide as its longest
// usual word. Where there is no room for that the borders are drawn narrower,
// and then the columns not side by side.
func (s *Stream) fit(t *table) {
	borders := len(t.head) - 1
	t.widths = s.columns(t, s.cellWidth)
	free := t.margin.width - 3*borders
	total := 0
	for i, w := range t.widths {
		t.widths[i] = max(w, 3)
		total += t.widths[i]
	}
	if total <= free {
		return
	}
	words, least := s.columns(t, s.longestWord), 0
	for i, w := range words {
		words[i] = max(min(w, longestUsual), min(t.widths[i], leastColumn))
		least += words[i]
	}
	if t.narrow = least > free; t.narrow {
		free += 2 * borders
	}
	if t.stacked = least > free; !t.stacked {
		t.widths = shared(free, words, t.widths)
	}
}

// columns measures the head and the rows that wait, and returns the largest of
// each column.
func (s *Stream) columns(t *table, size func(text string, style Style) int) []int {
	largest := make([]int, len(t.head))
	take := func(row []string, style Style) {
		for i := range min(len(largest), len(row)) {
			largest[i] = max(largest[i], size(row[i], style))
		}
	}
	take(t.head, s.theme.TableHead)
	for _, row := range t.rows {
		take(t.cells(row), t.base)
	}
	return largest
}

// shared divides what is free among columns of at least and at most some
// widths: up to one width they get what they want, and the others that width.
// The least ones fit, the most do not.
func shared(free int, least, most []int) []int {
	widths := make([]int, len(least))
	share := func(each int) (left int) {
		left = free
		for i := range widths {
			widths[i] = max(least[i], min(most[i], each))
			left -= widths[i]
		}
		return left
	}
	each := sort.Search(free, func(each int) bool { return share(each+1) < 0 })
	left := share(each)
	for i := range widths { // the rest is less than a cell each
		if left > 0 && widths[i] == each && widths[i] < most[i] {
			widths[i]++
			left--
		}
	}
	return widths
}

func (s *Stream) spans(text string, style Style, yield func(span)) {
	in := s.inline(style)
	in.text = text
	end := s.end
	if end == open {
		end = closed
	}
	in.advance(end, yield)
}

func (s *Stream) cellWidth(text string, style Style) int {
	width, widest := 0, 0
	s.spans(text, style, func(p span) {
		width += measure.Cells(p.text)
		widest = max(widest, width)
		if p.end {
			width = 0
		}
	})
	return widest
}

// longestWord is the width of the longest part of a cell that should stay in
// one line.
func (s *Stream) longestWord(text string, style Style) int {
	var lines []string
	wrap := wrapper{width: 1 << 30, out: &lines}
	s.spans(text, style, wrap.add)
	wrap.flush()
	return wrap.longest
}

func (s *Stream) drawRow(t *table, row []string, style Style) {
	columns := make([][]string, len(t.head))
	height := 1
	for i := range columns {
		if i >= len(row) {
			continue
		}
		wrap := wrapper{width: t.widths[i], out: &columns[i], align: t.aligns[i], padded: true}
		s.spans(row[i], style, wrap.add)
		wrap.flush()
		height = max(height, len(columns[i]))
	}
	border := s.theme.Border.paint("│")
	if !t.narrow {
		border = " " + border + " "
	}
	for y := range height {
		var line strings.Builder
		line.WriteString(s.tableMargin(t))
		for i, c := range columns {
			if i > 0 {
				line.WriteString(border)
			}
			if y < len(c) {
				line.WriteString(c[y])
			} else {
				line.WriteString(spaces(t.widths[i]))
			}
		}
		s.lines = append(s.lines, strings.TrimRight(line.String(), " "))
	}
}

// tableMargin returns what stands before the table's next line.
func (s *Stream) tableMargin(t *table) string {
	m := t.margin.first
	t.margin.first = t.margin.rest
	return m
}

func (s *Stream) drawRule(t *table) {
	parts := make([]string, len(t.widths))
	for i, w := range t.widths {
		parts[i] = strings.Repeat("─", w)
	}
	crossing := "─┼─"
	if t.narrow {
		crossing = "┼"
	}
	s.lines = append(s.lines, s.tableMargin(t)+s.theme.Border.paint(strings.Join(parts, crossing)))
}

// drawStacked draws a row as lines "Head: cell".
func (s *Stream) drawStacked(t *table, row []string) {
	if t.drawn > 0 {
		s.lines = append(s.lines, s.tableMargin(t)+s.theme.Border.paint(strings.Repeat("─", min(3, t.margin.width))))
	}
	for i := range min(len(row), len(t.head)) {
		wrap := s.wrapper(margin{s.tableMargin(t), t.margin.rest, t.margin.width})
		s.spans(t.head[i]+":", s.theme.TableHead.over(t.base), wrap.add)
		wrap.add(span{look: look{style: t.base}, text: " "})
		s.spans(row[i], t.base, wrap.add)
		wrap.flush()
	}
}
