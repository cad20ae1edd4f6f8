// Package transcript draws the conversation: its items, which of them are visible and
// which has the focus.
package transcript

import (
	"slices"
	"strings"

	"lifehub/tui/draw"
)

// Item is one thing in the transcript: a question, a plan, an answer.
type Item interface {
	// Render returns the item's lines, none wider than width.
	Render(width int, theme *draw.Theme) []string
	// Copied is what the copy key puts on the clipboard; "" for nothing.
	Copied() string
}

// Foldable is an item that can hide its details.
type Foldable interface {
	Item
	Folded() bool
	Fold(bool)
}

// multiPart is an item with parts that can be chosen one by one.
type multiPart interface {
	Item
	Parts() int
	choose(part int) // -1: none
	line(part int) int
	part(line, column int) int
}

// Model is the conversation. Only its visible lines are rendered. A scroll position is an
// item and a line of it, not a line number, so the cost of a frame does not depend on what
// is above or below.
type Model struct {
	Unfolded bool   // details of tools and thoughts are shown
	Host     string // of links to notes

	Theme         *draw.Theme
	width, Height int // of the place on screen, in cells
	column        draw.Column
	indent        string // the blanks left of the column
	Entries       []Entry
	Earlier       string // last turn before all entries, which is not in memory; "" if none
	Awaited       string // value of Earlier requested last

	Scrolled bool // the user scrolled from the end
	Top      Spot // the first visible line, when scrolled
	home     bool // the user wants to see the beginning

	Chosen int // the item that has the focus; -1: none
	Part   int // the part of it that is chosen

	Shown []int // the item of every visible line, for the mouse

	numbered *Answer // whose code is copied by /copy; nil: none
}

// Entry is an item and its lines as rendered for a width.
type Entry struct {
	Item
	lines []string // ends with a blank line
	Width int      // width for which lines were rendered; 0 if out of date
}

// Spot is a line of an item.
type Spot struct{ Entry, Line int }

// Add adds an item at the end. It is visible if the transcript follows the end.
func (t *Model) Add(i Item) {
	t.Entries = append(t.Entries, Entry{Item: i})
}

// ends reports whether an item is the last one.
func (t *Model) ends(i Item) bool {
	return len(t.Entries) > 0 && t.Entries[len(t.Entries)-1].Item == i
}

// Prepend adds items above all others. What is chosen stays, and what is
// visible too, unless the user wants to see the beginning.
func (t *Model) Prepend(items []Item) {
	above := make([]Entry, len(items))
	for at, i := range items {
		above[at].Item = i
	}
	t.Entries = append(above, t.Entries...)
	if !t.home {
		t.Top.Entry += len(items)
	}
	if t.Chosen >= 0 {
		t.Chosen += len(items)
	}
}

// dropFirst drops the first n items, the last of them of a turn. It does nothing
// while something above the end is visible or chosen.
func (t *Model) dropFirst(n int, turn string) {
	if t.Scrolled || t.Chosen >= 0 || turn == "" {
		return
	}
	t.Entries = slices.Delete(t.Entries, 0, n)
	t.Earlier, t.Awaited = turn, ""
}

// Invalidate marks an item for rendering, because it has changed.
func (t *Model) Invalidate(i Item) {
	if at := t.index(i); at >= 0 {
		t.Entries[at].Width = 0
	}
}

// index returns the index of an item; -1 if it is not in the transcript.
func (t *Model) index(i Item) int {
	at := len(t.Entries) - 1 // what changes is near the end
	for at >= 0 && t.Entries[at].Item != i {
		at--
	}
	return at
}

// Restyle marks all items for rendering with another theme.
func (t *Model) Restyle(theme *draw.Theme) {
	t.Theme = theme
	for at := range t.Entries {
		t.Entries[at].Width = 0
	}
}

// TruncateAt removes an item and all below it.
func (t *Model) TruncateAt(i Item) {
	if at := t.index(i); at >= 0 {
		t.Choose(-1, 0)
		t.Entries = slices.Delete(t.Entries, at, len(t.Entries))
		t.Scrolled = false
	}
}

// remove removes an item.
func (t *Model) remove(i Item) {
	at := t.index(i)
	if at < 0 {
		return
	}
	if t.Chosen == at {
		t.Choose(-1, 0)
	} else if t.Chosen > at {
		t.Chosen--
	}
	if t.Top.Entry > at {
		t.Top.Entry--
	} else if t.Top.Entry == at {
		t.Top.Line = 0
	}
	t.Entries = slices.Delete(t.Entries, at, at+1)
}

func (t *Model) Clear() {
	*t = Model{
		Unfolded: t.Unfolded, Host: t.Host, Theme: t.Theme, width: t.width, column: t.column, indent: t.indent,
		Height: t.Height, Chosen: -1,
	}
}

// Lines returns the lines of an entry, rendering it if necessary.
func (t *Model) Lines(at int) []string {
	e := &t.Entries[at]
	width := t.column.TextWidth()
	if _, answer := e.Item.(*Answer); answer && t.width >= draw.Narrow { // its code and tables may be wider
		width = t.width - draw.Gutter - t.column.Text
	}
	if e.Width != width {
		e.lines = append(e.Render(width, t.Theme), "") // the item's own array, if it has room
		e.Width = width
	}
	return e.lines
}

// Resize sets the size of the transcript on the screen.
func (t *Model) Resize(width, height int) {
	t.width, t.Height = width, height
	if column := draw.ColumnOf(width); column != t.column {
		t.column, t.indent = column, strings.Repeat(" ", column.Left)
	}
}

// end is the spot of the first visible line when the last line is the
// last visible one.
func (t *Model) end() Spot {
	need := t.Height
	for at := len(t.Entries) - 1; at >= 0; at-- {
		lines := len(t.Lines(at))
		if at == len(t.Entries)-1 {
			lines-- // the blank line after the last item need not be seen
		}
		if need <= lines {
			return Spot{Entry: at, Line: lines - need}
		}
		need -= lines
	}
	return Spot{}
}

// Start is the spot of the first visible line. After a change of the transcript or the
// window, the end may be above where the user had scrolled to.
func (t *Model) Start() Spot {
	end := t.end()
	if !t.Scrolled || !t.Top.before(end) {
		return end
	}
	top := t.Top
	top.Line = min(top.Line, len(t.Lines(top.Entry))-1)
	return top
}

// before reports whether a spot is above another.
func (s Spot) before(other Spot) bool {
	return s.Entry < other.Entry || s.Entry == other.Entry && s.Line < other.Line
}

// Scroll moves by lines, up when negative. At the end the transcript follows
// what arrives again.
func (t *Model) Scroll(by int) {
	if len(t.Entries) > 0 {
		t.lookAt(t.From(t.Start(), by))
	}
}

// From is the spot some lines below another, or above when negative.
func (t *Model) From(at Spot, by int) Spot {
	for ; by < 0; by++ {
		if at.Line > 0 {
			at.Line--
		} else if at.Entry > 0 {
			at.Entry--
			at.Line = len(t.Lines(at.Entry)) - 1
		}
	}
	for ; by > 0; by-- {
		if at.Line < len(t.Lines(at.Entry))-1 {
			at.Line++
		} else if at.Entry < len(t.Entries)-1 {
			at.Entry, at.Line = at.Entry+1, 0
		}
	}
	return at
}

// lookAt puts a spot on the first visible line, or follows the end when the
// spot is there.
func (t *Model) lookAt(at Spot) {
	t.Scrolled = at.before(t.end())
	t.Top, t.home = at, false
}

func (t *Model) ToTop() {
	t.lookAt(Spot{})
	t.home = true
}

func (t *Model) ToEnd() { t.Scrolled = false }

// ShowFrom puts the beginning of an item on the first visible line if all from there on does not fit.
func (t *Model) ShowFrom(i Item) {
	if at := t.index(i); at >= 0 {
		t.lookAt(Spot{Entry: at})
	}
}

// Show adds what the user has asked for and shows it, from its beginning if all of it does not fit.
func (t *Model) Show(i Item) {
	t.Add(i)
	t.ToEnd()
	t.ShowFrom(i)
}

// Below counts the lines under those visible, without the blank one at the end.
func (t *Model) Below() int {
	if !t.Scrolled || !t.Top.before(t.end()) {
		return 0
	}
	lines := -t.Top.Line - t.Height - 1
	for at := t.Top.Entry; at < len(t.Entries); at++ {
		lines += len(t.Lines(at))
	}
	return max(1, lines)
}

// page is how far a page key scrolls: one line stays visible.
func (t *Model) page() int { return max(1, t.Height-1) }

// View returns exactly height lines.
func (t *Model) View() []string {
	out := make([]string, 0, t.Height)
	t.Shown = t.Shown[:0]
	t.numberLast(t.LastAnswer())
	pinned := t.sourceLine()
	if len(t.Entries) > 0 && t.Height > 0 {
		from := t.Start()
		for at := from.Entry; at < len(t.Entries) && len(out) < t.Height; at++ {
			lines := t.Lines(at)
			for n := from.Line; n < len(lines) && len(out) < t.Height; n++ {
				out = append(out, t.placed(at, n))
				if at == t.Chosen && n == pinned {
					pinned = -1
				}
				t.Shown = append(t.Shown, at)
			}
			from.Line = 0
		}
	}
	for len(out) < t.Height {
		out = append(out, "")
	}
	if pinned >= 0 && len(t.Shown) > 1 {
		last := len(t.Shown) - 1
		out[last], t.Shown[last] = t.placed(t.Chosen, pinned), t.Chosen
	}
	return out
}

// numberLast shows the copy command in the code frames of one answer; nil for none.
func (t *Model) numberLast(a *Answer) {
	for _, each := range []*Answer{t.numbered, a} {
		if each != nil && each.last != (each == a) {
			each.last, each.stream = each == a, nil
			t.Invalidate(each)
		}
	}
	t.numbered = a
}

// sourceLine is the line of the chosen source in its item, which stays visible; -1 if
// none is chosen.
func (t *Model) sourceLine() int {
	if s, ok := t.Item(t.Chosen).(*Sources); ok && len(s.List) > 0 {
		t.Lines(t.Chosen)
		return s.line(t.Part)
	}
	return -1
}

// placed returns a line of an item as shown on the screen: indented, and with a bar if the
// item is chosen. A question is a block that always has a bar.
func (t *Model) placed(at, n int) string {
	line, last := t.Lines(at)[n], n == len(t.Lines(at))-1
	_, question := t.Entries[at].Item.(*Question)
	bar := "  "
	switch {
	case last || line == "" && !question && at != t.Chosen:
		return ""
	case question && at == t.Chosen:
		bar = t.Theme.Selected.Render("█") + " "
	case question:
		bar = t.Theme.You.Render("▌") + " "
	case at == t.Chosen:
		bar = t.Theme.Selected.Render("▌") + " "
	}
	if question {
		return t.indent + draw.Shaded(bar+line, t.column.Width(), t.Theme)
	}
	return t.indent + bar + line // in one piece: this is most of what a frame allocates
}

// Choose focuses an item, or none with -1.
func (t *Model) Choose(at, part int) {
	before := t.Chosen
	t.Chosen, t.Part = at, 0
	if p, ok := t.Item(before).(multiPart); ok && before != at {
		t.choosePart(before, p, -1)
	}
	if p, ok := t.Item(at).(multiPart); ok {
		t.Part = max(0, min(part, p.Parts()-1))
		t.choosePart(at, p, t.Part)
	}
}

// choosePart chooses a part of an item, and marks the sentences of the answer
// above it that a chosen source belongs to.
func (t *Model) choosePart(at int, p multiPart, part int) {
	p.choose(part)
	t.Invalidate(p)
	s, ok := p.(*Sources)
	for above := t.afterQuestion(at); ok && above < at; above++ {
		if a, ok := t.Item(above).(*Answer); ok && a.markSentences(s.sentences()) {
			t.Invalidate(a)
		}
	}
}

// sentence returns the spot of the first sentence that is marked for the chosen
// source.
func (t *Model) sentence() (s Spot, found bool) {
	for at := t.afterQuestion(t.Chosen); at < t.Chosen; at++ {
		if a, ok := t.Item(at).(*Answer); ok {
			if t.Lines(at); a.markedAt >= 0 {
				return Spot{at, a.markedAt}, true
			}
		}
	}
	return s, false
}

// Item returns the item at an index, nil if there is none.
func (t *Model) Item(at int) Item {
	if at < 0 || at >= len(t.Entries) {
		return nil
	}
	return t.Entries[at].Item
}

// Focus focuses the last visible item, of a list of passages its sources.
func (t *Model) Focus() {
	if len(t.Entries) == 0 {
		return
	}
	t.View()
	at := len(t.Entries) - 1
	if len(t.Shown) > 0 {
		at = t.Shown[len(t.Shown)-1]
	}
	if sources, ok := t.Item(min(at+1, len(t.Entries)-1)).(*Sources); ok && sources.written {
		at = min(at+1, len(t.Entries)-1)
	}
	t.Choose(at, 0)
}

// next moves to the next part or item. An item taller than the screen is
// scrolled through first.
func (t *Model) next() {
	if p, ok := t.Item(t.Chosen).(multiPart); ok && t.Part < p.Parts()-1 {
		t.Choose(t.Chosen, t.Part+1)
		t.Reveal()
		return
	}
	if t.hidden(t.Chosen, len(t.Lines(t.Chosen))-2) && !t.hidden(t.Chosen, 0) || t.inside(t.Chosen) {
		t.Scroll(1)
		return
	}
	if t.Chosen < len(t.Entries)-1 {
		t.Choose(t.Chosen+1, 0)
		t.Reveal()
	}
}

// previous moves to the part or item before.
func (t *Model) previous() {
	if _, ok := t.Item(t.Chosen).(multiPart); ok && t.Part > 0 {
		t.Choose(t.Chosen, t.Part-1)
		t.Reveal()
		return
	}
	if t.hidden(t.Chosen, 0) {
		t.Scroll(-1)
		return
	}
	if t.Chosen > 0 {
		last := 0
		if p, ok := t.Item(t.Chosen - 1).(multiPart); ok {
			last = p.Parts() - 1
		}
		t.Choose(t.Chosen-1, last)
		t.revealEnd()
	}
}

// rowOf is the visible row of an item's first line; -1: it is not visible.
func (t *Model) rowOf(at int) int {
	t.View()
	if from := t.Start(); from.Entry == at && from.Line > 0 {
		return -1
	}
	return slices.Index(t.Shown, at)
}

// hidden reports whether a line of an item is not visible.
func (t *Model) hidden(at, line int) bool {
	spotAt := t.Start()
	n := -spotAt.Line
	if at < spotAt.Entry {
		return true
	}
	for e := spotAt.Entry; e < at; e++ {
		n += len(t.Lines(e))
		if n > t.Height {
			return true
		}
	}
	n += max(0, line)
	return n < 0 || n >= t.Height
}

// inside reports whether an item begins above and ends below the visible part.
func (t *Model) inside(at int) bool {
	from := t.Start()
	return from.Entry == at && len(t.Lines(at))-1-from.Line > t.Height
}

// Reveal scrolls so that the chosen part, or the item's beginning, is visible.
func (t *Model) Reveal() {
	line := 0
	tall := len(t.Lines(t.Chosen)) - 1
	if p, ok := t.Item(t.Chosen).(multiPart); ok {
		line = p.line(t.Part)
		tall = line + 1
	}
	switch {
	case t.hidden(t.Chosen, line) && t.above(Spot{Entry: t.Chosen, Line: line}):
		t.lookAt(Spot{Entry: t.Chosen, Line: line})
	case t.hidden(t.Chosen, min(tall, line+t.Height)-1):
		t.lookAt(t.From(Spot{Entry: t.Chosen, Line: line}, -max(0, t.Height-(tall-line))))
	}
	t.revealSentence()
}

// revealSentence scrolls up to what the chosen source belongs to; View then shows
// the source in the last line.
func (t *Model) revealSentence() {
	if _, ok := t.Item(t.Chosen).(*Sources); !ok {
		return
	}
	if s, found := t.sentence(); found && t.above(s) {
		t.lookAt(t.From(s, -1))
	}
}

// revealEnd scrolls so that the last line of the chosen item, or its chosen
// part, is visible.
func (t *Model) revealEnd() {
	line := max(0, len(t.Lines(t.Chosen))-2)
	if p, ok := t.Item(t.Chosen).(multiPart); ok {
		line = p.line(t.Part)
	}
	if !t.hidden(t.Chosen, line) {
		t.revealSentence()
		return
	}
	t.lookAt(t.From(Spot{Entry: t.Chosen, Line: line}, -(t.Height - 1)))
	t.revealSentence()
}

// above reports whether a spot is above the visible part.
func (t *Model) above(s Spot) bool {
	return s.before(t.Start())
}

// chooseLast focuses the last part of the last item.
func (t *Model) chooseLast() {
	at := len(t.Entries) - 1
	part := 0
	if p, ok := t.Item(at).(multiPart); ok {
		part = p.Parts() - 1
	}
	t.Choose(at, part)
	t.ToEnd()
}

// steeringOf returns how many messages are shown that were sent while a question
// was answered.
func (t *Model) steeringOf(asked *Question) (n int) {
	for _, e := range t.Entries[t.index(asked)+1:] {
		switch e.Item.(type) {
		case *Question:
			return n
		case *Steering:
			n++
		}
	}
	return n
}

// forgetEnding removes the remarks on how an interrupted turn ended, now that it is
// resumed, and items that held nothing else.
func (t *Model) forgetEnding(asked *Question) {
	from := t.index(asked)
	for at := len(t.Entries) - 1; from >= 0 && at > from; at-- {
		empty := false
		switch i := t.Entries[at].Item.(type) {
		case *Answer:
			empty, i.ending = i.ending != "" && len(i.source) == 0, ""
		case *Sources:
			empty, i.did = len(i.List) == 0, nil
		default:
			continue
		}
		if t.Entries[at].Width = 0; empty {
			t.Choose(-1, 0)
			t.Entries = slices.Delete(t.Entries, at, at+1)
		}
	}
}
