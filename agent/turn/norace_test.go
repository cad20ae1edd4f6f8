//go:build !race

package turn

// share is the part of the long tables that runs: all.
const share = 1
