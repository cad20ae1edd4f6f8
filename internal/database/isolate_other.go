//go:build !linux

package database

// isolate leaves the mapped file where it is: closing may be another fault. On
// Windows nobody can cut a file that is mapped.
func isolate(string) (cut bool, err error) { return false, nil }

// isOpen reports that nothing is known.
func isOpen(string) (open, orphan bool) { return false, false }
