//go:build !unix

package tui

import (
	"os"

	tea "charm.land/bubbletea/v2"
)

// stopSignal: none asks us to suspend.
var stopSignal os.Signal

func suspend() tea.Msg { return nil }

func halt() {}

// jobControl: there is nothing to suspend to.
func jobControl() bool { return false }
