//go:build !linux

package chatcmd

// lowerPriority does nothing: only Linux has priorities per thread.
func lowerPriority() {}
