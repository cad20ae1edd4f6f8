//go:build race

package testenv

// Race: the race detector is on, which makes everything slower and bigger.
const Race = true
