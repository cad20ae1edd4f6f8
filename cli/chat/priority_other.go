//go:build !linux

package chat

// lowerPriority does nothing: only Linux has a priority for each thread.
func lowerPriority() {}
