package tui

import (
	"slices"

	"lifehub/tui/draw"
)

// item is one thing in the transcript: a question, a plan, an answer.
type item interface {
	// render returns the item's lines, none wider than width.
	render(width int, look *draw.Theme) []string
	// copied is what the copy key puts on the clipboard; "" for nothing.
	copied() string
}

// foldable is an item that can hide its details.
type foldable interface {
	item
	folded() bool
	fold(bool)
}

// parted is an item with parts that can be chosen one by one.
type parted interface {
	item
	parts() int
	choose(part int) // -1: none
	line(part int) int
}

// transcript is everything that was said, of which only the lines in sight are
// ever rendered. Its place is an item and a line of it, not a line number: the
// cost of a frame does not depend on what stands above or below.
type transcript struct {
	look          *draw.Theme
	width, height int // of the place on screen, in cells
	entries       []entry
	earlier       string // the last turn that stands above all entries and is not held; "": there is none
	awaited       string // the earlier that was asked for last

	away bool // the user scrolled from the end
	top  spot // the first line in sight, when away
	home bool // the user wants to see the beginning

	chosen int // the item that has the keys; -1: none
	part   int // the part of it that is chosen

	shown []int // the item of every line in sight, for the mouse
}

// entry is an item and its lines as rendered for a width.
type entry struct {
	item
	lines []string // ends with a blank line
	width int      // what lines were made for; 0: they are out of date
}

// spot is a line of an item.
type spot struct{ entry, line int }

const gutter = 2 // cells left of every line, where the chosen item is marked

func (t *transcript) add(i item) {
	t.entries = append(t.entries, entry{item: i})
}

// ends reports whether an item is the last one.
func (t *transcript) ends(i item) bool {
	return len(t.entries) > 0 && t.entries[len(t.entries)-1].item == i
}

// putAbove adds items above all others. What is chosen stays, and what is in
// sight too, unless the user wants to see the beginning.
func (t *transcript) putAbove(items []item) {
	above := make([]entry, len(items))
	for at, i := range items {
		above[at].item = i
	}
	t.entries = append(above, t.entries...)
	if !t.home {
		t.top.entry += len(items)
	}
	if t.chosen >= 0 {
		t.chosen += len(items)
	}
}

// letGo drops the first n items, the last of them of a turn. It does nothing
// while something above the end is in sight or chosen.
func (t *transcript) letGo(n int, turn string) {
	if t.away || t.chosen >= 0 || turn == "" {
		return
	}
	t.entries = slices.Delete(t.entries, 0, n)
	t.earlier, t.awaited = turn, ""
}

// touch has an item rendered anew because something in it changed.
func (t *transcript) touch(i item) {
	for at := len(t.entries) - 1; at >= 0; at-- { // what changes is near the end
		if t.entries[at].item == i {
			t.entries[at].width = 0
			return
		}
	}
}

// restyle has everything rendered anew in another look.
func (t *transcript) restyle(look *draw.Theme) {
	t.look = look
	for at := range t.entries {
		t.entries[at].width = 0
	}
}

// cut takes an item and all below it away.
func (t *transcript) cut(i item) {
	at := slices.IndexFunc(t.entries, func(e entry) bool { return e.item == i })
	if at >= 0 {
		t.choose(-1, 0)
		t.entries = slices.Delete(t.entries, at, len(t.entries))
		t.away = false
	}
}

func (t *transcript) clear() {
	*t = transcript{look: t.look, width: t.width, height: t.height, chosen: -1}
}

// lines returns the lines of an entry, rendered if need be.
func (t *transcript) lines(at int) []string {
	e := &t.entries[at]
	width := max(1, min(t.width-gutter, draw.Readable))
	if e.width != width {
		e.lines = append(e.render(width, t.look), "") // the item's own array, if it has room
		e.width = width
	}
	return e.lines
}

// resize tells the place that there is on screen.
func (t *transcript) resize(width, height int) {
	t.width, t.height = width, height
}

// end is the spot whose line is the first in sight when the last line is the
// last in sight.
func (t *transcript) end() spot {
	need := t.height
	for at := len(t.entries) - 1; at >= 0; at-- {
		lines := len(t.lines(at))
		if at == len(t.entries)-1 {
			lines-- // the blank line after the last item need not be seen
		}
		if need <= lines {
			return spot{at, lines - need}
		}
		need -= lines
	}
	return spot{}
}

// start is the spot of the first line in sight. What shrank or a window that
// grew may have left the end above where the user was.
func (t *transcript) start() spot {
	end := t.end()
	if !t.away || !t.top.before(end) {
		return end
	}
	top := t.top
	top.line = min(top.line, len(t.lines(top.entry))-1)
	return top
}

// before tells whether a spot is above another.
func (s spot) before(other spot) bool {
	return s.entry < other.entry || s.entry == other.entry && s.line < other.line
}

// scroll moves by lines, up when negative. At the end the transcript follows
// what arrives again.
func (t *transcript) scroll(by int) {
	if len(t.entries) > 0 {
		t.lookAt(t.from(t.start(), by))
	}
}

// from is the spot some lines below another, or above when negative.
func (t *transcript) from(at spot, by int) spot {
	for ; by < 0; by++ {
		if at.line > 0 {
			at.line--
		} else if at.entry > 0 {
			at.entry--
			at.line = len(t.lines(at.entry)) - 1
		}
	}
	for ; by > 0; by-- {
		if at.line < len(t.lines(at.entry))-1 {
			at.line++
		} else if at.entry < len(t.entries)-1 {
			at.entry, at.line = at.entry+1, 0
		}
	}
	return at
}

// lookAt puts a spot on the first line in sight, or follows the end when the
// spot lies there.
func (t *transcript) lookAt(at spot) {
	t.away = at.before(t.end())
	t.top, t.home = at, false
}

func (t *transcript) toTop() {
	t.lookAt(spot{})
	t.home = true
}

func (t *transcript) toEnd() { t.away = false }

// below tells whether there are lines under those in sight.
func (t *transcript) below() bool { return t.away }

// page is how far a page key scrolls: one line stays in sight.
func (t *transcript) page() int { return max(1, t.height-1) }

// view returns exactly height lines.
func (t *transcript) view() []string {
	out := make([]string, 0, t.height)
	t.shown = t.shown[:0]
	if len(t.entries) > 0 && t.height > 0 {
		from := t.start()
		for at := from.entry; at < len(t.entries) && len(out) < t.height; at++ {
			mark := "  "
			if at == t.chosen {
				mark = t.look.Selected.Render("▌") + " "
			}
			lines := t.lines(at)
			for n := from.line; n < len(lines) && len(out) < t.height; n++ {
				if lines[n] == "" && at != t.chosen || n == len(lines)-1 {
					out = append(out, "")
				} else {
					out = append(out, mark+lines[n])
				}
				t.shown = append(t.shown, at)
			}
			from.line = 0
		}
	}
	for len(out) < t.height {
		out = append(out, "")
	}
	return out
}

// choose gives the keys to an item, or to none with -1.
func (t *transcript) choose(at, part int) {
	if p, ok := t.item(t.chosen).(parted); ok && t.chosen != at {
		p.choose(-1)
		t.touch(p)
	}
	t.chosen, t.part = at, part
	if p, ok := t.item(at).(parted); ok {
		t.part = max(0, min(part, p.parts()-1))
		p.choose(t.part)
		t.touch(p)
	}
}

// item returns the item at an index, nil when there is none.
func (t *transcript) item(at int) item {
	if at < 0 || at >= len(t.entries) {
		return nil
	}
	return t.entries[at].item
}

// focus gives the keys to the last item in sight.
func (t *transcript) focus() {
	if len(t.entries) == 0 {
		return
	}
	t.view()
	at := len(t.entries) - 1
	if len(t.shown) > 0 {
		at = t.shown[len(t.shown)-1]
	}
	t.choose(at, 0)
}

// next moves to the next part or item. What is taller than the screen is
// scrolled through first.
func (t *transcript) next() {
	if p, ok := t.item(t.chosen).(parted); ok && t.part < p.parts()-1 {
		t.choose(t.chosen, t.part+1)
		t.reveal()
		return
	}
	if t.hidden(t.chosen, len(t.lines(t.chosen))-2) && !t.hidden(t.chosen, 0) || t.inside(t.chosen) {
		t.scroll(1)
		return
	}
	if t.chosen < len(t.entries)-1 {
		t.choose(t.chosen+1, 0)
		t.reveal()
	}
}

// previous is the way back of next.
func (t *transcript) previous() {
	if _, ok := t.item(t.chosen).(parted); ok && t.part > 0 {
		t.choose(t.chosen, t.part-1)
		t.reveal()
		return
	}
	if t.hidden(t.chosen, 0) {
		t.scroll(-1)
		return
	}
	if t.chosen > 0 {
		last := 0
		if p, ok := t.item(t.chosen - 1).(parted); ok {
			last = p.parts() - 1
		}
		t.choose(t.chosen-1, last)
		t.revealEnd()
	}
}

// rowOf is the row in sight of an item's first line; -1: it is out of sight.
func (t *transcript) rowOf(at int) int {
	t.view()
	if from := t.start(); from.entry == at && from.line > 0 {
		return -1
	}
	return slices.Index(t.shown, at)
}

// hidden tells whether a line of an item is out of sight.
func (t *transcript) hidden(at, line int) bool {
	spotAt := t.start()
	n := -spotAt.line
	if at < spotAt.entry {
		return true
	}
	for e := spotAt.entry; e < at; e++ {
		n += len(t.lines(e))
		if n > t.height {
			return true
		}
	}
	n += max(0, line)
	return n < 0 || n >= t.height
}

// inside tells whether an item begins above and ends below what is in sight.
func (t *transcript) inside(at int) bool {
	from := t.start()
	return from.entry == at && len(t.lines(at))-1-from.line > t.height
}

// reveal scrolls so that the chosen part, or the item's beginning, is in sight.
func (t *transcript) reveal() {
	line := 0
	tall := len(t.lines(t.chosen)) - 1
	if p, ok := t.item(t.chosen).(parted); ok {
		line = p.line(t.part)
		tall = line + 1
	}
	switch {
	case t.hidden(t.chosen, line) && t.above(spot{t.chosen, line}):
		t.lookAt(spot{t.chosen, line})
	case t.hidden(t.chosen, min(tall, line+t.height)-1):
		t.lookAt(t.from(spot{t.chosen, line}, -max(0, t.height-(tall-line))))
	}
}

// revealEnd scrolls so that the last line of the chosen item, or its chosen
// part, is in sight.
func (t *transcript) revealEnd() {
	line := max(0, len(t.lines(t.chosen))-2)
	if p, ok := t.item(t.chosen).(parted); ok {
		line = p.line(t.part)
	}
	if !t.hidden(t.chosen, line) {
		return
	}
	t.lookAt(t.from(spot{t.chosen, line}, -(t.height - 1)))
}

// above tells whether a spot lies above what is in sight.
func (t *transcript) above(s spot) bool {
	return s.before(t.start())
}

// first and last choose the ends of the transcript.
func (t *transcript) first() { t.choose(0, 0); t.toTop() }

func (t *transcript) last() {
	at := len(t.entries) - 1
	part := 0
	if p, ok := t.item(at).(parted); ok {
		part = p.parts() - 1
	}
	t.choose(at, part)
	t.toEnd()
}

// foldAll folds or unfolds every item of which accept says yes.
func (t *transcript) foldAll(fold bool, accept func(item) bool) {
	for at := range t.entries {
		if f, ok := t.entries[at].item.(foldable); ok && accept(f) && f.folded() != fold {
			f.fold(fold)
			t.entries[at].width = 0
		}
	}
}
