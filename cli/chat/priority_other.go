//go:build !linux

package chat

// lowerPriority does nothing: only Linux has priorities per thread.
func lowerPriority() {}
