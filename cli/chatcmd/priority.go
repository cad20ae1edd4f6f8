package chatcmd

import (
	"os"
	"runtime"
	"runtime/debug"
)

// spareThreads is how many threads beyond the number of processors may run Go code.
const spareThreads = 2

// reserveThreads leaves more scheduling to the kernel, which runs a thread woken by a key press at
// once. Go's scheduler may let goroutines that occupy all of its threads run for up to 10 ms.
// Figures are in docs/design/performance.md.
func reserveThreads() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareThreads)
	}
}

// collectSooner lets the heap grow by only half between collections. A chat holds a few MB, which
// take 2 ms to mark.
func collectSooner() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
