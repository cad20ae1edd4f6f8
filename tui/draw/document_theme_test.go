package draw

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

const everyMeaning = "# Heading\n\n`code` [link](https://a.example) [1]\n\n---\n\n```go\nfunc f() string { return " +
	"\"s\" + 1 } // why\n```\n\n```diff\n@@ -1 +1 @@\n-old\n+new\n```\n"

// TestGoldenPicturesOfThemes keeps the same page in the colours of some themes.
func TestGoldenPicturesOfThemes(t *testing.T) {
	for _, name := range []string{"catppuccin-latte", "dracula"} {
		t.Run(name, func(t *testing.T) {
			theme := NewTheme(name, true, true, nil)
			lines := []string{Shaded(theme.You.Render("▌")+" how do I raise it? "+
				theme.Dim.Render("‹ 2 of 3 ›"), 40, theme)}
			lines = append(lines, whole(everyMeaning, 40, theme)...)
			lines = append(lines, theme.Reference.Render("[1]")+" plan.md "+
				theme.Success.Render("✓ quoted")+theme.Warning.Render(" ! changed since")+theme.Danger.Render(" ✗ not in that note"))
			lines = append(lines, Box{
				Title: theme.Strong.Render("Themes"), Count: theme.Dim.Render("1 of 2"),
				Keys:   theme.Key.Render("enter") + theme.Dim.Render(" save"),
				Border: theme.Border,
			}.View([]string{theme.Selected.Render("› " + name)}, 40)...)
			golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
		})
	}
}

func TestOwnColoursApplyToMarkdown(t *testing.T) {
	own := map[string]string{"you": "#010203", "danger": "9"}
	page := strings.Join(whole(everyMeaning, 80, NewTheme("", true, true, own)), "\n")
	for _, want := range []string{"38;2;1;2;3;4;1mHeading", "91m-old", "38;2;126;224;160m+new"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %q", want, page)
		}
	}
	for _, coloured := range []bool{false, true} {
		theme := NewTheme("ansi", true, coloured, nil)
		if page := strings.Join(whole(everyMeaning, 80, theme), "\n"); strings.Contains(page, "38;") ||
			strings.Contains(page, "36m") != coloured {
			t.Errorf("other than the sixteen colours, or none of them: %q", page)
		}
	}
	if page := strings.Join(whole(everyMeaning, 80, NewTheme("ansi", true, false, own)),
		"\n"); strings.Contains(page, "38;") {
		t.Errorf("a colour where there is none: %q", page)
	}
}
