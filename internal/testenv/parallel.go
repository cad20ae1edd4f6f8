package testenv

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Parallel lets n tests of this binary run at once, however many processors
// there are: for tests that mostly wait for servers and programs of their own.
// A -parallel flag overrides it. TestMain calls it. Under the race detector they
// compute enough to fill the processors, and fewer run.
func Parallel(n int) {
	if Race {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// Rounds returns how often a test repeats itself: usual, all in `make soak`, and
// a fifth of usual, but at least one, under the race detector, which sees in a
// few rounds what it can see.
func Rounds(usual, all int) int {
	switch {
	case os.Getenv("LIFEHUB_SOAK") != "":
		return all
	case Race:
		return max(1, usual/5)
	}
	return usual
}

// WithoutRace skips a test under the race detector: it runs one program after
// another, or computes alone, and takes long. The run before has passed it.
func WithoutRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("runs without the race detector")
	}
}
