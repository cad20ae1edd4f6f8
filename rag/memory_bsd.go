//go:build unix && !linux

package rag

// hugePages does nothing: the system decides.
func hugePages([]byte) {}
