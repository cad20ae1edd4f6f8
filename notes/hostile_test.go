package notes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lifehub/internal/testenv"
)

// TestHostileTextsTakeNoLongerThanTheirLength parses inputs for which a parser
// that is not linear takes minutes or exhausts memory.
func TestHostileTextsAreParsedInLinearTime(t *testing.T) {
	testenv.WithoutRace(t)
	const size = 256 << 10
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	grow := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	front := func(text string) string { return "---\n" + text + "\n---\n" }
	for name, text := range map[string]string{
		"brackets":       fill("["),
		"open wikilinks": fill("[[a"),
		"open links":     fill("[a]("),
		"parentheses":    fill("[](((((((("),
		"backticks":      grow(func(i int) string { return strings.Repeat("`", i+1) + "a" }),
		"emphasis":       fill("*a_"),
		"quotes":         fill(">"),
		"quoted lines":   fill(strings.Repeat("> ", 50) + "a\n"),
		"nested lists":   grow(func(i int) string { return strings.Repeat(" ", 2*i) + "- a\n" }),
		"loose lists":    fill("- a\n\n"),
		"headings":       fill("a\n===\n"),
		"task marks":     fill("- [ ] " + strings.Repeat("📅 [due:: 🔁 a ", 300) + "\n"),
		"yaml brackets":  front("a: " + strings.Repeat("[", 60_000)),
		"yaml braces":    front("a: " + strings.Repeat("{a: ", 15_000)),
		"yaml aliases":   front("a0: &a0 [x]\n" + strings.Repeat("b: [*a0, *a0]\n", 3000)),
		"yaml bomb": front("tags: *a40\na0: &a0 [x]\n" + func() string {
			var b strings.Builder
			for i := 1; i <= 40; i++ {
				fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
			}
			return b.String()
		}()),
		"toml brackets": "+++\na = " + strings.Repeat("[", 60_000) + "\n+++\n",
	} {
		began := time.Now()
		note := Parse(Entry{Path: "a.md"}, []byte(text))
		if took := time.Since(began); took > 10*time.Second { // all take well below one
			t.Errorf("%s: took %v", name, took)
		}
		checkNote(t, note)
	}
}
