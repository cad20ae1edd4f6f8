package agent

import (
	"strings"
	"testing"
	"unicode"
)

func TestTitleIsTheFirstLineAsPlainText(t *testing.T) {
	for message, want := range map[string]string{
		"Marathon training plan":                            "Marathon training plan",
		"\n\n  how   often\tdo I run?\nAnd why?":            "how often do I run?",
		"# **Flight** to _Lisbon_":                          "Flight to Lisbon",
		"- [x] call `Ines` about [the trip](https://x.org)": "[x] call Ines about the trip",
		"> ~what~ does snake_case or C# mean, a < b?":       "~what~ does snake_case or C# mean, a < b?",
		"<b>bold</b> and <script src=x>run</script>":        "bold and run",
		"<div class=\"x\">hello</div>":                      "hello",
		"see <https://example.org/a_b>":                     "see https://example.org/a_b",
		"```go\nfunc main() {}\n```":                        "func main() {}",
		"**half of it":                                      "half of it",
		"![a cat](cat.png) who is this?":                    "a cat who is this?",
		"「富士山の計画」":                                          "「富士山の計画」",
		"\x1b[2Jclear\u202e it\u200b":                       "[2Jclear it",
		strings.Repeat("word ", 40):                         strings.Repeat("word ", 10) + "word…",
		" \n ":                                              "(empty)",
		"***":                                               "(empty)",
		"[Anna]: yes":                                       "[Anna]: yes",
	} {
		if got := Title(message); got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}

// Titles of messages that are slow to parse are fast, since only the beginning is
// parsed.
func TestTitleOfAnyMessageIsFast(t *testing.T) {
	for _, unit := range []string{"[", "*a_ ", "<", "`a``", "![](", "> - "} {
		if Title(strings.Repeat(unit, 1<<20)) == "" {
			t.Errorf("%q: no title", unit)
		}
	}
}

func FuzzTitle(f *testing.F) {
	for _, seed := range []string{"# **a** <b>", "```\n<x>", "[a](b)\n***", "\x1b]0;x\a", "<!-- --> <a\n>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		title := Title(message)
		if title == "" || len([]rune(title)) > titleLength || strings.ContainsFunc(title, unicode.IsControl) ||
			strings.ContainsAny(title, "*`") {
			t.Errorf("%q has the title %q", message, title)
		}
	})
}
