package files

import (
	"context"
	"fmt"
	"runtime/debug"
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
