package agent

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Guarded runs f in its own goroutine: a panic is an error, and the wait
// ends with ctx even if f does not heed it; its goroutine then ends when f does.
func Guarded[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	type ending struct {
		value T
		err   error
	}
	ends := make(chan ending, 1)
	go func() {
		var e ending
		defer func() { ends <- e }()
		defer Catch(&e.err)
		e.value, e.err = f(ctx)
	}()
	select {
	case e := <-ends:
		return e.value, e.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// PanicError is a fault of LifeHub itself, caught so that the terminal and
// the conversation survive.
type PanicError struct{ Fault any }

func (e *PanicError) Error() string {
	return fmt.Sprintf("something broke inside LifeHub: %v", e.Fault)
}

// BrokenBy makes an error of a fault that was caught. Where it happened is kept
// in the log: nothing else tells it.
func BrokenBy(fault any) error {
	slog.Error("panic", "fault", fault, "stack", string(debug.Stack()))
	return &PanicError{fault}
}

// Catch turns a panic into an error. Defer it.
func Catch(err *error) {
	if r := recover(); r != nil {
		*err = BrokenBy(r)
	}
}

// Safely runs f and logs a panic: for a goroutine whose error nobody waits for.
func Safely(f func()) {
	var err error
	defer Catch(&err)
	f()
}
