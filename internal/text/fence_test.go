package text

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestUnfenced(t *testing.T) {
	for s, want := range map[string]string{
		"```markdown\n# Tea\n\nTwo minutes.\n```": "# Tea\n\nTwo minutes.",
		"\n```md\nTea\n```  \n":                   "Tea",
		"```\r\nTea\r\n```":                       "Tea\r",
		"~~~ Markdown\nTea\n~~~~":                 "Tea",
		"````md\n```go\nx := 1\n```\n````":        "```go\nx := 1\n```",
		"~~~\n```\nls\n```\n~~~":                  "```\nls\n```",
		"```\n```":                                "",
		"```go\nx := 1\n```":                      "",
		"```\nls\n```\nand\n```\npwd\n```":        "",
		"```md\nsee\n```sh\nls\n```\nmore\n```":   "",
		"So:\n```\nls\n```":                       "",
		"```\nls\n```\nSo.":                       "",
		"```md\nTea":                              "",
		"````\nTea\n```":                          "",
		"```md\nTea\n    ```":                     "",
		"``` markdown of mine\nTea\n```":          "",
		"```":                                     "",
		"":                                        "",
	} {
		if want == "" && s != "```\n```" {
			want = s
		}
		if got := Unfenced(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

// A text wrapped in a fence that is longer than all in it comes back; the text
// itself, unless it is such a block, is left alone.
func TestWrappedTextComesBack(t *testing.T) {
	line := rapid.SampledFrom([]string{"Tea", "```", "```go", "````", "~~~", "> ```", "", "  - x", "`a`"})
	rapid.Check(t, func(t *rapid.T) {
		inside := strings.Join(rapid.SliceOfN(line, 1, 6).Draw(t, "lines"), "\n")
		fence := strings.Repeat(rapid.SampledFrom([]string{"`", "~"}).Draw(t, "sign"), 5)
		wrapped := fence + rapid.SampledFrom([]string{"", "md", "markdown"}).Draw(t, "language") +
			"\n" + inside + "\n" + fence
		if got := Unfenced(wrapped); got != inside {
			t.Fatalf("%q is %q", wrapped, got)
		}
		if got := Unfenced("So:\n" + wrapped); got != "So:\n"+wrapped {
			t.Fatalf("%q is %q", "So:\n"+wrapped, got)
		}
	})
}
