//go:build race

package mcpclient

// raceEnabled: the race detector multiplies the use of memory.
const raceEnabled = true
