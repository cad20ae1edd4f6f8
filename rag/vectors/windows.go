package vectors

import (
	"context"
	"slices"

	"lifehub/rag/passage"
)

// A model ignores the text beyond its window. A passage longer than that is embedded in
// several windows, each below the passage's title and headings, and is as near to a
// question as its nearest window. So passages need not depend on the model
// (docs/design/vectors.md).

// The last byte of a key is the number of the window, so that the keys of a passage's
// windows, and missing ones, can be derived from its own key: 0 is the whole passage, 1,
// 2 … are its windows, and lastWindow is added to the last one.
const (
	windowByte = len(Key{}) - 1
	lastWindow = 0x80
)

// Passage returns the key of the passage that a window belongs to.
func (k Key) Passage() Key {
	k[windowByte] = 0
	return k
}

// Window returns the key of window i, counted from 0, of a passage that has n.
func (k Key) Window(i, n int) Key {
	if n == 1 {
		return k
	}
	k[windowByte] = byte(1 + i)
	if i == n-1 {
		k[windowByte] |= lastWindow
	}
	return k
}

// windows returns the keys that a passage's vectors may have.
func (k Key) windows() []Key {
	all := append(make([]Key, 0, 2*passage.MostWindows), k, k.Window(0, passage.MostWindows+1))
	for i := 1; i < passage.MostWindows; i++ {
		all = append(all, k.Window(i, passage.MostWindows+1), k.Window(i, i+1))
	}
	return all
}

// Windowed presents a collection of windows as one of passages: a passage is as near as
// the nearest of its windows, and missing if one of them is.
type Windowed struct{ Collection }

func allWindows(passages []Key) []Key {
	all := make([]Key, 0, len(passages)*(1+2*passage.MostWindows))
	for _, k := range passages {
		all = append(all, k.windows()...)
	}
	return all
}

func (w Windowed) Missing(ctx context.Context, passages []Key) ([]Key, error) {
	var missing []Key
	for some := range slices.Chunk(passages, 1000) {
		gone, err := w.Collection.Missing(ctx, allWindows(some))
		if err != nil {
			return nil, err
		}
		absent := make(map[Key]bool, len(gone))
		for _, k := range gone {
			absent[k] = true
		}
		for _, k := range some {
			whole := !absent[k]
			for i := 1; i < passage.MostWindows && !whole && !absent[k.Window(i-1, passage.MostWindows+1)]; i++ {
				whole = !absent[k.Window(i, i+1)]
			}
			if !whole {
				missing = append(missing, k)
			}
		}
	}
	return missing, nil
}

func (w Windowed) Get(ctx context.Context, passages []Key) ([][]float32, error) {
	return w.Collection.Get(ctx, allWindows(passages))
}

func (w Windowed) Nearest(ctx context.Context, vector []float32, limit int) ([]Match, error) {
	// That many windows belong to enough different passages.
	windows, err := w.Collection.Nearest(ctx, vector, 3*limit)
	return nearestWindows(windows, limit), err
}

func (w Windowed) Among(ctx context.Context, vector []float32, passages []Key, limit int) ([]Match, error) {
	windows, err := w.Collection.Among(ctx, vector, allWindows(passages), passage.MostWindows*limit)
	return nearestWindows(windows, limit), err
}

// nearestWindows returns the first window of each passage, under the passage's key, up
// to a limit.
func nearestWindows(windows []Match, limit int) []Match {
	passages := windows[:0]
	seen := make(map[Key]bool, len(windows))
	for _, n := range windows {
		n.Key = n.Key.Passage()
		if !seen[n.Key] {
			seen[n.Key] = true
			passages = append(passages, n)
		}
	}
	return passages[:min(limit, len(passages))]
}
