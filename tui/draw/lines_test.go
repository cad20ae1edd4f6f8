package draw

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/tui/safetext"
)

func TestWrappedLineLosesNothing(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"the aim is 18 km", []string{"the aim is ", "18 km"}},
		{"abcdefghijklmnop", []string{"abcdefghijkl", "mnop"}},
		{"ab cdefghijklmnop", []string{"ab cdefghijk", "lmnop"}},
	} {
		if got := WrapExact(c.text, 12); !slices.Equal(got, c.want) {
			t.Errorf("entire(%q) = %q, want %q", c.text, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Just(' '), rapid.Rune().Filter(func(r rune) bool { return safetext.Reveal(string(r)) == string(r) }))).Draw(t, "text")
		width := rapid.IntRange(2, 40).Draw(t, "width")
		got := WrapExact(text, width)
		if strings.Join(got, "") != text {
			t.Fatalf("%q became %q", text, got)
		}
		for _, line := range got {
			if Width(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
	long := strings.Repeat("word ", 200_000)
	if got := WrapExact(long, 80); len(got) < 12_000 {
		t.Errorf("%d lines", len(got))
	}
}

func TestSummaryIsTheStartOnOneLine(t *testing.T) {
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
		if got := Summary(c.text, c.width); got != c.want {
			t.Errorf("gist(%.20q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
