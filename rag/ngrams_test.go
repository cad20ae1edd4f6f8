package rag

import (
	"fmt"
	"testing"

	"lifehub/llm"
)

// gobi is a vault in which three notes have the only known word of a question; keyword
// search ranks the right one last.
func gobi() map[string]string {
	files := map[string]string{
		"goat.md":  "# Herds\n\nGobi goats give cashmere in spring.\n",
		"plant.md": "# Leaves\n\nGobi shrubs slow their photosynthesis when noon is hot and dry.\n",
		"road.md":  "# Roads\n\nGobi trucks carry copper ore south.\n",
	}
	for i := range 30 {
		files[fmt.Sprintf("other%d.md", i)] = fmt.Sprintf("# Day %d\n\nBread, a walk and %d letters home.\n", i, i)
	}
	return files
}

func TestNgramsFindOtherSpellings(t *testing.T) {
	t.Parallel()
	blind := &bagEmbedder{name: "blind", spoil: func(string) ([]float32, error) { return []float32{1, 0}, nil }}
	unavailable := &bagEmbedder{name: "away", spoil: func(string) ([]float32, error) { return nil, llm.ErrUnreachable }}
	for _, embedder := range []*bagEmbedder{blind, unavailable} {
		t.Run(embedder.name, func(t *testing.T) {
			folder, x := vault(t, gobi())
			syncNow(t, x, folder, embedder)
			for _, question := range []string{"Gobi Photosynthese", "Gobi Photosynthese2", "Gobi photosynthetically"} {
				if got := paths(t, x, question); len(got) < 3 || got[0] != "plant.md" {
					t.Errorf("%s: found %q, want plant.md first of three at least", question, got)
				}
			}
		})
	}
}

func TestNgramsAreOnlyUsedInHybridSearch(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, gobi())
	syncNow(t, x, folder, nil)
	for name, side := range map[string]Side{"both sides without an embedder": Both, "words": KeywordsAlone} {
		found, err := x.Search(t.Context(), Query{Text: "Gobi Photosynthese2", Side: side})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Passages) != 3 || found.Passages[2].Path != "plant.md" {
			t.Errorf("%s: found %+v, want plant.md, the longest, last of three", name, found.Passages)
		}
	}
}
