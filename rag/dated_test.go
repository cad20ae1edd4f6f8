package rag

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"lifehub/internal/when"
)

func TestTimeBoostsNotesOfThatTime(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"daily/2026-03-16.md": "Slow run along the river, then soup.\n",
		"daily/2026-03-17.md": "Fixed the bike. Long run in the rain.\n",
		"daily/2026-03-18.md": "Coffee with Ana.\n",
		"running.md":          "# Running plan\n\nEvery run should be slow; rest a day a week.\n",
		"commits.md":          "# Undo the last commit\n\nUse git reset on what was made yesterday.\n",
	})
	syncNow(t, x, folder, nil)
	cases := map[string]string{
		"what did I do yesterday?":       "daily/2026-03-17.md",
		"the long run of yesterday":      "daily/2026-03-17.md",
		"what happened on 2026-03-16":    "daily/2026-03-16.md",
		"what did I do on Monday":        "daily/2026-03-16.md",
		"was ist am 16. März passiert?":  "daily/2026-03-16.md",
		"undo a commit I made yesterday": "commits.md",
		"running plan":                   "running.md",
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			found, err := x.Search(t.Context(), Query{
				Text:  text,
				Today: when.DayOf(time.Date(2026, 3, 18, 9, 0, 0, 0, time.Local)),
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range found.Passages {
				got = append(got, p.Path)
			}
			if len(got) == 0 || got[0] != want {
				t.Errorf("found %q, want %s first", got, want)
			}
			if !slices.IsSortedFunc(found.Passages, func(a, b Passage) int { return cmp.Compare(b.Score, a.Score) }) {
				t.Errorf("the scores do not fall: %+v", found.Passages)
			}
		})
	}
}

// A question that names a day is answered from the note of that day, whatever its
// words, and is not declined.
func TestNoteOfANamedDayIsNeverDeclined(t *testing.T) {
	t.Parallel()
	files := map[string]string{"daily/2026-03-17.md": "Ate ramen with Ida.\n"}
	for i := range 20 {
		files[fmt.Sprintf("other%d.md", i)] = fmt.Sprintf("Something else about plan %d.\n", i)
	}
	folder, x := vault(t, files)
	syncNow(t, x, folder, nil)
	for text, want := range map[string]string{
		"what did I eat yesterday?":    "daily/2026-03-17.md",
		"Was gab es gestern zu essen?": "daily/2026-03-17.md",
		"what did I do 3 days ago?":    "",
	} {
		found, err := x.Search(t.Context(), Query{
			Text:  text,
			Today: when.DayOf(time.Date(2026, 3, 18, 9, 0, 0, 0, time.Local)),
		})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if !found.Declined() && len(found.Passages) > 0 {
			got = found.Passages[0].Path
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", text, got, want)
		}
	}
}
