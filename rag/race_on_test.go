//go:build race

package rag

// underRace: the race detector makes SQLite fifteen times slower, so counts are cut.
const underRace = true
