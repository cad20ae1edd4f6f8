//go:build !unix

package tui

import (
	"os"

	tea "charm.land/bubbletea/v2"
)

// stopSignal is nil: there is no such signal.
var stopSignal os.Signal

func suspend() tea.Msg { return nil }

func halt() {}

// jobControl returns false: a program cannot be suspended.
func jobControl() bool { return false }
