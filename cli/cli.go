// Package cli is the command line and the wiring: the only package that
// knows all the others. Start with [Main].
package cli

// Main runs the command line and returns the exit code.
func Main() int { return 0 }
