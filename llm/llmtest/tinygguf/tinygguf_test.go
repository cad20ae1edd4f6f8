package tinygguf

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCutPiecesAreDistinctAndJoinToTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		taken := map[string]bool{}
		seen := map[string]bool{}
		for range 3 {
			text := rapid.StringMatching(`(?:(?:ab|c|the|the the|x y) ?){1,12}z[a-z]{8}`).Draw(t, "text")
			pieces := Cut(text, taken)
			if got := strings.Join(pieces, ""); got != text {
				t.Fatalf("the pieces of %q make %q", text, got)
			}
			for _, p := range pieces {
				if seen[p] && len(pieces) > 1 {
					t.Fatalf("%q comes twice", p)
				}
				seen[p] = true
			}
		}
	})
}

func TestEqualArgumentsMakeEqualModels(t *testing.T) {
	for name, make := range map[string]func() []byte{
		"scripted": func() []byte {
			return Scripted("s", []Script{
				{Pieces: []string{"Hello ", "there."}},
				{Marker: "<|x|>", Pieces: []string{"Loop "}, Loop: true},
			}, 512)
		},
		"random":       func() []byte { return Random(1) },
		"bag of words": func() []byte { return BagOfWords([]string{"car automobile"}, 64, 128) },
	} {
		first := make()
		if !bytes.HasPrefix(first, []byte("GGUF\x03\x00\x00\x00")) || len(first)%align != 0 || len(first) > 1<<20 {
			t.Errorf("%s: %d bytes that begin %q", name, len(first), first[:8])
		}
		if !bytes.Equal(first, make()) {
			t.Errorf("%s: two differ", name)
		}
	}
}

func TestFloat16RoundsToNearest(t *testing.T) {
	for v, want := range map[float32]uint16{
		0: 0, 1: 0x3c00, -2: 0xc000, 0.5: 0x3800, 65504: 0x7bff, 1e9: 0x7bff,
		-1e9: 0xfbff, 1e-9: 0, 1.0009766: 0x3c01,
	} {
		if got := float16(v); got != want {
			t.Errorf("%g: got %#x, want %#x", v, got, want)
		}
	}
}
