//go:build !unix

package terminal

import (
	"os"

	tea "charm.land/bubbletea/v2"
)

// stopSignal and sizeSignal: none asks us to suspend, and sizes come with the keys.
var stopSignal, sizeSignal os.Signal

func Suspend() tea.Msg { return nil }

func halt() {}

// JobControl: there is nothing to suspend to.
func JobControl() bool { return false }
