//go:build race

package work

// share is the part of the long tables that runs: the race detector makes
// each case ten times as long, and finds no more in more of them.
const share = 8
