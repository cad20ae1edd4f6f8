//go:build !linux

package tui

import "os"

// ahead returns 0: the number is not available on this system.
func ahead(*os.File) int { return 0 }
