package draw

import (
	"regexp"
	"strings"
	"testing"

	"lifehub/tui/markdown"
)

const everyMeaning = "# Heading\n\n`code` [link](https://a.example) [1]\n\n---\n\n```go\nfunc f() string { return \"s\" + 1 } // why\n```\n\n```diff\n@@ -1 +1 @@\n-old\n+new\n```\n"

func TestMarkdownWearsTheColoursOfTheTheme(t *testing.T) {
	foreign := regexp.MustCompile(`[34]8;5;`) // the shades of the dark and the light theme
	for _, name := range []string{"ansi", "contrast"} {
		for _, dark := range []bool{true, false} {
			page := strings.Join(markdown.Render(everyMeaning, 80, NewTheme(name, dark, true, nil).Markdown), "\n")
			if found := foreign.FindString(page); found != "" {
				t.Errorf("%s has shades of another theme: %q", name, page)
			}
		}
	}
	own := map[string]string{"you": "#010203", "danger": "#040506"}
	page := strings.Join(markdown.Render(everyMeaning, 80, NewTheme("", true, true, own).Markdown), "\n")
	for _, want := range []string{"38;2;1;2;3mHeading", "38;2;4;5;6m-old", "38;5;114m+new"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %q", want, page)
		}
	}
	if page := strings.Join(markdown.Render(everyMeaning, 80, NewTheme("ansi", true, false, own).Markdown), "\n"); strings.Contains(page, "38;") {
		t.Errorf("a colour where there is none: %q", page)
	}
}
