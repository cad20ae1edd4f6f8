//go:build !race

package work

// share is the part of the long tables that runs.
const share = 3
