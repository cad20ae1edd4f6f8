//go:build unix && !linux

package vectors

// hugePages does nothing: the system decides.
func hugePages([]byte) {}
