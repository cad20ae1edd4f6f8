package app

import (
	"context"
	"errors"
	"os"

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
