package cli

import (
	"strings"
	"testing"

	"lifehub/agent"
)

// Only the match of a found message is between **, wherever the message itself has bold text.
func TestAFoundMessageMarksItsMatchAlone(t *testing.T) {
	for excerpt, want := range map[string]string{
		"change the |tyres| soon":        "change the **tyres** soon",
		"change the **|tyres|** soon":    "change the **tyres** soon",
		"**change the |tyres| soon**":    "change the **tyres** soon",
		"***|tyres|***, 2 * 3":           "**tyres**, 2 * 3",
		"* **change**: |tyres|, __now__": "* change: **tyres**, __now__",
	} {
		before, rest, _ := strings.Cut(excerpt, "|")
		match, after, _ := strings.Cut(rest, "|")
		hit := agent.Hit{Excerpt: before + match + after, From: len(before), To: len(before) + len(match)}
		if got := marked(hit); got != want {
			t.Errorf("%q is shown as %q, want %q", excerpt, got, want)
		}
	}
}
