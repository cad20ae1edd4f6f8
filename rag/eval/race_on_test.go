//go:build race

package eval

// underRace: the race detector makes the benches take minutes and adds nothing there.
const underRace = true
