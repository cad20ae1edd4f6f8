package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Endings are the signals that end a chat, where the system has them.
var Endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// WatchSignals turns signals into messages of a program, so that all leave by
// the same way; the stop signal suspends it. The goroutine ends with the
// returned func.
func WatchSignals(program *tea.Program, input *Reader, leave func(interrupted bool) tea.Msg) (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, Endings...)
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
				if s != stopSignal {
					program.Send(leave(s == os.Interrupt))
					continue
				}
				if program.ReleaseTerminal() == nil {
					time.Sleep(shortestVisit) // a process that is stopped runs nothing
					halt()
				}
				input.Resume()
				_ = program.RestoreTerminal() // what is wrong with it shows at the next read
				program.Send(tea.ClearScreen())
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// The title of the window is the user's own: Bubble Tea would leave none. The
// terminal keeps it on a stack of titles (XTWINOPS), or ignores both.
const (
	SaveTitle    = "\x1b[22;2t"
	RestoreTitle = "\x1b[23;2t"
)
