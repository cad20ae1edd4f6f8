//go:build !race

package citation

// share is the part of the long tables that runs: all.
const share = 1
