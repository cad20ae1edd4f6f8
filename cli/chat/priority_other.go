//go:build !linux

package chat

// yieldToScreen does nothing where threads have no priority of their own.
func yieldToScreen() {}
