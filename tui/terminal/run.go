package terminal

import (
	"context"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
)

// FramesPerSecond is how often a picture may reach the terminal, the most that
// Bubble Tea allows: a key waits for the next one, and so does the first.
// What streams in comes less often (see tui/batch).
const FramesPerSecond = 120

// Run gives the terminal to a model until that quits, and has it back as it was.
// leave is what the model is told by a signal; over is called when it has quit,
// while a signal still does no harm.
func Run(ctx context.Context, model tea.Model, leave func(interrupted bool) tea.Msg, over func()) error {
	input := NewReader(os.Stdin)
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(FramesPerSecond),
		tea.WithInput(input), tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg { return input.WithPasted(msg) }))
	defer WatchSignals(program, input, leave)()
	fmt.Print(SaveTitle)
	defer fmt.Print(RestoreTitle)
	_, err := program.Run()
	over()
	return err
}
