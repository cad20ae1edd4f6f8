//go:build !linux

package cli

// yieldToScreen does nothing where threads have no priority of their own.
func yieldToScreen() {}
