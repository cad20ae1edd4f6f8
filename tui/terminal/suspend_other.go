//go:build !unix

package terminal

import (
	"os"

	tea "charm.land/bubbletea/v2"
)

// stopSignal and sizeSignal are nil: there is no such signal, and sizes are read with the keys.
var stopSignal, sizeSignal os.Signal

func Suspend() tea.Msg { return nil }

func halt() {}

// JobControl returns false: a program cannot be suspended.
func JobControl() bool { return false }
