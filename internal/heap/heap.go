// Package heap says when the heap is collected: first when the program holds 16
// MB, which no start does, then as Go has it or as told. GOGC, where it is set,
// counts. Why: docs/design/performance.md.
package heap

import (
	"os"
	"runtime"
	"sync/atomic"
	_ "unsafe" // for go:linkname
)

// first is the growth at which the heap is collected for the first time, in
// percent; what it grows from is taken for 4 MB at least.
const first = 400

// then is the growth from the first collection on.
var then atomic.Int32

// A start without it collects before main too. Like cli/version, this package is
// initialized before those that take the time, as it waits for os alone.
func init() {
	then.Store(100)
	set(first)
	runtime.AddCleanup(new([16]byte), func(int) { set(then.Load()) }, 0)
}

// Collect has the heap collected at so many percent of growth from now on.
func Collect(percent int32) {
	then.Store(percent)
	set(percent)
}

func set(percent int32) {
	if os.Getenv("GOGC") == "" {
		setGCPercent(percent)
	}
}

// setGCPercent is [runtime/debug.SetGCPercent]. That package is not imported, as
// it waits for reflect and fmt, and all that comes before them.
//
//go:linkname setGCPercent runtime/debug.setGCPercent
func setGCPercent(percent int32) int32
