package layout

import (
	"slices"
	"testing"
)

func TestLinksAndStylesEndWithEachLine(t *testing.T) {
	var lines []string
	w := Wrapper{Width: 5, Out: &lines}
	w.Add(Span{Look: Look{Style: Style{Attributes: Bold}, Link: "https://a.example"}, Text: "one two"})
	w.Flush()
	const on, off = "\x1b[1m\x1b]8;;https://a.example\x1b\\", "\x1b]8;;\x1b\\\x1b[m"
	if want := []string{on + "one" + off, on + "two" + off}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}
