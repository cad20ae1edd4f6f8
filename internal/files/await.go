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

// answerTime is how long a folder has to answer a question: much longer than any disk takes, and what a
// person waits for once.
const answerTime = 2 * time.Second

// ErrSilent is the error of a folder that does not answer, such as one on a network drive that is
// gone or a mount whose program has stopped.
var ErrSilent = errors.New("the folder does not answer; its drive or mount may be gone")

// silentError is an ErrSilent about a call that goes on until over is closed.
type silentError struct{ over <-chan struct{} }

func (silentError) Error() string { return ErrSilent.Error() }

func (silentError) Is(target error) bool { return target == ErrSilent }

// StillSilent reports whether err is an ErrSilent about a call that has not been answered since.
func StillSilent(err error) bool {
	var silent silentError
	if !errors.As(err, &silent) {
		return false
	}
	select {
	case <-silent.over:
		return false
	default:
		return true
	}
}

// Promptly runs a call about a folder. It gives the call up with ErrSilent if that neither ends nor calls
// beat, which says that the folder has answered, for two seconds.
func Promptly[T any](call func(beat func()) (T, error)) (T, error) {
	over := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	late := time.AfterFunc(answerTime, cancel)
	defer late.Stop()
	value, err := Await(ctx, func() (T, error) {
		defer close(over)
		return call(func() { late.Reset(answerTime) })
	})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = silentError{over}
	}
	return value, err
}
