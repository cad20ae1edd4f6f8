package chat

import (
	"os"
	"runtime"
	"runtime/debug"
)

// spareThreads is how many more threads than there are processors may run Go.
const spareThreads = 2

// reserveThreads lets the kernel decide who runs: it gives a thread that a
// key has woken the processor at once, while Go's scheduler lets the goroutines
// that have all of its threads go on for up to 10 ms. The figures are in
// docs/design/performance.md.
func reserveThreads() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareThreads)
	}
}

// collectSooner lets the heap grow by half between two collections: a chat
// holds a few MB, which take 2 ms to walk.
func collectSooner() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
