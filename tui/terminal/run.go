package terminal

import (
	"context"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
)

// Run runs a model on the terminal until it quits, and restores the terminal. leave returns the
// message to send on a signal. over is called when the model has quit, while signals are still
// caught.
func Run(ctx context.Context, model tea.Model, leave func(interrupted bool) tea.Msg, over func()) error {
	input := NewReader(os.Stdin)
	screen := NewScreen(os.Stdout, os.Environ())
	program := NewProgram(model, screen, tea.WithContext(ctx), tea.WithInput(input),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg { return screen.Filter(input.WithTexts(msg)) }))
	defer WatchSignals(program, input, screen, leave)()
	fmt.Print(SaveTitle)
	defer fmt.Print(RestoreTitle)
	err := screen.Enter()
	if err == nil {
		_, err = program.Run()
	}
	screen.Leave()
	over()
	return err
}

// NewProgram returns a program whose frames are shown by screen. The caller handles signals and
// calls the screen's Enter and Leave.
func NewProgram(model tea.Model, screen *Screen, options ...tea.ProgramOption) *tea.Program {
	width, height := screen.Size()
	program := tea.NewProgram(onScreen{model, screen}, append([]tea.ProgramOption{
		tea.WithoutSignalHandler(), tea.WithoutRenderer(), tea.WithFPS(1), // there is nothing to draw
		tea.WithOutput(screen), tea.WithWindowSize(width, height), tea.WithColorProfile(screen.renderer.Profile),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg { return screen.Filter(msg) }),
	}, options...)...)
	screen.send = program.Send
	return program
}

// onScreen is a model that shows its view on a screen after every update.
type onScreen struct {
	tea.Model
	screen *Screen
}

func (o onScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer func() {
		if fault := recover(); fault != nil {
			o.screen.Leave() // Bubble Tea prints the panic on the normal screen
			panic(fault)
		}
	}()
	model, cmd := o.Model.Update(msg)
	o.Model = model
	o.screen.Show(model.View())
	return o, cmd
}

// View is empty because Bubble Tea must not draw.
func (o onScreen) View() tea.View { return tea.View{} }
