//go:build !unix

package terminal

import (
	"os"

	tea "charm.land/bubbletea/v2"
)

// stopSignal: none asks us to suspend.
var stopSignal os.Signal

func Suspend() tea.Msg { return nil }

func halt() {}

// JobControl: there is nothing to suspend to.
func JobControl() bool { return false }
