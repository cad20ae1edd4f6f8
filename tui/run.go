package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/measure"
)

// farewell is how long a stopped turn may take to save what it has.
const farewell = 2 * time.Second

// framesPerSecond is how often a picture may reach the terminal, the most that
// Bubble Tea allows: a key waits for the next one, and so does the first.
// What streams in comes less often (see frame).
const framesPerSecond = 120

// The title of the window is the user's own: Bubble Tea would leave none. The
// terminal keeps it on a stack of titles (XTWINOPS), or ignores both.
const (
	keepTitle     = "\x1b[22;2t"
	takeTitleBack = "\x1b[23;2t"
)

// Run shows the screen until the user leaves, and says how. It owns the
// terminal meanwhile: nothing else may write to stdout or stderr. On every way
// out, signals and panics included, the terminal is as it was before and the
// open turn was given time to save what was streamed.
func Run(ctx context.Context, options Options) (how Ended, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	measure.ByCharacters(true) // until the terminal says otherwise
	m, err := New(ctx, options)
	if err != nil {
		return Quit, err
	}
	settings := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)}
	if n := ahead(os.Stdin); n > 0 {
		settings = append(settings, tea.WithInput(&typedAhead{os.Stdin, n}))
	}
	program := tea.NewProgram(m, settings...)
	stop := endOnSignals(program)
	defer stop()
	fmt.Print(keepTitle)
	defer fmt.Print(takeTitleBack)
	_, err = program.Run()
	cancel()
	m.finish()
	_ = m.keeper()(context.WithoutCancel(ctx), "") // nobody can be told any more
	switch {
	case m.opening.err != nil:
		return Quit, m.opening.err
	case errors.Is(err, tea.ErrProgramKilled) && errors.Is(err, context.Canceled):
		return Terminated, nil
	case err != nil:
		return m.how, fmt.Errorf("screen: %w", err)
	}
	return m.how, nil
}

// endOnSignals turns signals into messages, so that all leave by the same way.
// The goroutine ends with the returned func.
func endOnSignals(program *tea.Program) (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endings...)
	if stopSignal != nil {
		signal.Notify(signals, stopSignal)
	}
	done := make(chan struct{})
	go func() {
		defer func() {
			if fault := recover(); fault != nil { // a panic here would leave the terminal raw
				program.Quit()
			}
		}()
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				switch s {
				case stopSignal:
					if program.ReleaseTerminal() == nil {
						halt()
					}
					_ = program.RestoreTerminal() // what is wrong with it shows at the next read
					program.Send(tea.ClearScreen())
				case os.Interrupt:
					program.Send(leaveMsg(Interrupted))
				default:
					program.Send(leaveMsg(Terminated))
				}
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
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
