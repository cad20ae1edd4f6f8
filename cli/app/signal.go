package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"lifehub/agent"
)

// SignalError is the signal that ended LifeHub.
type SignalError struct{ os.Signal }

func (e SignalError) Error() string { return e.String() }

// Is reports a signal other than an interrupt as agent.ErrShutdown, so that the running turn can be
// resumed.
func (e SignalError) Is(target error) bool {
	return target == agent.ErrShutdown && e.Signal != os.Interrupt
}

// WasInterrupted reports whether ctx was cancelled by an interrupt.
func WasInterrupted(ctx context.Context) bool {
	var caught SignalError
	return errors.As(context.Cause(ctx), &caught) && caught.Signal == os.Interrupt
}

// Signals are the signals that cancel the context of a command.
type Signals struct {
	caught chan os.Signal
	letGo  chan struct{} // closed by LetGo
	once   sync.Once
}

// CancelOnSignal cancels on the first signal, with a SignalError as the cause; a second signal ends
// the process. LetGo ends its goroutine.
func CancelOnSignal(cancel context.CancelCauseFunc) *Signals {
	s := &Signals{caught: make(chan os.Signal, 2), letGo: make(chan struct{})}
	signal.Notify(s.caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case caught := <-s.caught:
			cancel(SignalError{Signal: caught})
			signal.Stop(s.caught)
		case <-s.letGo:
		}
	}()
	return s
}

// LetGo stops signals from cancelling the context, so that the running code can handle them.
func (s *Signals) LetGo() {
	if s != nil {
		s.once.Do(func() { signal.Stop(s.caught); close(s.letGo) })
	}
}
