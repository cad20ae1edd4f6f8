package files

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Await runs a call that cannot be cancelled, such as one of the operating system, and waits for it
// until ctx ends. The call itself then goes on in its goroutine, and its result is dropped.
func Await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if fault := recover(); fault != nil {
				r.err = fmt.Errorf("%v\n%s", fault, debug.Stack())
			}
			done <- r
		}()
		r.value, r.err = call()
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// answerTime is how long a folder has to answer a first question: much longer than any disk takes,
// and what a person waits for once.
const answerTime = 2 * time.Second

// ErrSilent is the error of a folder that does not answer, such as one on a network drive that is
// gone or a mount whose program has stopped.
var ErrSilent = errors.New("the folder does not answer; its drive or mount may be gone")

// Promptly is Await for a first call about a folder. It returns ErrSilent if the folder takes too
// long.
func Promptly[T any](call func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	value, err := Await(ctx, call)
	if errors.Is(err, context.DeadlineExceeded) {
		err = ErrSilent
	}
	return value, err
}
