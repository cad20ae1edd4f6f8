package tui

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/internal/files"
)

// endSignals are the signals that end a chat.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// patience is the time that a program has to end after a signal: a second longer than its turn has to
// save the answer. Then the terminal is restored and the process ends, whatever it is blocked in.
const exitPatience = 3 * time.Second

// watchSignals turns signals into messages to a program, so that every exit takes the same path.
// The stop signal suspends the program. Calling stop ends its goroutine.
func watchSignals(program *tea.Program, leave func(interrupted bool) tea.Msg) (stop func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endSignals...)
	if stopSignal != nil {
		signal.Notify(signals, stopSignal)
	}
	done := make(chan struct{})
	go func() {
		defer func() {
			if fault := recover(); fault != nil { // a panic here would leave the terminal raw
				program.Kill()
			}
		}()
		late := make(chan os.Signal, 1)
		for {
			select {
			case <-done:
				return
			case s := <-late:
				exit(program, s)
			case s := <-signals:
				if s != stopSignal {
					go program.Send(leave(s == os.Interrupt)) // it blocks while the program is busy
					time.AfterFunc(exitPatience, func() {
						select {
						case late <- s:
						default:
						}
					})
					continue
				}
				if program.ReleaseTerminal() == nil {
					halt()
				}
				_ = program.RestoreTerminal() // the next read reports an error
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// exit restores the terminal, unless that is what blocks, and ends the process as the signal would.
func exit(program *tea.Program, s os.Signal) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = files.Await(ctx, func() (struct{}, error) {
		program.Kill()
		return struct{}{}, nil
	})
	code := 1
	if number, ok := s.(syscall.Signal); ok {
		code = 128 + int(number)
	}
	os.Exit(code)
}
