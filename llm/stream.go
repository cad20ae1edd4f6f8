package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// QuestionTimeout bounds requests that the server can answer without a model. A
// model that works has no clock: see docs/design/models-and-windows.md.
const QuestionTimeout = 30 * time.Second

// Limits bound one answer. The zero value waits for ever.
type Limits struct {
	Window     int           // tokens; bounds the size of the answer; 0: unknown
	FirstToken time.Duration // longest wait for the first piece; 0: no limit
	Server     Prober        // probed while it works; nil: it is not
}

// Prober is a model server that can be asked whether it is there.
type Prober interface {
	// Alive returns an error if the server does not answer.
	Alive(ctx context.Context) error
}

// How a server is probed: three failures in a row end the request.
const (
	probeEvery   = 30 * time.Second
	probeTimeout = 10 * time.Second
	mostFailures = 3
)

// TimeoutError is an ErrCut: the wait for an answer was ended. Nothing is asked of
// a model after it, because that would take as long.
type TimeoutError struct{ why string }

func (e *TimeoutError) Error() string { return ErrCut.Error() + ": " + e.why }
func (e *TimeoutError) Unwrap() error { return ErrCut }

// Timeout implements the method of net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// TimedOut reports whether an error is that of a time-out, here or at the server.
func TimedOut(err error) bool {
	var clock interface{ Timeout() bool }
	var status *StatusError
	return errors.As(err, &clock) && clock.Timeout() ||
		errors.As(err, &status) && (status.Code == http.StatusRequestTimeout ||
			status.Code == http.StatusGatewayTimeout)
}

// tries bounds the attempts of one request, including the first. It does not
// apply while the server reports that its model is loading.
const tries = 4

// bytesPerToken limits the size of an answer in bytes, for servers that ignore
// token limits. Ordinary text has 2 to 5 bytes per token.
const bytesPerToken = 16

// attempt sends a request once and emits the answer as it arrives. A delta with
// Usage completes the answer.
type attempt func(ctx context.Context, emit func(Delta) error) error

// ErrStopped ends an attempt because the answer is complete or its reader has
// stopped.
var ErrStopped = errors.New("nothing more is wanted")

// Stream runs attempts until one begins to answer, and implements the contract of
// [Model]: it retries only before the first piece, yields ErrCut for an
// incomplete answer, yields tool calls only after a complete one, and limits its
// size.
func Stream(ctx context.Context, limits Limits, try attempt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		var waited retries
		for {
			began, err := once(ctx, limits, try, yield)
			if err == nil {
				return
			}
			if !began && waited.next(err) {
				var status *StatusError
				if errors.As(err, &status) && !yield(Delta{Waiting: err.Error()}, nil) {
					return
				}
				if pause(ctx, min(waited.tried, tries), err) {
					continue
				}
			}
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			yield(Delta{}, err)
			return
		}
	}
}

// once runs one attempt. began reports whether a piece was yielded.
func once(ctx context.Context, limits Limits, try attempt, yield func(Delta, error) bool) (began bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	heard := func() bool { return true }
	if limits.FirstToken > 0 {
		heard = time.AfterFunc(limits.FirstToken, func() {
			cancel(&TimeoutError{fmt.Sprintf("the model said nothing for %v", limits.FirstToken)})
		}).Stop
	}
	defer heard()
	if limits.Server != nil {
		go probe(ctx, limits.Server, cancel)
	}

	var (
		calls  []*ToolCall
		size   int
		circle repetition
		ended  bool
	)
	limit := max(limits.Window, 16<<10) * bytesPerToken
	emit := func(d Delta) error {
		if cause := context.Cause(ctx); cause != nil {
			return cause // cancelled, the model says nothing, or its server is gone
		}
		if d.Reading != nil {
			if !began && !yield(d, nil) {
				return ErrStopped
			}
			return nil
		}
		heard()
		if d.Call != nil {
			calls, d.Call = append(calls, d.Call), nil
		}
		if size += len(d.Text) + len(d.Thinking); size > limit {
			return fmt.Errorf("%w: longer than %d KiB, stopped", ErrCut, limit>>10)
		}
		if circle.add(d.Text + d.Thinking) {
			return fmt.Errorf("%w: repeated output, stopped", ErrCut)
		}
		if d.Usage != nil {
			ended = true
			for _, call := range calls {
				if !yield(Delta{Call: call}, nil) {
					return ErrStopped
				}
			}
		}
		if d.Text != "" || d.Thinking != "" || d.Usage != nil {
			began = true
			if !yield(d, nil) || ended {
				return ErrStopped
			}
		}
		return nil
	}
	err = try(ctx, emit)
	switch cause := context.Cause(ctx); {
	case ended || errors.Is(err, ErrStopped):
		return began, nil
	case cause != nil && err != nil: // the read error is a consequence of the cancellation
		return began, cause
	case err == nil:
		return began, ErrCut
	case began:
		return began, Cut(err)
	}
	return began, err
}

// probe ends a request whose server is gone. It runs until ctx is done. Some servers
// answer nothing else while they work: those are waited for.
func probe(ctx context.Context, server Prober, cancel context.CancelCauseFunc) {
	defer func() {
		if fault := recover(); fault != nil {
			slog.Error("probe the model server", "fault", fault)
		}
	}()
	answered := false
	for failures := 0; failures < mostFailures; {
		select {
		case <-time.After(probeEvery):
		case <-ctx.Done():
			return
		}
		asking, stop := context.WithTimeout(ctx, probeTimeout)
		err := server.Alive(asking)
		var status *StatusError
		switch {
		case err == nil, errors.As(err, &status): // any answer is one
			failures, answered = 0, true
		case asking.Err() == nil || answered:
			failures++
		}
		stop()
	}
	cancel(&TimeoutError{fmt.Sprintf("the model server is gone; it did not answer %d times in a row", mostFailures)})
}

// Cut converts the error that interrupted an answer to an ErrCut.
func Cut(err error) error {
	if errors.Is(err, ErrCut) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return ErrCut
	}
	why := Short(Problem(err))
	if TimedOut(err) {
		return &TimeoutError{why}
	}
	return fmt.Errorf("%w: %s", ErrCut, why)
}

// CutBy returns an ErrCut for an answer that the server ended early for the given
// reason, such as its content filter.
func CutBy(reason string) error {
	return fmt.Errorf("%w: stopped by the server: %s", ErrCut, Short(reason))
}

// retries tracks the attempts of one request.
type retries struct{ tried int }

// next reports whether to try again. A server that reports that its model is
// loading, such as that of llama.cpp, is waited for like those that stay silent
// meanwhile.
func (p *retries) next(err error) bool {
	p.tried++
	return retryable(err) && (p.tried < tries || isLoading(err))
}

// isLoading reports whether an error means that the server's model is still
// loading.
func isLoading(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusServiceUnavailable &&
		strings.Contains(strings.ToLower(status.Message), "loading")
}

// longestWait is the longest Retry-After that is honoured.
const longestWait = 10 * time.Second

// retryable reports whether an error is temporary: the server is starting,
// loading or busy.
func retryable(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.RetryAfter <= longestWait && status.Busy()
	}
	var silent *SilentError
	var foreign *ForeignError
	stopped := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	lasting := errors.As(err, &silent) || errors.As(err, &foreign)
	return errors.Is(err, ErrUnreachable) && !stopped && !lasting
}

// pause waits before attempt n+1: at most 0.2 s, 0.4 s, 0.8 s …, of which a random
// part of the second half is left out, so that clients do not retry in step. It reports whether to continue.
func pause(ctx context.Context, n int, err error) bool {
	d := 200 * time.Millisecond << (n - 1)
	d = d/2 + rand.N(d/2)
	var status *StatusError
	if errors.As(err, &status) && status.RetryAfter > 0 {
		d = status.RetryAfter
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// SilentError reports a server that accepts a request but does not answer in
// time. It matches ErrUnreachable and is not retried, because a retry would take
// as long.
type SilentError struct{ timeout time.Duration }

func (e *SilentError) Error() string {
	return fmt.Sprintf("%v: no answer for %v", ErrUnreachable, e.timeout)
}
func (e *SilentError) Unwrap() error { return ErrUnreachable }

// Timeout implements the method of net.Error.
func (e *SilentError) Timeout() bool { return true }

// Within runs a request about the server with a timeout.
func Within[T any](ctx context.Context, timeout time.Duration, ask func(context.Context) (T, error)) (T, error) {
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	v, err := ask(asking)
	if err != nil && asking.Err() != nil && ctx.Err() == nil {
		err = &SilentError{timeout}
	}
	return v, err
}

// Again runs a request that is not streamed, with the same retries as Stream.
func Again[T any](ctx context.Context, do func() (T, error)) (T, error) {
	for waited := (retries{}); ; {
		v, err := do()
		if err == nil || !waited.next(err) || !pause(ctx, min(waited.tried, tries), err) {
			if err != nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			return v, err
		}
	}
}

// Short shortens a server's message to one line for use in an error.
func Short(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	const most = 200
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
