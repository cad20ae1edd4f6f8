//go:build !linux

package chat

// lowerPriority does nothing where threads have no priority of their own.
func lowerPriority() {}

// releaseProgram does nothing where the system decides alone what stays in memory.
func releaseProgram() {}
