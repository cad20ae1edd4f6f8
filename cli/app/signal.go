package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
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

// CancelOnSignal cancels on the first signal, with a SignalError as the cause; a second signal ends
// the process. Calling stop ends its goroutine.
func CancelOnSignal(cancel context.CancelCauseFunc) (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			cancel(SignalError{Signal: s})
			signal.Stop(signals)
		case <-done:
		}
	}()
	return func() { signal.Stop(signals); close(done) }
}
