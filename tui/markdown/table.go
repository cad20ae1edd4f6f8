package markdown

import (
	"sort"
	"strings"

	"lifehub/tui/layout"
)

const (
	// sample is the number of rows that determine the widths of a table's
	// columns. Later rows are drawn when they arrive, and wrapped if necessary.
	sample = 8
	// maxRow bounds a row in bytes, and maxColumns the number of columns.
	maxRow     = 4096
	maxColumns = 40
	// leastColumn is the minimum width of a column with longer cells, if columns
	// are side by side.
	leastColumn = 6
	// longestUsual is the width up to which a column is widened for a word.
	// Longer words, such as addresses, are broken.
	longestUsual = 20
)

// table is an open table.
type table struct {
	margin  margin
	head    []string
	aligns  []layout.Alignment
	rows    []string // rows that are not drawn yet
	widths  []int    // nil until the sample is complete
	blank   string   // next to borders; "" if there is no space for it
	stacked bool     // too narrow for columns: each row is a list of "Head: cell"
	drawn   int      // number of rows drawn
	base    layout.Style
}

// tableBegins turns the open paragraph of one line into the head of a table if
// body is the line of dashes under it.
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
	s.table = &table{margin: s.wide(p.margin), head: head, aligns: aligns, base: s.base()}
	return true
}

// alignments parses "| :-- | --: |"; it returns nil if line is something else.
func alignments(line string) (all []layout.Alignment) {
	if !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, ":") && !strings.HasPrefix(line, "--") {
		return nil
	}
	for _, cell := range cells(line) {
		right := strings.TrimPrefix(cell, ":")
		dashes := strings.TrimSuffix(right, ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return nil
		}
		a := layout.AlignLeft
		switch {
		case dashes != right && right != cell:
			a = layout.AlignCenter
		case dashes != right:
			a = layout.AlignRight
		}
		all = append(all, a)
	}
	return all
}

// isRow reports whether a line after a table is one of its rows.
func isRow(line string) bool {
	return len(line) <= maxRow && strings.Contains(line[:min(len(line), maxMarkup)], "|")
}

// cells splits a row into trimmed cells.
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

// cells splits a row of the table. The last column gets all surplus cells.
func (t *table) cells(row string) []string {
	all := cells(row)
	if n := len(t.head); len(all) > n {
		all = append(all[:n-1], strings.Join(all[n-1:], " | "))
	}
	return all
}

func cell(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), `\|`, "|") }

// tableRow adds a row.
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

// previewTable draws the head of a possible table whose second line has not
// arrived.
func (s *Stream) previewTable(p *paragraph) {
	head := cells(string(p.raw))
	if len(head) > maxColumns {
		return
	}
	s.table = &table{margin: s.wide(p.margin), head: head, aligns: make([]layout.Alignment, len(head)), base: s.base()}
	s.closeTable()
}

// drawTable draws the rows not drawn yet, and first the head.
func (s *Stream) drawTable() {
	t := s.table
	if t.widths == nil {
		s.fit(t)
		if !t.stacked {
			s.drawRow(t, t.head, s.theme.TableHead.Over(t.base))
			s.drawRule(t, t.widths)
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

// fit sets the column widths. Each column is at least as wide as its longest
// usual word. If that does not fit, the blanks next to borders are omitted; if
// that is not enough, the table is stacked.
func (s *Stream) fit(t *table) {
	n := len(t.head)
	t.widths, t.blank = make([]int, n), " "
	words := make([]int, n)
	grow := func(row []string) {
		for i := range min(n, len(row)) {
			line, word := s.cellSize(row[i])
			t.widths[i], words[i] = max(t.widths[i], line, 3), max(words[i], word)
		}
	}
	grow(t.head)
	for _, row := range t.rows {
		grow(t.cells(row))
	}
	free, total, least := t.margin.width-3*(n-1), 0, 0
	for i, w := range t.widths {
		words[i] = max(min(words[i], longestUsual), min(w, leastColumn))
		total, least = total+w, least+words[i]
	}
	if total <= free {
		return
	}
	if least > free {
		t.blank = ""
		free += 2 * (n - 1)
	}
	if t.stacked = least > free; !t.stacked {
		t.widths = shared(free, words, t.widths)
	}
}

// shared distributes free columns so that each width is between its least and
// most. Up to a common width, columns get their most; the others get that width.
// The sum of least must fit into free, and the sum of most must not.
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
	for i := range widths { // distribute the remainder
		if left > 0 && widths[i] == each && widths[i] < most[i] {
			widths[i]++
			left--
		}
	}
	return widths
}

func (s *Stream) spans(text string, style layout.Style, yield func(layout.Span)) {
	in := newInline(&s.theme, &s.links, style)
	in.Add(text)
	in.Advance(s.ending(), yield)
}

// cellSize returns the widths of the longest line of a cell and of its longest
// word.
func (s *Stream) cellSize(text string) (line, word int) {
	var lines []string
	wrap := layout.Wrapper{Width: 1 << 30, Out: &lines}
	s.spans(text, layout.Style{}, wrap.Add)
	wrap.Flush()
	for _, l := range lines {
		line = max(line, layout.Cells(l))
	}
	return line, wrap.Longest
}

func (s *Stream) drawRow(t *table, row []string, style layout.Style) {
	columns := make([][]string, len(t.head))
	height := 1
	for i := range min(len(columns), len(row)) {
		wrap := layout.Wrapper{Width: t.widths[i], Out: &columns[i], Align: t.aligns[i], Padded: true}
		s.spans(row[i], style, wrap.Add)
		wrap.Flush()
		height = max(height, len(columns[i]))
	}
	border := t.blank + s.theme.Border.Paint("│") + t.blank
	for y := range height {
		line := ""
		for i, c := range columns {
			if i > 0 {
				line += border
			}
			if y < len(c) {
				line += c[y]
			} else {
				line += layout.Spaces(t.widths[i])
			}
		}
		s.lines = append(s.lines, strings.TrimRight(t.before()+line, " "))
	}
}

// before returns the text before the next line of the table.
func (t *table) before() string {
	first := t.margin.first
	t.margin.first = t.margin.rest
	return first
}

func (s *Stream) drawRule(t *table, widths []int) {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	dash := strings.Repeat("─", len(t.blank))
	s.lines = append(s.lines, t.before()+s.theme.Border.Paint(strings.Join(parts, dash+"┼"+dash)))
}

// drawStacked draws a row as a list of "Head: cell".
func (s *Stream) drawStacked(t *table, row []string) {
	if t.drawn > 0 {
		s.drawRule(t, []int{min(3, t.margin.width)})
	}
	for i := range min(len(row), len(t.head)) {
		wrap := s.wrapper(margin{t.before(), t.margin.rest, t.margin.width})
		s.spans(t.head[i]+":", s.theme.TableHead.Over(t.base), wrap.Add)
		wrap.Add(t.base.Span(" "))
		s.spans(row[i], t.base, wrap.Add)
		wrap.Flush()
	}
}
