package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"lifehub/tui/draw"
)

// tall is an item of some lines that cannot be mistaken.
type tall struct{ name, height int }

func (i *tall) Render(int, *draw.Theme) []string {
	var lines []string
	for n := range i.height {
		lines = append(lines, fmt.Sprintf("%d.%d", i.name, n))
	}
	return lines
}

func (i *tall) Copied() string { return "" }

// Whatever the user does, the place is filled, lines come in order without a
// gap, and what is chosen can be brought into sight.
func TestScrollingShowsLinesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := Model{Theme: draw.NewTheme("", true, false, nil), Chosen: -1}
		tr.Resize(40, rapid.IntRange(1, 12).Draw(t, "height"))
		var all []string // every line there is
		add := func(height int) {
			i := &tall{len(tr.Entries), height}
			tr.Add(i)
			for _, line := range i.Render(0, nil) {
				all = append(all, "    "+line)
			}
			all = append(all, "")
		}
		for range rapid.IntRange(1, 8).Draw(t, "items") {
			add(rapid.IntRange(1, 20).Draw(t, "lines"))
		}
		for range 30 {
			switch rapid.IntRange(0, 8).Draw(t, "what") {
			case 0:
				tr.Scroll(rapid.IntRange(-30, 30).Draw(t, "by"))
			case 1:
				tr.ToTop()
			case 2:
				tr.ToEnd()
			case 3:
				add(rapid.IntRange(1, 20).Draw(t, "lines"))
			case 4:
				tr.Resize(40, rapid.IntRange(1, 12).Draw(t, "height"))
			case 5:
				tr.Focus()
				tr.next()
				tr.Choose(-1, 0)
			case 6:
				tr.Focus()
				tr.previous()
				tr.Choose(-1, 0)
			case 7:
				tr.Choose(0, 0)
				tr.ToTop()
				tr.Choose(-1, 0)
			case 8:
				tr.chooseLast()
				tr.Choose(-1, 0)
			}
			got := tr.View()
			if len(got) != tr.Height {
				t.Fatalf("%d lines for a place of %d", len(got), tr.Height)
			}
			want := all
			if fits := all[:len(all)-1]; len(fits) <= tr.Height {
				want = append(slices.Clone(fits), make([]string, tr.Height)...)
			}
			if !inOrder(want, got) {
				t.Fatalf("not in order: %q", got)
			}
			if !tr.Scrolled && len(all)-1 > tr.Height && got[len(got)-1] != all[len(all)-2] {
				t.Fatalf("it follows, and the last line in sight is %q of %q", got[len(got)-1], all[len(all)-2])
			}
		}
	})
}

// inOrder reports whether part stands in whole, without a gap.
func inOrder(whole, part []string) bool {
	for at := 0; at+len(part) <= len(whole); at++ {
		if slices.Equal(whole[at:at+len(part)], part) {
			return true
		}
	}
	return false
}

// An answer that arrived in pieces looks as one that was there at once, however
// it was cut and whatever the widths on the way.
func TestStreamedAnswerLooksLikeAWholeOne(t *testing.T) {
	const source = "# Title\n\nSome *words* and `code` [1].\n\n- a\n  - b\n\n1. x\n2. y\n\n| a | b |\n|---|---|\n| 1 " +
		"| 漢字 |\n\n```go\nfunc f() {}\n```\n\n> quote\n\nThe end."
	theme := draw.NewTheme("", true, true, nil)
	rapid.Check(t, func(t *rapid.T) {
		a := NewAnswer()
		width := rapid.IntRange(10, 100).Draw(t, "width")
		for rest := source; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "piece")
			a.Grow(rest[:n])
			rest = rest[n:]
			if rapid.Bool().Draw(t, "drawn") {
				a.Render(width, theme)
			}
			if rapid.IntRange(0, 9).Draw(t, "resize") == 0 {
				width = rapid.IntRange(10, 100).Draw(t, "width")
			}
		}
		a.End("")
		got := a.Render(width, theme)
		whole := draw.NewMarkdownStream("%d")
		whole.Write(source)
		whole.Close()
		if want := whole.Lines(width, theme); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestOnlyTheAnswerToCopyShowsTheHint(t *testing.T) {
	m := Model{Theme: draw.NewTheme("", true, true, nil), Chosen: -1}
	m.Resize(80, 40)
	shown := func() string { return ansi.Strip(strings.Join(m.View(), "\n")) }
	m.Add(whole("```\nold\n```\n\n```\nolder\n```", ""))
	if !strings.Contains(shown(), "/copy 2") {
		t.Errorf("the only answer:\n%s", shown())
	}
	m.Add(&Question{Text: "and now?"})
	m.Add(whole("```\nnew\n```", ""))
	if now := shown(); strings.Count(now, "/copy") != 1 || !strings.Contains(now, " 2 ─╮") {
		t.Errorf("the one before:\n%s", now)
	}
	if printed := strings.Join(m.Printed(), "\n"); strings.Contains(printed, "/copy") {
		t.Errorf("printed for good:\n%s", printed)
	}
}

// whole is an answer that is there, and why it ends.
func whole(text, ending string) *Answer {
	a := NewAnswer()
	a.Grow(text)
	a.End(ending)
	return a
}
