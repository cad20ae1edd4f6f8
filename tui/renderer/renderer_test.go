package renderer

import (
	"fmt"
	"image/color"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// pictures generates consecutive frames like those of a chat: text grows, rows move up and down,
// parts or all of it are replaced.
type pictures struct {
	*rand.Rand
	width, height int
	rows          []string
	pieces        []string
}

// pieces are building blocks of rows. The emulator draws a grapheme of several characters as wide
// as a single one, so the last two are not used with ansi.WcWidth.
var pieces = []string{"word ", "漢字", "🙂", "│", "\x1b[1;31mred\x1b[m ", "\x1b[48;5;236m shade \x1b[m", "\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\", "          ", "ﬁ", "👩‍👩‍👧", "हिन्दी"}

func (p *pictures) row() string {
	var b strings.Builder
	for range p.IntN(8) {
		b.WriteString(p.pieces[p.IntN(len(p.pieces))])
	}
	return ansi.Truncate(b.String(), p.width, "")
}

func (p *pictures) next() string {
	at := func() int { return p.IntN(len(p.rows)) }
	switch p.IntN(7) {
	case 0:
		for i := range p.rows {
			p.rows[i] = p.row()
		}
	case 1, 2: // streaming text
		y := at()
		p.rows[y] = ansi.Truncate(p.rows[y]+p.pieces[p.IntN(len(p.pieces))], p.width, "")
	case 3:
		p.rows[at()] = p.row()
	case 4, 5: // a part of the screen moves
		from, to := at(), at()
		from, to = min(from, to), max(from, to)+1
		by := p.IntN(to-from) + 1
		part := p.rows[from:to]
		if p.IntN(2) == 0 {
			copy(part, part[by:])
			part = part[len(part)-by:]
		} else {
			copy(part[by:], part)
			part = part[:by]
		}
		for i := range part {
			part[i] = p.row()
		}
	case 6:
		p.rows[at()] = ""
	}
	return strings.Join(p.rows, "\n")
}

// shows returns what an emulator shows, by rows of cells.
func shows(e *vt.Emulator, width, height int) string {
	var b strings.Builder
	for y := range height {
		for x := range width {
			if c := e.CellAt(x, y); c != nil && c.Width > 0 {
				fmt.Fprintf(&b, "%s%s%q", c.Content, describe(c.Style), c.Link.URL)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func describe(s uv.Style) string {
	name := func(c color.Color) string {
		if c == nil {
			return "-"
		}
		r, g, b, _ := c.RGBA()
		return fmt.Sprint(r, g, b)
	}
	return fmt.Sprint(name(s.Fg), name(s.Bg), s.Attrs, s.Underline)
}

// TestTerminalShowsEachFrame compares a terminal that got only the changes with one that got
// the whole frame.
func TestTerminalShowsEachFrame(t *testing.T) {
	for seed := range uint64(30) {
		p := &pictures{Rand: rand.New(rand.NewPCG(seed, 1)), width: 20 + int(seed)%30, height: 4 + int(seed)%20}
		p.rows, p.pieces = make([]string, p.height), pieces
		method := []ansi.Method{ansi.WcWidth, ansi.GraphemeWidth}[seed%2]
		if method == ansi.WcWidth {
			p.pieces = pieces[:len(pieces)-2]
		}
		terminal, whole := vt.NewEmulator(p.width, p.height), vt.NewEmulator(p.width, p.height)
		r := &Renderer{Profile: colorprofile.TrueColor, Synchronized: seed%3 == 0}
		r.Resize(p.width, p.height)
		r.Begin()
		r.Show(true)
		terminal.WriteString("\x1b[3;5H") // where the shell left it
		for n := range 40 {
			picture := p.next()
			var cursor *tea.Cursor
			if p.IntN(4) > 0 {
				cursor = tea.NewCursor(p.IntN(p.width), p.IntN(p.height))
			}
			sent := r.Draw(picture, cursor, method)
			terminal.Write(sent)
			whole.WriteString(ansi.ResetInitialState)
			for y, row := range p.rows {
				fmt.Fprintf(whole, "\x1b[%dH%s", y+1, row)
			}
			if got, want := shows(terminal, p.width, p.height), shows(whole, p.width, p.height); got != want {
				t.Fatalf("seed %d, picture %d, sent %q:\n%s\nwant\n%s", seed, n, sent, got, want)
			}
			if at := terminal.CursorPosition(); cursor != nil && (at.X != cursor.X || at.Y != cursor.Y) {
				t.Fatalf("seed %d, picture %d: the cursor is at %v, want %v", seed, n, at, cursor.Position)
			}
			if again := r.Draw(picture, cursor, method); len(again) > 0 {
				t.Fatalf("the same picture sends %q", again)
			}
		}
	}
}

// On the normal screen, frames grow and shrink below the shell's output, and printed text appears
// above them, once.
func TestLinesArePrintedAboveTheFrame(t *testing.T) {
	terminal := vt.NewEmulator(20, 8)
	r := &Renderer{}
	r.Resize(20, 8)
	r.Begin()
	terminal.WriteString("$ lifehub\r\n")
	box := []string{"", "╭───╮", "│ ask │", "╰───╯"}
	draw := func(rows ...string) {
		rows = append(rows, box...)
		terminal.Write(r.Draw(strings.Join(rows, "\n"), tea.NewCursor(2, len(rows)-2), ansi.WcWidth))
	}
	draw()
	draw("one")
	draw("one", "two", "three", "four")
	draw()
	terminal.Write(r.Above("one\ntwo\nthree\nfour\n"))
	draw()
	want := []string{"one", "two", "three", "four", "", "╭───╮", "│ ask │", "╰───╯"}
	if got := strings.Split(ansi.Strip(terminal.Render()), "\n"); !slices.EqualFunc(got, want, func(a, b string) bool { return strings.TrimRight(a, " \r") == b }) {
		t.Errorf("%q, want %q", got, want)
	}
	terminal.Write(r.End())
	if at := terminal.CursorPosition(); at.X != 0 || at.Y != 7 {
		t.Errorf("the cursor is left at %v", at)
	}
}
