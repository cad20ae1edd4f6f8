//go:build !unix

package terminal

import (
	"os"

	tea "charm.land/bubbletea/v2"
)

// stopSignal is nil: there is no such signal.
var stopSignal os.Signal

func Suspend() tea.Msg { return nil }

func halt() {}

// JobControl returns false: a program cannot be suspended.
func JobControl() bool { return false }
