package dialog

import (
	"slices"
	"testing"

	"lifehub/agent"
)

// A change of several notes is told in words, and each part of the diff names its note and the first line it changes.
func TestSeveralNotesAreNamed(t *testing.T) {
	preview := agent.Preview{
		Path: "a.md", To: "b.md", Text: "a.md becomes b.md.",
		Diff: "--- c.md\n+++ c.md\n@@ -1 +1 @@\n-[[a]]\n+[[b]]\n@@ -7,3 +7,4 @@\n x\n y\n+[[b]]\n z\n",
	}
	var got []string
	for _, line := range Describe(agent.PermissionAsked{Preview: preview}, false) {
		got = append(got, line.Text)
	}
	want := []string{
		"a.md becomes b.md.", "c.md", "line 1", "- [[a]]", "+ [[b]]", "line 9", "  x", "  y", "+ [[b]]", "  z",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
