//go:build !unix

package tui

import "os"

// endings are the signals that end the screen.
var endings = []os.Signal{os.Interrupt}

// jobControl: there is nothing to suspend to.
func jobControl() bool { return false }
