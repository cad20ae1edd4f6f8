package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
	"unicode"

	"lifehub/internal/neterr"
)

// The patience with a model server. A first token may wait for a model of
// many gigabytes to load. Why: docs/design/models-and-windows.md.
const (
	FirstTokenTimeout = 120 * time.Second
	idleTimeout       = 60 * time.Second
	// QuestionTimeout is for what a server can answer without a model.
	QuestionTimeout = 30 * time.Second
)

// tries bounds the attempts of one request, the first included, but while the
// server says that its model is loading.
const tries = 4

// bytesPerToken bounds an answer by its bytes, for servers that ignore every
// limit on tokens. Ordinary text has 2 to 5.
const bytesPerToken = 16

// attempt sends a request once and hands on what arrives. A delta with Usage
// says that the answer is complete.
type attempt func(ctx context.Context, emit func(Delta) error) error

// ErrStopped ends an attempt: the answer is complete or its reader has left.
var ErrStopped = errors.New("nothing more is wanted")

// Stream runs attempts until one begins to answer, and gives the promises of
// [Model]: retries only before the first piece, ErrCut without an end, tool
// calls only of a complete answer, a bound on silence and on size.
func Stream(ctx context.Context, window int, try attempt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		waited := retries{began: time.Now()}
		for {
			began, err := once(ctx, window, try, yield)
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

// once is one attempt; began says that a piece was handed on.
func once(ctx context.Context, window int, try attempt, yield func(Delta, error) bool) (began bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// silence runs while the server is waited for, not while the reader reads.
	silence := afterSilence(cancel, FirstTokenTimeout)
	defer func() { silence.Stop() }()

	var (
		calls  []*ToolCall
		size   int
		circle repetition
		ended  bool
	)
	limit := max(window, 16<<10) * bytesPerToken
	emit := func(d Delta) error {
		if cause := context.Cause(ctx); cause != nil {
			return cause // much may have arrived that nobody wants any more
		}
		silence.Stop()
		if d.Call != nil {
			calls, d.Call = append(calls, d.Call), nil
		}
		if size += len(d.Text) + len(d.Thinking); size > limit {
			return fmt.Errorf("%w: it continued past %d KiB", ErrCut, limit>>10)
		}
		if circle.add(d.Text + d.Thinking) {
			return fmt.Errorf("%w: it kept repeating itself", ErrCut)
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
		silence = afterSilence(cancel, idleTimeout)
		return nil
	}
	err = try(ctx, emit)
	switch cause := context.Cause(ctx); {
	case ended || errors.Is(err, ErrStopped):
		return began, nil
	case cause != nil && err != nil: // the broken read came of it
		return began, cause
	case err == nil:
		return began, ErrCut
	case began:
		return began, Cut(err)
	}
	return began, err
}

func afterSilence(cancel context.CancelCauseFunc, d time.Duration) *time.Timer {
	return time.AfterFunc(d, func() {
		cancel(fmt.Errorf("%w: the model said nothing for %v", ErrCut, d))
	})
}

// Cut says why an answer ended before its end.
func Cut(err error) error {
	if errors.Is(err, ErrCut) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return ErrCut
	}
	return fmt.Errorf("%w: %s", ErrCut, Short(neterr.Says(err)))
}

// CutBy is the ErrCut of a server that ended an answer for a reason of its own,
// such as its content filter.
func CutBy(reason string) error {
	return fmt.Errorf("%w: the server ended it: %s", ErrCut, Short(reason))
}

// retries is how long a request has been tried.
type retries struct {
	tried int
	began time.Time
}

// next reports whether there is a next try. A server that says that the model
// is loading, as that of llama.cpp does, has the time that others have who keep
// silent meanwhile.
func (p *retries) next(err error) bool {
	p.tried++
	return retryable(err) && (p.tried < tries || isLoading(err) && time.Since(p.began) < FirstTokenTimeout)
}

// isLoading reports whether an error is that of a server whose model will be there soon.
func isLoading(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusServiceUnavailable && strings.Contains(strings.ToLower(status.Message), "loading")
}

// longestWait is what a server may ask to wait before the next try.
const longestWait = 10 * time.Second

// retryable errors pass by themselves soon: a server that starts, loads or is busy.
func retryable(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.RetryAfter <= longestWait && (status.Code == http.StatusTooManyRequests || status.Code == http.StatusServiceUnavailable)
	}
	var silent *SilentError
	var foreign *ForeignError
	return errors.Is(err, ErrUnreachable) && !errors.As(err, &silent) && !errors.As(err, &foreign) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// pause waits before try n+1: 0.2 s, 0.4 s, 0.8 s …, each half by chance, so
// that several clients do not come back at once. It reports whether to go on.
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

// SilentError is the ErrUnreachable of a server that takes a question and says
// nothing. Asking it again costs as long.
type SilentError struct{ timeout time.Duration }

func (e *SilentError) Error() string {
	return fmt.Sprintf("%v: it said nothing for %v", ErrUnreachable, e.timeout)
}
func (e *SilentError) Unwrap() error { return ErrUnreachable }

// Within runs a question about the server, which is bounded in time.
func Within[T any](ctx context.Context, timeout time.Duration, ask func(context.Context) (T, error)) (T, error) {
	asking, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	v, err := ask(asking)
	if err != nil && asking.Err() != nil && ctx.Err() == nil {
		err = &SilentError{timeout}
	}
	return v, err
}

// Again runs a request that has no pieces, with the same patience.
func Again[T any](ctx context.Context, do func() (T, error)) (T, error) {
	for waited := (retries{began: time.Now()}); ; {
		v, err := do()
		if err == nil || !waited.next(err) || !pause(ctx, min(waited.tried, tries), err) {
			if err != nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			return v, err
		}
	}
}

// Short makes a server's words fit for one line of an error.
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
