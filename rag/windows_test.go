package rag

import (
	"os"
	"slices"
	"strings"
	"testing"

	"lifehub/rag/vectors"
)

// TestEndOfALongPassageIsEmbedded: text beyond a model's window counts as much
// as text within it.
func TestEndOfALongPassageIsEmbedded(t *testing.T) {
	t.Parallel()
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
	found, err := x.Search(t.Context(), Query{Text: "tomatoes on warm nights", Side: SemanticAlone, Limit: 3})
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

// TestMissingWindowIsEmbeddedAgain: a window lost to damage is embedded again.
func TestMissingWindowIsEmbeddedAgain(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": strings.Repeat("plenty of words to read here today. ", 28)})
	embedder := &shortSighted{bagEmbedder{name: "short"}}
	syncNow(t, x, folder, embedder)
	all := countVectors(t, x)
	if all < 3 {
		t.Fatalf("%d windows, want some", all)
	}
	if _, err := x.words.db.ExecContext(t.Context(), `DELETE FROM meta WHERE key GLOB 'complete *'`); err != nil {
		t.Fatal(err)
	}
	path, _ := vectors.Local{Dir: x.dir}.Path("short")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-1] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	options := x.options
	options.Embedder = embedder
	again, err := Open(x.dir, options) // like another run of the program
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck // the test is over
	if damaged := countVectors(t, again); damaged != all-1 {
		t.Fatalf("%d windows of %d after the damage, want one less", damaged, all)
	}
	syncNow(t, again, folder, embedder)
	if repaired := countVectors(t, again); repaired != all {
		t.Errorf("%d windows after the repair, want %d", repaired, all)
	}
}

func countVectors(t *testing.T, x *Index) int {
	t.Helper()
	m, _, err := x.loadVectors()
	if err != nil {
		t.Fatal(err)
	}
	count, _, err := m.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// shortSighted is an embedder whose model reads few tokens.
type shortSighted struct{ bagEmbedder }

func (*shortSighted) Window() int { return 128 }
