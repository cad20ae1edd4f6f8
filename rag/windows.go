package rag

import (
	"cmp"
	"context"
	"slices"

	"lifehub/rag/passage"
)

// A model reads so many tokens of a text and is blind to the rest. A passage
// longer than that is embedded in several windows, each under the passage's
// title and headings, and is as near to a question as its nearest window.
// The words of a passage do not depend on the model, so its vectors may
// (docs/design/vectors.md).

// A key's last byte tells the window, so that a passage's windows are found
// from its own key, and it shows when one is missing: 0 is the passage whole,
// its own key, 1, 2 … are its windows, and the last has lastWindow added.
const (
	windowByte = len(key{}) - 1
	lastWindow = 0x80
)

// passage is the key of the passage that a window belongs to.
func (k key) passage() key {
	k[windowByte] = 0
	return k
}

// window is the key of window i, from 0, of a passage that has n.
func (k key) window(i, n int) key {
	if n == 1 {
		return k
	}
	k[windowByte] = byte(1 + i)
	if i == n-1 {
		k[windowByte] |= lastWindow
	}
	return k
}

// windows are the keys that a passage's vectors may have.
func (k key) windows() []key {
	all := append(make([]key, 0, 2*passage.MostWindows), k, k.window(0, passage.MostWindows+1))
	for i := 1; i < passage.MostWindows; i++ {
		all = append(all, k.window(i, passage.MostWindows+1), k.window(i, i+1))
	}
	return all
}

// windowed is a collection of windows as one of passages: a passage is as near
// as the nearest of its windows, and missing when one of them is.
type windowed struct{ collection }

func allWindows(passages []key) []key {
	all := make([]key, 0, len(passages)*(1+2*passage.MostWindows))
	for _, k := range passages {
		all = append(all, k.windows()...)
	}
	return all
}

func (w windowed) Missing(ctx context.Context, passages []key) ([]key, error) {
	var missing []key
	for some := range slices.Chunk(passages, 1000) {
		gone, err := w.collection.Missing(ctx, allWindows(some))
		if err != nil {
			return nil, err
		}
		absent := make(map[key]bool, len(gone))
		for _, k := range gone {
			absent[k] = true
		}
		for _, k := range some {
			whole := !absent[k]
			for i := 1; i < passage.MostWindows && !whole && !absent[k.window(i-1, passage.MostWindows+1)]; i++ {
				whole = !absent[k.window(i, i+1)]
			}
			if !whole {
				missing = append(missing, k)
			}
		}
	}
	return missing, nil
}

func (w windowed) Nearest(ctx context.Context, vector []float32, limit int) ([]match, error) {
	// Of so many windows, enough are of different passages.
	windows, err := w.collection.Nearest(ctx, vector, 3*limit)
	passages := nearestWindows(windows)
	return passages[:min(limit, len(passages))], err
}

func (w windowed) Among(ctx context.Context, vector []float32, passages []key) ([]match, error) {
	windows, err := w.collection.Among(ctx, vector, allWindows(passages))
	slices.SortFunc(windows, func(a, b match) int { return cmp.Compare(b.cosine, a.cosine) })
	return nearestWindows(windows), err
}

// nearestWindows keeps the first of each passage's windows, in their order,
// under the passage's key.
func nearestWindows(windows []match) []match {
	passages := windows[:0]
	seen := make(map[key]bool, len(windows))
	for _, n := range windows {
		n.key = n.key.passage()
		if !seen[n.key] {
			seen[n.key] = true
			passages = append(passages, n)
		}
	}
	return passages
}
