package draw

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestBoxLinesHaveTheGivenWidth(t *testing.T) {
	theme := NewTheme("dark", true, true, nil)
	text := rapid.StringMatching(`[a-z 漢é👩]{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		b := Box{
			Title: text.Draw(t, "title"), Count: text.Draw(t, "count"), Keys: text.Draw(t, "keys"),
			Figures: text.Draw(t, "figures"), Border: theme.Border,
		}
		width := rapid.IntRange(6, 120).Draw(t, "width")
		for _, line := range b.View(rapid.SliceOf(text).Draw(t, "lines"), width) {
			if Width(line) != width {
				t.Fatalf("%q is %d cells wide, not %d", line, Width(line), width)
			}
		}
	})
}

func TestBoxEdges(t *testing.T) {
	b := Box{Title: "Commands", Count: "3 of 34", Keys: "enter run", Figures: "2.4k"}
	got := strings.Join(b.View([]string{"help"}, 30), "\n")
	want := "╭ Commands ──────── 3 of 34 ─╮\n│ help                       │\n╰ enter run ────────── 2.4k ─╯"
	if ansi.Strip(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOverlayPreservesItsSurroundings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-z 漢]{0,60}`).Draw(t, "line")
		x := rapid.IntRange(0, 30).Draw(t, "x")
		got := ansi.Strip(Over([]string{line}, []string{"[box]"}, x, 0, 60)[0])
		if at := strings.Index(got, "[box]"); at < 0 || Width(got[:at]) != x {
			t.Fatalf("%q over %q at %d is %q", "[box]", line, x, got)
		}
		if Width(got) > max(Width(line), x+5) {
			t.Fatalf("%q is wider than %q", got, line)
		}
	})
}

func TestShadingFillsTheLine(t *testing.T) {
	theme := NewTheme("dark", true, true, nil)
	line := Shaded(theme.Strong.Render("a")+"b", 6, theme)
	if Width(line) != 6 {
		t.Errorf("%q is %d cells wide", line, Width(line))
	}
	if rest := line[strings.Index(line, "b"):]; !strings.Contains(line[:strings.Index(line, "b")], "48;2;") ||
		strings.Contains(rest[:2], "\x1b[m") {
		t.Errorf("the shade ends within %q", line)
	}
	if plain := NewTheme("dark", true, false, nil); Shaded("a", 6, plain) != "a" {
		t.Error("a theme without colours has a shade")
	}
}
