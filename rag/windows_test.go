package rag

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// TestTheEndOfALongPassageIsFoundByMeaning: what stands beyond a model's
// window counts as much as what stands before it.
func TestTheEndOfALongPassageIsFoundByMeaning(t *testing.T) {
	files := map[string]string{}
	for name, end := range map[string]string{
		"boiler.md": "The plumber fitted another valve.", "garden.md": "Tomatoes need warm nights.", "trip.md": "Lisbon was rainy throughout.",
	} {
		files[name] = strings.Repeat("These words say nothing at all, and say it often. ", 16) + end + "\n"
	}
	folder, x := vault(t, files)
	embedder := &shortSighted{bagEmbedder{name: "short"}}
	syncNow(t, x, folder, embedder)
	if embedder.texts < 2*len(files) {
		t.Errorf("%d texts were embedded for %d passages of several windows", embedder.texts, len(files))
	}
	found, err := x.Search(t.Context(), Query{Text: "tomatoes on warm nights", Side: MeaningAlone, Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, p := range found.Passages {
		order = append(order, p.Path)
	}
	if len(order) == 0 || order[0] != "garden.md" {
		t.Errorf("found %v, want garden.md first", order)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(order)))) != len(order) {
		t.Errorf("found %v: windows count as passages", order)
	}
}

// TestAMissingWindowIsEmbeddedAgain: a window lost to damage does not leave
// its passage half seen.
func TestAMissingWindowIsEmbeddedAgain(t *testing.T) {
	folder, x := vault(t, map[string]string{"a.md": strings.Repeat("plenty of words to read here today. ", 28)})
	embedder := &shortSighted{bagEmbedder{name: "short"}}
	syncNow(t, x, folder, embedder)
	m, _, err := x.loadMeaning()
	if err != nil {
		t.Fatal(err)
	}
	file := m.collection.(windowed).collection.(*localVectors).file
	all := len(file.rows)
	if all < 3 {
		t.Fatalf("%d windows, want some", all)
	}
	file.remove(file.rows[1].key)
	if _, err := x.words.db.ExecContext(context.Background(), `DELETE FROM meta WHERE key GLOB 'complete *'`); err != nil {
		t.Fatal(err)
	}
	syncNow(t, x, folder, embedder)
	if len(file.rows) != all {
		t.Errorf("%d windows after the repair, want %d", len(file.rows), all)
	}
}

// shortSighted is an embedder whose model reads few tokens.
type shortSighted struct{ bagEmbedder }

func (*shortSighted) Window() int { return 128 }
