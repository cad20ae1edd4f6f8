package agent

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"lifehub/internal/files"
)

// Guarded runs f in its own goroutine and turns a panic into an error. It
// returns when ctx ends, even if f ignores ctx; the goroutine ends when f
// returns.
func Guarded[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	return files.Await(ctx, func() (value T, err error) {
		defer Catch(&err)
		return f(ctx)
	})
}

// PanicError is a panic in LifeHub itself, caught so that the terminal and the
// conversation survive.
type PanicError struct{ Fault any }

func (e *PanicError) Error() string {
	return fmt.Sprintf("something broke inside LifeHub: %v", e.Fault)
}

// BrokenBy turns a caught panic into an error and logs the stack, which is
// recorded nowhere else.
func BrokenBy(fault any) error {
	slog.Error("panic", "fault", fault, "stack", string(debug.Stack()))
	return &PanicError{fault}
}

// Catch turns a panic into an error. It must be deferred.
func Catch(err *error) {
	if r := recover(); r != nil {
		*err = BrokenBy(r)
	}
}

// Safely runs f and logs a panic. It is for goroutines that return no error.
func Safely(f func()) {
	var err error
	defer Catch(&err)
	f()
}
