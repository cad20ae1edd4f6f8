package tui

import (
	"strings"
	"testing"
)

func TestAGistIsTheStartOfATextOnOneLine(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"a\x1b[31m b\nc", 9, "a b c"},
		{"twelve cells", 7, "twelve…"},
		{strings.Repeat("漢", 1<<20), 5, "漢漢…"},
		{strings.Repeat("\x1b[31m", 1<<20) + "far away", 20, "…"},
		{"text", 0, ""},
		{"text", -1, ""},
	} {
		if got := gist(c.text, c.width); got != c.want {
			t.Errorf("gist(%.20q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
