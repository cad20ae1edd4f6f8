package terminal

import (
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// Endings are the signals that end a chat, where the system has them.
var Endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// WatchSignals turns signals into messages of a program, so that all leave by
// the same way; the stop signal suspends it. The goroutine ends with the
// returned func.
func WatchSignals(program *tea.Program, input *Reader, screen *Screen, leave func(interrupted bool) tea.Msg) (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, Endings...)
	if stopSignal != nil {
		signal.Notify(signals, stopSignal)
	}
	sizes := make(chan os.Signal, 1) // of its own: many at once would push another signal out
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
				_ = program.RestoreTerminal() // what is wrong with it shows at the next read
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

// The title of the window is the user's own: Bubble Tea would leave none. The
// terminal keeps it on a stack of titles (XTWINOPS), or ignores both.
const (
	SaveTitle    = "\x1b[22;2t"
	RestoreTitle = "\x1b[23;2t"
)
