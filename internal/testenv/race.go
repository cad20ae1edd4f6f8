//go:build race

package testenv

// Race reports whether the race detector is on, which needs more time and memory.
const Race = true
