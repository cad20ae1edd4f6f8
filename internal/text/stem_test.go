package text

import (
	"fmt"
	"sync"
	"testing"
)

// Cached stems are correct for each language, under concurrent use, and are
// returned without allocation.
func TestCachedStemsAreCorrect(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 6000 { // more than the cache holds
				for _, in := range []Lang{"", "de", "fr"} {
					word := fmt.Sprint("Gärten", i%3000)
					if i%2 == 0 {
						word = "running"
					}
					if got, want := FoldedStem(word, in), foldedStem(word, in); got != want {
						t.Errorf("%s in %q: %s, want %s", word, in, got, want)
						return
					}
				}
			}
		})
	}
	all.Wait()
	FoldedStem("gardening", "")
	if n := testing.AllocsPerRun(100, func() { FoldedStem("gardening", "") }); n > 0 {
		t.Errorf("%v allocations for a word seen before", n)
	}
}
