// Package renderer draws frames on a terminal. It writes only cells that have changed, and moves
// rows with scroll sequences. Start with [Renderer.Draw]. Modes, input and timing are in
// tui/terminal.
package renderer

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// unknown is a row with unknown content.
const unknown = "\x00"

// Renderer knows what a terminal shows, row by row. The zero value is a terminal of size zero that
// shows its normal screen.
type Renderer struct {
	Profile      colorprofile.Profile // colours that the terminal supports
	Synchronized bool                 // the terminal supports synchronized output (mode 2026)
	NoScroll     bool                 // rewrite rows that moved instead of scrolling

	width, height int
	own           bool       // the alternate screen is shown
	surfaces      [2]surface // the normal screen and the alternate one
	method        ansi.Method

	picture string
	cursor  *tea.Cursor
	hidden  bool
	saved   uv.Position // the position saved in the terminal (DECSC)

	pen   pen
	buf   []byte
	next  []string
	lines [2]line // the current row and the new one
}

// surface is a screen as the terminal shows it.
type surface struct {
	rows []string
	x, y int // cursor position relative to the first row; x is the width of the screen if unknown
}

// nowhere is a row that the cursor is neither in nor next to.
const nowhere = -2

// pen is the current text style of the terminal.
type pen struct {
	asked, style uv.Style // as in the frame, and as converted for the terminal
	link         uv.Link
}

// line is a row of cells.
type line struct {
	uv.Line
	method ansi.Method
}

func (l *line) Bounds() uv.Rectangle         { return uv.Rect(0, 0, len(l.Line), 1) }
func (l *line) CellAt(x, _ int) *uv.Cell     { return l.At(x) }
func (l *line) SetCell(x, _ int, c *uv.Cell) { l.Set(x, c) }
func (l *line) WidthMethod() uv.WidthMethod  { return l.method }

// read converts a row to cells, cut after the last column.
func (l *line) read(row string, width int, method ansi.Method) {
	l.method = method
	if len(l.Line) != width {
		l.Line = uv.NewLine(width)
	}
	uv.NewStyledString(row).Draw(l, l.Bounds())
}

// Width returns the width of the terminal in cells, or 0 if it is unknown.
func (r *Renderer) Width() int { return r.width }

// Resize sets the size of the terminal. Its content is then unknown, so the next frame is drawn
// completely.
func (r *Renderer) Resize(width, height int) {
	r.width, r.height = width, height
	r.Forget()
}

// Forget makes the next frame be drawn completely.
func (r *Renderer) Forget() {
	r.picture, r.saved = unknown, uv.Pos(-1, -1)
	for s := range r.surfaces {
		rows := r.surfaces[s].rows
		for i := range rows {
			rows[i] = unknown
		}
	}
	r.surfaces[0].x = r.width
	r.surfaces[1].x, r.surfaces[1].y = r.width, nowhere
}

// Begin resets the renderer when the program takes over the terminal. The cursor is then visible on
// the normal screen, in a row that may be overwritten.
func (r *Renderer) Begin() {
	r.surfaces, r.own, r.hidden, r.cursor, r.pen = [2]surface{}, false, false, nil, pen{}
	r.Forget()
}

// Show records a change to the alternate screen or back. The caller must then switch the terminal.
func (r *Renderer) Show(alternate bool) {
	if r.own == alternate {
		return
	}
	r.own, r.picture, r.saved = alternate, unknown, uv.Pos(-1, -1)
	if alternate {
		r.surfaces[1] = surface{x: r.width, y: nowhere} // the terminal clears the screen and leaves the cursor where it was
	}
}

// atOnce is a number of bytes that every terminal shows at once, as they fit into a write to a
// pseudo terminal and into an SSH packet. Longer output may be shown in part, with the cursor in
// it.
const atOnce = 512

// Draw returns the bytes that make the terminal show a frame and put the cursor at its position; a
// nil cursor is hidden. Widths are measured by method. The bytes are valid until the next call.
func (r *Renderer) Draw(picture string, cursor *tea.Cursor, method ansi.Method) []byte {
	r.buf = r.buf[:0]
	if method != r.method {
		r.method = method
		r.Forget()
	}
	if picture != r.picture {
		back := r.surface() // put the cursor back afterwards
		before := *back
		unmoved := r.own && cursor != nil && before.x == cursor.X && before.y == cursor.Y
		at := uv.Pos(before.x, before.y)
		if unmoved && r.saved != at {
			r.buf = append(r.buf, ansi.SaveCursor...)
			r.saved = at
		}
		saved := len(r.buf)
		r.draw(picture)
		r.picture = picture
		switch {
		case len(r.buf) == saved:
		case unmoved: // restoring the cursor also restores its style
			r.link(uv.Link{})
			r.buf = append(r.buf, ansi.RestoreCursor...)
			r.pen, back.x, back.y = pen{}, before.x, before.y
		default:
			r.to(&uv.EmptyCell)
		}
	}
	if s := r.surface(); cursor != nil && (s.x != cursor.X || s.y != cursor.Y) {
		r.move(cursor.X, min(cursor.Y, max(0, len(s.rows)-1)))
	}
	r.shape(cursor)
	begin, end := "", ""
	switch long := len(r.buf) > atOnce; {
	case long && r.Synchronized:
		begin, end = ansi.SetModeSynchronizedOutput, ansi.ResetModeSynchronizedOutput
	case long && !r.hidden && cursor != nil:
		begin, end = ansi.ResetModeTextCursorEnable, ansi.SetModeTextCursorEnable
	}
	if hidden := cursor == nil; hidden != r.hidden {
		if r.hidden = hidden; hidden {
			begin += ansi.ResetModeTextCursorEnable
		} else {
			end = ansi.SetModeTextCursorEnable + end
		}
	}
	if begin != "" {
		r.buf = slices.Insert(r.buf, 0, []byte(begin)...)
	}
	r.buf = append(r.buf, end...)
	return r.buf
}

// End returns the bytes that release the terminal: the cursor is visible, below the frame unless it
// is on the alternate screen, and styles are reset.
func (r *Renderer) End() []byte {
	r.buf = append(r.buf[:0], ansi.ResetStyle...)
	r.shape(nil)
	if rows := len(r.surface().rows); rows > 0 && !r.own {
		r.move(0, rows-1)
		r.buf = append(r.buf, "\r\n"...)
	}
	if r.hidden {
		r.buf = append(r.buf, ansi.SetModeTextCursorEnable...)
	}
	return r.buf
}

// Above returns the bytes that print text above the frame on the normal screen. The next frame is
// drawn below the text.
func (r *Renderer) Above(text string) []byte {
	r.buf = r.buf[:0]
	s := &r.surfaces[0]
	r.move(0, 0)
	for row := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		r.buf = append(append(append(r.buf, ansi.EraseLineRight...), row...), ansi.ResetStyle+"\r\n"...)
	}
	r.buf = append(r.buf, ansi.EraseScreenBelow...)
	*s, r.picture = surface{}, unknown
	return r.buf
}

func (r *Renderer) surface() *surface {
	if r.own {
		return &r.surfaces[1]
	}
	return &r.surfaces[0]
}

// draw writes the rows of a frame.
func (r *Renderer) draw(picture string) {
	s := r.surface()
	r.next = r.next[:0]
	if picture != "" {
		for row := range strings.SplitSeq(picture, "\n") {
			r.next = append(r.next, row)
		}
	}
	r.next = r.next[max(0, len(r.next)-r.height):]
	if r.own {
		for len(r.next) < r.height {
			r.next = append(r.next, "")
		}
	}
	r.setHeight(s, len(r.next))
	if r.own && !r.NoScroll {
		r.scroll(s.rows, r.next)
	}
	for y, row := range r.next {
		if s.rows[y] != row {
			r.row(y, s.rows[y], row)
			s.rows[y] = strings.Clone(row) // do not retain the whole frame
		}
	}
}

// setHeight adjusts the number of rows on the terminal.
func (r *Renderer) setHeight(s *surface, height int) {
	was := len(s.rows)
	switch {
	case height < was:
		if !r.own {
			if r.move(0, height); height == 0 { // tmux saves the screen to its history if it is erased from the first cell
				r.buf = append(r.buf, ansi.EraseLineRight...)
				r.move(0, min(1, was-1))
			}
			r.buf = append(r.buf, ansi.EraseScreenBelow...)
		}
		s.rows = s.rows[:height]
	case height > was:
		if below := height - max(was, 1); below > 0 && !r.own { // the terminal scrolls if necessary
			r.move(0, max(0, was-1))
			r.buf = append(r.buf, strings.Repeat("\n", below)...)
			s.y += below
		}
		for range height - was {
			s.rows = append(s.rows, unknown)
		}
	}
}

// skipped is the number of equal cells from which moving the cursor is shorter than rewriting them.
const skipped = 5

// row writes the cells of a row that differ.
func (r *Renderer) row(y int, old, next string) {
	from, to, certain := r.changed(old, next)
	if from == to {
		return
	}
	was, is := r.lines[0].Line, r.lines[1].Line
	end := to
	for end > from && blank(&is[end-1]) {
		end--
	}
	if erased := blankFrom(is, to) && (!certain || to-end > len(ansi.EraseLineRight)); !erased {
		end = to
	}
	for x := from; x < end; {
		if certain {
			n := 0
			for x+n < end && was[x+n].Equal(&is[x+n]) {
				n++
			}
			for n > 0 && r.inside(x+n) {
				n--
			}
			if x+n == end {
				break
			}
			if n >= skipped {
				x += n
			}
		}
		cell := &is[x]
		r.move(x, y)
		r.to(cell)
		if cell.Width == 0 || cell.Content == "" { // half of a wide cell that was cut
			r.buf = append(r.buf, ' ')
		} else {
			r.buf = append(r.buf, cell.Content...)
		}
		x += max(1, cell.Width)
		r.surface().x = min(x, r.width)
	}
	if end < to {
		r.move(end, y)
		r.to(&uv.EmptyCell)
		r.buf = append(r.buf, ansi.EraseLineRight...)
	}
	if !certain {
		r.surface().x = r.width
	}
}

// changed reads the old and the new row into r.lines and returns the range in which they differ,
// extended to whole wide cells. If certain is true, the old cells are known, so that equal ones can
// be skipped.
func (r *Renderer) changed(old, next string) (from, to int, certain bool) {
	was, is := &r.lines[0], &r.lines[1]
	to, certain = r.width, old != unknown
	if !certain {
		old = next // all of it is written
	}
	was.read(old, r.width, r.method)
	is.read(next, r.width, r.method)
	if certain {
		for from < to && was.Line[from].Equal(&is.Line[from]) {
			from++
		}
		for to > from && was.Line[to-1].Equal(&is.Line[to-1]) {
			to--
		}
		if from == to {
			return from, to, certain
		}
	}
	// After a grapheme of several characters, terminals disagree about the column.
	for x := range to {
		if several(&is.Line[x]) || several(&was.Line[x]) {
			from, to, certain = min(from, x), r.width, false
			break
		}
	}
	for r.inside(from) {
		from--
	}
	for r.inside(to) {
		to++
	}
	return from, to, certain
}

// inside reports whether a cell of r.lines is the right half of a wide one.
func (r *Renderer) inside(x int) bool {
	return x > 0 && x < r.width && (r.lines[0].Line[x].Width == 0 || r.lines[1].Line[x].Width == 0)
}

// several reports whether a cell holds a grapheme of several characters.
func several(c *uv.Cell) bool { return len(c.Content) > 1 && utf8.RuneCountInString(c.Content) > 1 }

func blank(c *uv.Cell) bool {
	return c.Content == " " && c.Width == 1 && c.Link == uv.Link{} && c.Style.IsZero()
}

// blankFrom reports whether all cells from x on are blank.
func blankFrom(cells uv.Line, x int) bool {
	for ; x < len(cells); x++ {
		if !blank(&cells[x]) {
			return false
		}
	}
	return true
}

// scroll moves rows that are elsewhere in the next frame, if that saves bytes.
func (r *Renderer) scroll(rows, next []string) {
	first, last, by := movedBlock(rows, next)
	if by == 0 {
		return
	}
	top, bottom := first+min(0, by), last+max(0, by)
	r.to(&uv.EmptyCell)
	gone, empty := top, bottom+1-by // first row deleted, and first row inserted
	if by < 0 {
		gone, empty = bottom+1+by, top
		copy(rows[top-by:bottom+1], rows[top:])
	} else {
		copy(rows[top:], rows[top+by:bottom+1])
	}
	clear(rows[empty : empty+abs(by)])
	r.move(0, gone)
	r.control('M', abs(by))
	r.move(0, empty)
	r.control('L', abs(by))
}

// movedBlock finds the block of rows whose move in the next frame saves most. It returns the
// block's first and last row there, and how many rows lower it was before; 0 means that no move is
// worthwhile.
func movedBlock(rows, next []string) (first, last, by int) {
	top, bottom := 0, len(rows)
	for top < bottom && rows[top] == next[top] {
		top++
	}
	for bottom > top && rows[bottom-1] == next[bottom-1] {
		bottom--
	}
	saved := 20 // bytes; initially the cost of the sequences
	for shift := top - bottom + 1; shift < bottom-top; shift++ {
		if shift == 0 {
			continue
		}
		sum, start := 0, 0
		for y := max(top, top-shift); y < min(bottom, bottom-shift); y++ {
			if rows[y+shift] != next[y] {
				sum = 0
				continue
			}
			if sum == 0 {
				start = y
			}
			if rows[y] != next[y] { // otherwise it is in place already
				sum += len(next[y])
			}
			if sum-abs(shift) > saved {
				saved, first, last, by = sum-abs(shift), start, y, shift
			}
		}
	}
	if by == 0 {
		return 0, 0, 0
	}
	// Extend the block by rows that moved and changed, if that leaves less to write.
	lower, upper := max(top, top-by), min(bottom, bottom-by) // rows that a moved row can come from
	moved := func(y int) bool { return alike(rows[y+by], next[y]) > alike(rows[y], next[y]) }
	for first > lower && moved(first-1) {
		first--
	}
	for last+1 < upper && moved(last+1) {
		last++
	}
	return first, last, by
}

// alike returns the length of the common prefix.
func alike(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func abs(n int) int { return max(n, -n) }

// move moves the cursor to a cell.
func (r *Renderer) move(x, y int) {
	s := r.surface()
	if s.x == x && s.y == y {
		return
	}
	switch {
	case y == s.y && x > s.x:
		r.control('C', x-s.x)
	case y == s.y && x == 0:
		r.buf = append(r.buf, '\r')
	case y == s.y+1 && x == 0 && y < len(s.rows):
		r.buf = append(r.buf, "\r\n"...)
	case r.own && x == 0:
		r.control('H', y+1)
	case r.own:
		r.buf = append(r.buf, "\x1b["...)
		r.buf = strconv.AppendInt(r.buf, int64(y+1), 10)
		r.buf = append(r.buf, ';')
		r.buf = strconv.AppendInt(r.buf, int64(x+1), 10)
		r.buf = append(r.buf, 'H')
	default: // the absolute position of the frame is unknown there
		r.buf = append(r.buf, '\r')
		if y > s.y {
			r.control('B', y-s.y)
		} else if y < s.y {
			r.control('A', s.y-y)
		}
		if x > 0 {
			r.control('C', x)
		}
	}
	s.x, s.y = x, y
}

// control writes a control sequence with one parameter.
func (r *Renderer) control(final byte, n int) {
	r.buf = append(r.buf, "\x1b["...)
	if n != 1 {
		r.buf = strconv.AppendInt(r.buf, int64(n), 10)
	}
	r.buf = append(r.buf, final)
}

// to sets the style and link of what is written next to those of a cell.
func (r *Renderer) to(cell *uv.Cell) {
	if cell.Style != r.pen.asked {
		style := uv.ConvertStyle(cell.Style, r.Profile)
		r.buf = append(r.buf, uv.StyleDiff(&r.pen.style, &style)...)
		r.pen.asked, r.pen.style = cell.Style, style
	}
	r.link(uv.ConvertLink(cell.Link, r.Profile))
}

// link sets the hyperlink of what is written next; the zero Link ends it.
func (r *Renderer) link(link uv.Link) {
	switch {
	case link == r.pen.link:
	case link.URL == "":
		r.buf = append(r.buf, ansi.ResetHyperlink()...)
	default:
		r.buf = append(r.buf, ansi.SetHyperlink(link.URL, link.Params)...)
	}
	r.pen.link = link
}

// shape sets the appearance of the cursor; nil restores the terminal's own.
func (r *Renderer) shape(cursor *tea.Cursor) {
	before, now := look(r.cursor), look(cursor)
	if before.style != now.style {
		r.buf = append(r.buf, ansi.SetCursorStyle(now.style)...)
	}
	switch {
	case before.colour == now.colour:
	case now.colour == "":
		r.buf = append(r.buf, ansi.ResetCursorColor...)
	default:
		r.buf = append(r.buf, ansi.SetCursorColor(now.colour)...)
	}
	if r.cursor = nil; cursor != nil {
		kept := *cursor
		r.cursor = &kept
	}
}
