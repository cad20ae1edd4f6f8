package rag

import (
	"testing"
)

// TestLinkTextNamesItsNote: a question that is the text of links to a note finds that note
// first, whatever its own words.
func TestLinkTextNamesItsNote(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"a.md": "# Boiler\n\nThe manual says 1.5 bar.\n",
		"log/week.md": "# Week\n\nHad a look at [[a|the thing in the cellar]], then at [the winter " +
			"plan](../plan.md).\n",
		"plan.md":       "# Heating\n\nDown to 19 degrees at night.\n",
		"other.md":      "# The cellar\n\nThe winter plan for the thing in the cellar is to paint it.\n",
		"both.md":       "See [[a|our place]] and [[plan|our place]].\n",
		"clip.md":       "---\nsource: https://a.example\n---\nThe [[other|official bank]] of the cellar.\n",
		"missing.md":    "The [[nowhere|lost note]].\n",
		"nine/named.md": "# Our plan\n\nCalled [[a|heating]] by mistake.\n",
	})
	syncNow(t, x, folder, nil)
	first := func(q Query) string {
		found, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Passages) == 0 {
			return ""
		}
		return found.Passages[0].Path
	}
	for _, c := range []struct{ question, want string }{
		{"the thing in the cellar", "a.md"},
		{"winter plan", "other.md"}, // the link's text is "the winter plan"
		{"The Winter Plan?", "plan.md"},
		{"our place", "both.md"},          // links call two notes this
		{"official bank", "clip.md"},      // links in an untrusted note do not count
		{"lost note", "missing.md"},       // the link's target does not exist
		{"heating", "plan.md"},            // a title takes precedence
		{"thing in a cellar", "other.md"}, // the link's text has other words
	} {
		if got := first(Query{Text: c.question}); got != c.want {
			t.Errorf("%s: first is %q, want %q", c.question, got, c.want)
		}
	}
	if got := first(Query{Text: "the thing in the cellar", Paths: []string{"log"}}); got != "log/week.md" {
		t.Errorf("a filter: first is %q", got)
	}
	write(t, folder.Dir(), map[string]string{"log/week.md": "# Week\n\nNothing in the cellar.\n"})
	syncNow(t, x, folder, nil)
	if got := first(Query{Text: "the thing in the cellar"}); got != "other.md" {
		t.Errorf("the link is gone: first is %q", got)
	}
}
