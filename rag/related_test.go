package rag

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/rag/encoder"
)

func TestRelatedNotesHaveReasons(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"bike.md": "---\naliases: [Velo]\ntags: [gear]\n---\n# My bike\n\nNew chain, see [[shop]] and " +
			"![[chain]].\nThe [[nowhere]] and [[#Here]].\n",
		"shop.md":       "# The shop\n\nOpen on Mondays.\n",
		"chain.md":      "# Chain\n\nEleven gears.\n",
		"log/may.md":    "# May\n\nRode [the bike](../bike.md) to work.\n",
		"log/june.md":   "# June\n\nSold the velo, `velo` and all.\n",
		"log/july.md":   "# July\n\nTo [[velo]] or not.\n",
		"gear/tent.md":  "# Tent\n\n#gear for two.\n",
		"gear/stove.md": "# Stove\n\n#gear for one.\n",
		"tea.md":        "# Tea\n\nA velodrome is no bike.\n",
	})
	syncNow(t, x, folder, nil)
	report := func(path string, limit int) string {
		r, err := x.Related(t.Context(), path, limit)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, n := range r.Notes {
			lines = append(lines, n.Path+" "+n.Title+": "+n.Reasons())
		}
		return strings.Join(append(lines, r.Why), "\n")
	}
	want := `chain.md Chain: linked (line 7)
log/july.md July: links here (line 3)
log/may.md May: links here (line 3)
shop.md The shop: linked (line 7)
gear/stove.md Stove: same tag #gear
gear/tent.md Tent: same tag #gear
log/june.md June: mentions it without a link (line 3)
no embedding model`
	if got := report("bike.md", 10); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := report("chain.md", 1); got != "bike.md My bike: links here (line 7)\nno embedding model" {
		t.Errorf("the other way: %s", got)
	}
	if _, err := x.Related(t.Context(), "none.md", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a note that is not there: %v", err)
	}
}

// TestRelatedByNearness: notes with the same words are near each other.
func TestRelatedByNearness(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	files := map[string]string{
		"bread.md": "# Sourdough\n\nFeed the starter with rye flour, let the dough rise and bake the loaf in the hot " +
			"oven.\n",
		"rolls.md": "# Rolls\n\nRye flour, water and salt: let the dough rise, then bake the rolls in the hot oven.\n",
	}
	for i := range 40 {
		files["n/"+string(rune('a'+i%26))+string(rune('a'+i/26))+".md"] = "# Log\n\n" +
			strings.Repeat(string(rune('a'+i%26))+"x"+string(rune('a'+i/2%26))+" ", 12) + "\n"
	}
	folder, x := vault(t, files)
	syncNow(t, x, folder, encoder.Encoder{})
	r, err := x.Related(t.Context(), "bread.md", 3)
	if err != nil || len(r.Notes) == 0 || r.Notes[0].Path != "rolls.md" ||
		r.Notes[0].Reasons() != "closest in meaning" || r.Why != "" {
		t.Errorf("%+v, %v", r, err)
	}
}
