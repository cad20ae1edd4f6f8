package rag

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestWindowsHoldTheWholePassage: no word of a passage is kept from a model
// by the shortness of its window.
func TestWindowsHoldTheWholePassage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab .\n-ü日,!"))).Draw(t, "text")
		title := rapid.StringN(0, 200, -1).Draw(t, "title")
		window := rapid.SampledFrom([]int{16, 64, 128, 512, 8192}).Draw(t, "window")
		bare := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		all, texts := "", embeddedTexts(title, "", text, window)
		for _, part := range texts {
			place, own, found := strings.Cut(part, "\n")
			if title == "" || !found || !strings.HasPrefix(title, strings.TrimSuffix(place, "…")) {
				own = part
			}
			all += own
		}
		if len(texts) > 1 && len(texts) < mostWindows && !strings.Contains(title, "\n") && bare(all) != bare(text) {
			t.Fatalf("the windows hold %q of %q", all, text)
		}
	})
}

func TestWindowsFitTheModel(t *testing.T) {
	text := strings.Repeat("The boiler was serviced in March, and the filter was changed as well. ", 15)
	for window, want := range map[int]int{8192: 1, 512: 1, 256: 2, 128: 3} {
		texts := embeddedTexts("Boiler", "Boiler › Service", text, window)
		if len(texts) != want {
			t.Errorf("a window of %d tokens: %d texts, want %d", window, len(texts), want)
		}
		for _, part := range texts {
			if !strings.HasPrefix(part, "Boiler › Service\n") {
				t.Errorf("a window without its headings: %q", part)
			}
			if n := estimateTokens(part); n > window {
				t.Errorf("a window of %d tokens was given %d", window, n)
			}
		}
	}
}

// shortSighted is an embedder whose model reads few tokens.
type shortSighted struct{ bagEmbedder }

func (*shortSighted) Window() int { return 128 }

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
