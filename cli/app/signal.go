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

// Is reports that LifeHub ends by no will of the user: a turn then stays open.
func (e SignalError) Is(target error) bool {
	return target == agent.ErrShutdown && e.Signal != os.Interrupt
}

// WasInterrupted reports whether ctx ended by an interrupt.
func WasInterrupted(ctx context.Context) bool {
	var caught SignalError
	return errors.As(context.Cause(ctx), &caught) && caught.Signal == os.Interrupt
}

// CancelOnSignal cancels with the signal as the cause; a second one ends the
// process at once. Its goroutine ends with the returned stop.
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
