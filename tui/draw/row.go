package draw

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"lifehub/tui/safetext"
)

// Row is a row of a list.
type Row struct {
	Label, Detail string
	Typed         string // the list is filtered by this text, which is highlighted
	Found         Found  // shown next to the detail
	Right         string // styled, right of the label column in place of all that; "" if none
}

// Found is a text in which the words from byte From to byte To were found.
type Found struct {
	Text     string
	From, To int
}

// View draws the text with its words marked, which are visible whatever the width.
func (f Found) View(width int, style, marked lipgloss.Style) string {
	before, words, after := safetext.Line(f.Text[:f.From]), safetext.Line(f.Text[f.From:f.To]),
		safetext.Line(f.Text[f.To:])
	if most := max(0, width/2-Width(words)); Width(before) > most && Width(before+words+after) > width {
		before = "…" + Method().TruncateLeft(before, Width(before)-most+1, "")
	}
	return Truncate(style.Render(before)+marked.Render(words)+style.Render(after), width)
}

// Columns returns the width of the label column for lines of a width: that of the
// longest label if the details leave enough space, but at least half of the line.
func Columns(rows []Row, width int) int {
	labels, details, excerpts := 0, 0, false
	for _, r := range rows {
		if r.Detail != "" {
			details = max(details, Width(safetext.Line(r.Detail))+2)
		}
		excerpts = excerpts || r.Found.Text != ""
	}
	for _, r := range rows {
		if labels < width {
			labels = max(labels, Width(Summary(r.Label, width)))
		}
	}
	if excerpts { // of which there is always more
		return max(1, min(labels, mostNextTo, width/3))
	}
	return max(1, min(labels, max(width/2, width-barSides-details)))
}

// mostNextTo is the maximum width of a label next to which there is a text.
const mostNextTo = 24

// leastBeside is the least width of a row that has a detail next to a text in which words were found.
const leastBeside = 50

// barSides is the number of cells that the selection bar takes at both ends.
const barSides = 4

// Bar draws the selection bar on a line: a mark at both ends and the shade of the
// theme between them.
func Bar(line string, width int, theme *Theme) string {
	line = Truncate(line, max(0, width-barSides))
	line += strings.Repeat(" ", max(0, width-barSides-Width(line)))
	return Truncate(Shaded(theme.Selected.Render("▌")+" "+line+" "+theme.Selected.Render("▐"), width, theme), width)
}

// View draws the row with a label column of the given width. The chosen row has the
// selection bar, and its complete label if that fits.
func (r Row) View(chosen bool, column, width int, theme *Theme) string {
	style, marked := theme.Text, theme.Brand
	if chosen {
		style, marked = theme.Selected, theme.Selected.Underline(true)
	}
	if chosen && r.Right == "" {
		column = max(column, min(width-barSides, Width(Summary(r.Label, width))))
	}
	label, gap := Summary(r.Label, column), ""
	if r.Detail+r.Right != "" {
		gap = strings.Repeat(" ", max(0, column-Width(label))+2)
	}
	detail := safetext.Line(r.Detail)
	if r.Found.Text != "" && width < leastBeside {
		detail = ""
	}
	line := r.marked(label, style, marked) + gap + theme.Dim.Render(detail) + r.Right
	if room := width - barSides - Width(line); r.Found.Text != "" && room > 0 {
		line += r.Found.View(room, theme.Text, theme.Brand)
	}
	if chosen {
		return Bar(line, width, theme)
	}
	return Truncate("  "+line, width)
}

// marked returns a label with the typed characters highlighted, unless some of them
// share a cell with others.
func (r Row) marked(label string, style, marked lipgloss.Style) string {
	if Blank(r.Typed) || Width(label) != utf8.RuneCountInString(label) {
		return style.Render(label)
	}
	var shown strings.Builder
	from := 0
	at := Matched(label, r.Typed)
	for i := 0; i < len(at); {
		n := 1
		for i+n < len(at) && at[i+n] == at[i]+n {
			n++
		}
		shown.WriteString(style.Render(label[from:at[i]]) + marked.Render(label[at[i]:at[i]+n]))
		from = at[i] + n
		i += n
	}
	return shown.String() + style.Render(label[from:])
}
