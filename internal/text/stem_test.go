package text

import (
	"fmt"
	"sync"
	"testing"
)

// A word that was stemmed before has the same stem, in each language its own,
// whoever asks at the same time, and costs no memory.
func TestStemsSeenBeforeAreTheSame(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 6000 { // more than are remembered
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
