package terminal

import (
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// Endings are the signals that end a chat.
var Endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// WatchSignals turns signals into messages to a program, so that every exit takes the same path.
// The stop signal suspends the program. Calling stop ends its goroutine.
func WatchSignals(program *tea.Program, input *Reader, screen *Screen, leave func(interrupted bool) tea.Msg) (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, Endings...)
	if stopSignal != nil {
		signal.Notify(signals, stopSignal)
	}
	sizes := make(chan os.Signal, 1) // separate, so that many at once do not displace another signal
	if sizeSignal != nil {
		signal.Notify(sizes, sizeSignal)
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
			case <-sizes:
				screen.Resized()
			case s := <-signals:
				if s != stopSignal {
					program.Send(leave(s == os.Interrupt))
					continue
				}
				err := program.ReleaseTerminal()
				screen.Leave()
				if err == nil {
					halt()
				}
				input.Resume()
				_ = screen.Enter()
				_ = program.RestoreTerminal() // the next read reports an error
				screen.Resized()
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		signal.Stop(sizes)
		close(done)
	}
}

// Sequences that save and restore the window title, which Bubble Tea would leave empty. Terminals
// have a stack of titles (XTWINOPS) or ignore both.
const (
	SaveTitle    = "\x1b[22;2t"
	RestoreTitle = "\x1b[23;2t"
)
