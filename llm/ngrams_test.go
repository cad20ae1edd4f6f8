package llm

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func alike(t *testing.T, a, b string) float64 {
	t.Helper()
	v, err := Ngrams{}.Embed(t.Context(), []string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	dot := 0.0
	for i := range v[0] {
		dot += float64(v[0][i]) * float64(v[1][i])
	}
	return dot
}

func TestNgramsMatchSharedWordsAndStems(t *testing.T) {
	for _, c := range []struct{ text, near, far string }{
		{"running plan for spring", "a plan for a runner in spring", "the tax return of last year"},
		{"how to bake sourdough bread", "baking bread with sourdough", "how to fix a bike"},
		{"我的跑步计划", "跑步计划：每周三次", "面包食谱"},
		{"Zahnarzt anrufen", "Anruf beim Zahnarzt", "Brot backen"},
	} {
		if near, far := alike(t, c.text, c.near), alike(t, c.text, c.far); near < far+0.15 {
			t.Errorf("%q: %.2f to %q, %.2f to %q", c.text, near, c.near, far, c.far)
		}
	}
}

func TestNgramVectorsAreNormalisedAndDeterministic(t *testing.T) {
	texts := []string{
		"", "  ", "a", "!!!", "the the the", "running",
		strings.Repeat("long text ", 5000), "\xff\xfe", "日本語", "é",
	}
	first, err := Ngrams{}.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := Ngrams{}.Embed(t.Context(), texts)
	for i, v := range first {
		norm := 0.0
		for _, x := range v {
			norm += float64(x) * float64(x)
		}
		if len(v) != ngramDim || math.Abs(norm-1) > 1e-4 || !slices.Equal(v, second[i]) {
			t.Errorf("%.20q: %d numbers of length %g", texts[i], len(v), norm)
		}
	}
}

func TestEmbeddingStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Ngrams{}).Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkNgrams(b *testing.B) {
	text := strings.Repeat("I run three times a week and raise the long run by ten percent. ", 16) // 1 KB, one passage
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ngramVector(text)
	}
}
