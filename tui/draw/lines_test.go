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

// The words that were found are visible and marked in a row of any width, in a column of their own.
func TestFoundWordsAreVisible(t *testing.T) {
	theme := NewTheme("dark", true, true, nil)
	text := strings.Repeat("before ", 12) + "boiler pressure" + strings.Repeat(" after", 12)
	from := strings.Index(text, "boiler")
	rows := []Row{
		{
			Label: "A long title of a conversation", Detail: "09:30  ",
			Found: Found{text, from, from + len("boiler pressure")},
		},
		{Label: "short", Detail: "09:30  ", Found: Found{"boiler", 0, 6}},
	}
	for width := 60; width <= 200; width += 20 {
		column := Columns(rows, width)
		starts := map[int]bool{}
		for _, r := range rows {
			line := r.View(false, column, width, theme)
			words := r.Found.Text[r.Found.From:r.Found.To]
			if !strings.Contains(line, theme.Brand.Render(words)) || Width(line) > width {
				t.Errorf("%d columns: %q is not marked in %q", width, words, line)
			}
			before, _, _ := strings.Cut(line, "09:30")
			starts[Width(before)] = true
		}
		if len(starts) != 1 {
			t.Errorf("%d columns: the times begin at %v", width, starts)
		}
	}
}

func TestLinesAreNotBrokenWithinDates(t *testing.T) {
	for text, want := range map[string][]string{
		"due on 2026-11-30": {"due on", "2026-11-30"},
		"a well-known day":  {"a well-", "known day"},
	} {
		if got := Wrap(text, 11); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	}
}
