package boxtest

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// states are the colours that say how something is, each of which nothing else has.
var states = map[string]string{
	"success": "1;1;1", "warning": "2;2;2", "danger": "3;3;3",
	"running": "4;4;4", "selected": "5;5;5",
}

// meanings is a look in which a colour is a meaning.
var meanings = Look{"meanings", "", true, map[string]string{
	"success": "#010101", "warning": "#020202",
	"danger": "#030303", "running": "#040404", "selected": "#050505",
}}

// frames are the signs of frames and bars: there are words in or next to them.
const frames = "╭╮╰╯│─┼▌█■□░▏ ·.,:;()/"

// stateOf is the first state in whose colour each text was, in all pictures.
var stateOf = map[string]string{}

// toldWithoutColour reports what of a picture tells a state by its colour alone: a
// text that is there in the colours of two states, or one that is selected with no
// sign in its row, no line under it and no word.
func toldWithoutColour(t *testing.T, picture string) {
	t.Helper()
	for _, line := range strings.Split(picture, "\n") {
		row := ansi.Strip(line)
		for _, part := range inStates(line) {
			text, style := part[0], part[1]
			state := stateIn(style)
			switch before, known := stateOf[text]; {
			case state == "selected":
				if attributes := ";" + style + ";"; !strings.ContainsAny(row, "›▌█[") &&
					!strings.Contains(attributes, ";4;") && !strings.Contains(attributes, ";7;") &&
					!strings.HasPrefix(text, "by ") {
					t.Errorf("%q is selected, and no sign says so: %q", text, row)
				}
			case strings.Trim(text, frames) == "":
			case known && before != state:
				t.Errorf("%q is %s here and was %s: only its colour says so: %q", text, state, before, row)
			default:
				stateOf[text] = state
			}
		}
	}
}

// stateIn is the state that a style has the colour of, "" for none.
func stateIn(style string) string {
	for name, colour := range states {
		if strings.Contains(style, "38;2;"+colour) {
			return name
		}
	}
	return ""
}

// inStates are the parts of a line in the colour of a state, with their styles.
func inStates(line string) (found [][2]string) {
	cells := cellStyles(line)[0]
	at, text, now := 0, "", ""
	end := func() {
		if text = strings.TrimSpace(text); stateIn(now) != "" && text != "" {
			found = append(found, [2]string{text, now})
		}
		text, now = "", ""
	}
	for row := ansi.Strip(line); row != ""; {
		char, width := ansi.FirstGraphemeCluster(row, ansi.GraphemeWidth)
		row = row[len(char):]
		style := ""
		if at < len(cells) {
			style = cells[at]
		}
		if style != now {
			end()
		}
		at, text, now = at+width, text+char, style
	}
	end()
	return found
}
