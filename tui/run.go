package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/measure"
	"lifehub/tui/terminal"
)

// farewell is how long a stopped turn may take to save what it has.
const farewell = 2 * time.Second

// framesPerSecond is how often a picture may reach the terminal, the most that
// Bubble Tea allows: a key waits for the next one, and so does the first.
// What streams in comes less often (see frame).
const framesPerSecond = 120

// Run shows the screen until the user leaves, and says how. It owns the
// terminal meanwhile: nothing else may write to stdout or stderr. On every way
// out, signals and panics included, the terminal is as it was before and the
// open turn was given time to save what was streamed.
func Run(ctx context.Context, options backend.Options) (how backend.Ended, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	measure.ByCharacters(true) // until the terminal says otherwise
	m, err := New(ctx, options)
	if err != nil {
		return backend.Quit, err
	}
	input := terminal.NewReader(os.Stdin)
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond),
		tea.WithInput(input), tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg { return input.WithPasted(msg) }))
	stop := terminal.WatchSignals(program, input, func(interrupted bool) tea.Msg {
		if interrupted {
			return leaveMsg(backend.Interrupted)
		}
		return leaveMsg(backend.Terminated)
	})
	defer stop()
	fmt.Print(terminal.SaveTitle)
	defer fmt.Print(terminal.RestoreTitle)
	_, err = program.Run()
	cancel()
	m.finish()
	_ = m.draft.Take(m.typedState())(context.WithoutCancel(ctx), "") // nobody can be told any more
	switch {
	case m.opening.Err != nil:
		return backend.Quit, m.opening.Err
	case errors.Is(err, tea.ErrProgramKilled) && errors.Is(err, context.Canceled):
		return backend.Terminated, nil
	case err != nil:
		return m.leaving.exit, fmt.Errorf("screen: %w", err)
	}
	return m.leaving.exit, nil
}

// finish reads an open turn to its end, so that it can save what it has.
func (m *Model) finish() {
	if m.turn == nil || m.turn.events == nil {
		return
	}
	late := time.After(farewell)
	for {
		select {
		case _, open := <-m.turn.events:
			if !open {
				return
			}
		case <-late:
			return
		}
	}
}
