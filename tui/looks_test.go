package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
)

// widths are those of every picture: narrow, usual and wide.
var widths = []int{60, 100, 160}

// looks are the ways in which every picture is drawn, in the order of a legend.
var looks = []struct {
	name string
	wear func(r *rig)
}{
	{"dark", func(r *rig) { r.wear("", colorprofile.TrueColor) }},
	{"light", func(r *rig) { r.wear("light", colorprofile.TrueColor) }},
	{"ansi", func(r *rig) { r.wear("ansi", colorprofile.TrueColor) }},
	{"contrast", func(r *rig) { r.wear("contrast", colorprofile.TrueColor) }},
	{"no colour", func(r *rig) { r.wear("", colorprofile.ASCII) }},
}

func (r *rig) wear(theme string, profile colorprofile.Profile) {
	r.m.Theme = theme
	r.send(tea.ColorProfileMsg{Profile: profile})
}

// TestScreen keeps one golden a scene: the words at every width, below them a
// letter for the style of each cell, and at the end what each letter is in
// every look.
func TestScreen(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			var page strings.Builder
			legend := legend{}
			for _, width := range widths {
				inRig(t, width, 24, scene.options(), func(r *rig) {
					scene.play(r)
					words := r.text()
					var styles [][][]string // by look, row and cell
					for _, look := range looks {
						look.wear(r)
						styles = append(styles, cellStyles(r.m.View().Content))
						if got := r.text(); got != words {
							t.Errorf("%d columns, %s: other words than on dark:\n%s", width, look.name, got)
						}
					}
					fmt.Fprintf(&page, "── %d columns\n%s── %d columns, styles\n%s", width, words, width, legend.letters(styles))
				})
			}
			golden.RequireEqual(t, page.String()+legend.text(t))
		})
	}
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
			if looks[i].name == "no colour" && aColourOfSGR.MatchString(style) {
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
