package agent

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// guarded runs f in a goroutine of its own: a panic is an error, and the wait
// ends with ctx even if f does not heed it; its goroutine then ends when f does.
func guarded[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	type ending struct {
		value T
		err   error
	}
	ends := make(chan ending, 1)
	go func() {
		var e ending
		defer func() { ends <- e }()
		defer catch(&e.err)
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

// panicError is a fault of LifeHub itself, caught so that the terminal and
// the conversation survive.
type panicError struct{ fault any }

func (e *panicError) Error() string {
	return fmt.Sprintf("something broke inside LifeHub: %v", e.fault)
}

// broken makes an error of a fault that was caught. Where it happened is kept
// in the log: nothing else tells it.
func broken(fault any) error {
	slog.Error("panic", "fault", fault, "stack", string(debug.Stack()))
	return &panicError{fault}
}

// catch turns a panic into an error. Defer it.
func catch(err *error) {
	if r := recover(); r != nil {
		*err = broken(r)
	}
}
