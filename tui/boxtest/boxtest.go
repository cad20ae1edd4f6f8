// Package boxtest keeps golden pictures, of the whole screen or of one room's own
// box, at several widths and in every look.
package boxtest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/dlclark/regexp2"

	"lifehub/tui/draw"
)

// The patterns of chroma share a clock, a goroutine that runs while they are in
// use. It must not begin in a bubble of synctest, which would wait for its end.
func init() {
	clock := regexp2.MustCompile("x", regexp2.None)
	clock.MatchTimeout = 24 * time.Hour
	if _, err := clock.MatchString("x"); err != nil {
		panic(err)
	}
}

// widths are those of every picture: narrow, usual and wide.
var widths = []int{60, 100, 160}

// Look is a way in which every picture is drawn.
type Look struct {
	name     string
	Theme    string
	Coloured bool
	Colours  map[string]string // of its own
}

// looks are in the order of a legend.
var looks = []Look{
	{"dark", "", true, nil},
	{"light", "light", true, nil},
	{"ansi", "ansi", true, nil},
	{"contrast", "contrast", true, nil},
	{"no colour", "", false, nil},
}

// Box is a part of the screen after its story.
type Box struct {
	Height int  // of the place it is drawn in, in rows
	Least  int  // in a place of fewer rows it may be cut; 0: in none
	Fills  bool // it has exactly the height of its place, and not at most
	Draw   func(width, height int, theme *draw.Theme) []string
	Below  string // what else is to be seen of it, below its lines
	Reads  bool   // what was visible once stays read: another size may change its words
}

// Boxes keeps one golden a box. A story is told in a bubble of synctest, at
// the width of the picture, and returns the box; which then fits any size.
func Boxes(t *testing.T, stories map[string]func(t *testing.T, width int) Box) {
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			Golden(t, func(width int, show func(func(Look) string)) {
				synctest.Test(t, func(t *testing.T) {
					b := story(t, width)
					show(func(l Look) string {
						return strings.Join(append(b.Draw(width, b.Height, l.theme()), b.Below), "\n")
					})
				})
			})
			synctest.Test(t, func(t *testing.T) { story(t, 80).fits(t) })
		})
	}
}

func (l Look) theme() *draw.Theme {
	return draw.NewTheme(l.Theme, true, l.Coloured, l.Colours)
}

// fits draws a box at sizes of all kinds, and at the end as it was drawn first.
func (b Box) fits(t *testing.T) {
	theme := looks[0].theme()
	first := plain(b.Draw(80, b.Height, theme))
	any := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		width, height := 24+any.IntN(177), max(1, b.Least)+any.IntN(60) // below, the screen cuts
		lines := b.Draw(width, height, theme)
		if len(lines) > height || b.Fills && len(lines) < height {
			t.Errorf("%d lines for a place of %d × %d:\n%s", len(lines), width, height, plain(lines))
		}
		for _, line := range lines {
			if draw.Width(line) > width {
				t.Errorf("a line of %d cells for a place of %d × %d: %q", draw.Width(line), width, height, line)
			}
		}
	}
	if last := plain(b.Draw(80, b.Height, theme)); last != first && !b.Reads {
		t.Errorf("after many sizes it is\n%s\nbefore it was\n%s", last, first)
	}
}

func plain(lines []string) string { return words(strings.Join(lines, "\n")) }

// words are a picture without its colours.
func words(picture string) string {
	lines := strings.Split(ansi.Strip(picture), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Golden keeps a picture: the words at every width, below them a letter for the
// style of each cell, and at the end what each letter is in every look. play
// tells its story at a width and shows what draws it.
func Golden(t *testing.T, play func(width int, show func(picture func(Look) string))) {
	t.Helper()
	var page strings.Builder
	legend := legend{}
	for _, width := range widths {
		play(width, func(picture func(Look) string) {
			said := words(picture(looks[0]))
			var styles [][][]string // by look, row and cell
			for _, look := range looks {
				drawn := picture(look)
				styles = append(styles, cellStyles(drawn))
				if got := words(drawn); got != said {
					t.Errorf("%d columns, %s: other words than on dark:\n%s", width, look.name, got)
				}
			}
			toldWithoutColour(t, picture(meanings))
			fmt.Fprintf(&page, "── %d columns\n%s── %d columns, styles\n%s", width, said, width, legend.letters(styles))
		})
	}
	golden.RequireEqual(t, page.String()+legend.text(t))
}

// aColourOfSGR is a parameter that sets one, of text or background.
var aColourOfSGR = regexp.MustCompile(`(^|;)([349]|10)[0-9]\b`)

// legend gives each combination of styles, one a look, a letter.
type legend map[string]rune

// letters draws the letters of all cells; a plain one is blank.
func (l legend) letters(styles [][][]string) string {
	var out strings.Builder
	for row := range styles[0] {
		var line strings.Builder
		for cell := range styles[0][row] {
			var combination []string
			for look := range styles {
				style := ""
				if cell < len(styles[look][row]) { // blanks at the end may be missing
					style = styles[look][row][cell]
				}
				combination = append(combination, style)
			}
			line.WriteRune(l.letter(strings.Join(combination, "|")))
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}

func (l legend) letter(combination string) rune {
	if strings.Trim(combination, "|") == "" {
		return ' '
	}
	if _, known := l[combination]; !known {
		l[combination] = []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")[len(l)]
	}
	return l[combination]
}

// text reports what the letters are. Without colours there may be none.
func (l legend) text(t *testing.T) string {
	var lines []string
	for combination, letter := range l {
		line := string(letter)
		for i, style := range strings.Split(combination, "|") {
			line += "  " + looks[i].name + " " + style
			if !looks[i].Coloured && aColourOfSGR.MatchString(style) {
				t.Errorf("%c has the colour %s without colours", letter, style)
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return "── styles\n" + strings.Join(lines, "\n") + "\n"
}

// cellStyles reads the style of every cell of a picture: the parameters of SGR,
// and where a link leads.
func cellStyles(picture string) [][]string {
	var rows [][]string
	for _, line := range strings.Split(picture, "\n") {
		var row []string
		style, link := "", ""
		for line != "" {
			sequence, width, n, _ := ansi.DecodeSequence(line, ansi.NormalState, nil)
			line = line[n:]
			switch {
			case sequence == "\x1b[m" || sequence == "\x1b[0m":
				style = ""
			case strings.HasPrefix(sequence, "\x1b["):
				style = strings.Trim(style+";"+strings.TrimSuffix(sequence[2:], "m"), ";")
			case strings.HasPrefix(sequence, "\x1b]8;"):
				link = strings.TrimRight(sequence[strings.LastIndex(sequence, ";")+1:], "\a\x1b\\")
			}
			shown := style
			if link != "" {
				shown += "→" + link
			}
			for range width {
				row = append(row, shown)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
