//go:build !linux

package chat

// lowerPriority does nothing where threads have no priority of their own.
func lowerPriority() {}
