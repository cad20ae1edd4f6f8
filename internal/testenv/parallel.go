package testenv

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Parallel sets the number of parallel tests of this binary, regardless of the
// number of CPUs, for tests that mostly wait for servers and programs. A
// -parallel flag takes precedence. It must be called from TestMain. With the race
// detector, tests use more CPU time, so fewer run in parallel.
func Parallel(n int) {
	if Race {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// Rounds returns the number of repetitions of a test: usual, or all in `make
// soak`. With the race detector, which finds races in a few rounds, it returns a
// fifth of usual, but at least one.
func Rounds(usual, all int) int {
	switch {
	case os.Getenv("LIFEHUB_SOAK") != "":
		return all
	case Race:
		return max(1, usual/5)
	}
	return usual
}

// WithoutRace skips a test under the race detector, for slow tests without
// concurrency in this process. The tests also run without the race detector.
func WithoutRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("runs without the race detector")
	}
}
