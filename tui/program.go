package tui

import (
	"context"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
)

// Sequences that save and restore the window title, which Bubble Tea would leave empty. Terminals
// have a stack of titles (XTWINOPS) or ignore both.
const (
	saveTitle    = "\x1b[22;2t"
	restoreTitle = "\x1b[23;2t"
)

// runProgram runs a model on the terminal until it quits, and restores the terminal. leave returns the
// message to send on a signal. over is called when the model has quit, while signals are still
// caught.
func runProgram(ctx context.Context, model tea.Model, leave func(interrupted bool) tea.Msg, over func()) error {
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(newInput(os.Stdin)),
		tea.WithoutSignalHandler())
	defer watchSignals(program, leave)()
	fmt.Print(saveTitle)
	defer fmt.Print(restoreTitle)
	_, err := program.Run()
	over()
	return err
}
