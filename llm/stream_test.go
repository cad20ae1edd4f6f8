package llm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// attempts runs the given attempts in order, and repeats the last one forever.
func attempts(list ...attempt) (try attempt, count *int) {
	count = new(int)
	return func(ctx context.Context, emit func(Delta) error) error {
		*count++
		return list[min(*count, len(list))-1](ctx, emit)
	}, count
}

func refused(context.Context, func(Delta) error) error {
	return unreachable(&url.URL{Host: "127.0.0.1:11434"}, "", errors.New("connection refused"))
}

func answers(pieces ...string) attempt {
	return func(_ context.Context, emit func(Delta) error) error {
		for _, piece := range pieces {
			if err := emit(Delta{Text: piece}); err != nil {
				return err
			}
		}
		return emit(Delta{Usage: &Usage{Stopped: StopEnd}})
	}
}

func TestStartingServerIsRetriedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		try, count := attempts(refused, refused, answers("here"))
		m, _, err := Collect(Stream(t.Context(), Limits{}, try))
		if err != nil || m.Text != "here" || *count != 3 {
			t.Errorf("got %q, %v after %d tries", m.Text, err, *count)
		}
		if took := time.Since(begun); took < 300*time.Millisecond || took > 600*time.Millisecond {
			t.Errorf("it waited %v", took)
		}
		try, count = attempts(refused)
		if _, _, err := Collect(Stream(t.Context(), Limits{}, try)); !errors.Is(err, ErrUnreachable) ||
			*count != tries {
			t.Errorf("got %v after %d tries", err, *count)
		}
	})
}

func TestLoadingModelIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		loading := func(context.Context, func(Delta) error) error { // as reported by llama-server
			return &StatusError{Code: 503, Message: "Loading model"}
		}
		slow := func(ctx context.Context, emit func(Delta) error) error {
			if time.Since(begun) < time.Hour {
				return loading(ctx, emit)
			}
			return answers("here")(ctx, emit)
		}
		if m, _, err := Collect(Stream(t.Context(), Limits{}, slow)); err != nil || m.Text != "here" {
			t.Errorf("got %q, %v", m.Text, err)
		}
		try, count := attempts(func(context.Context, func(Delta) error) error {
			return &StatusError{
				Code:    503,
				Message: "server busy",
			}
		})
		if _, _, err := Collect(Stream(t.Context(), Limits{}, try)); err == nil || *count != tries {
			t.Errorf("a busy one: %v after %d tries", err, *count)
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		busy := func(context.Context, func(Delta) error) error {
			return &StatusError{Code: 429, Message: "later", RetryAfter: 4 * time.Second}
		}
		try, _ := attempts(busy, answers("now"))
		if m, _, err := Collect(Stream(t.Context(), Limits{}, try)); err != nil || m.Text != "now" {
			t.Errorf("got %q, %v", m.Text, err)
		}
		if took := time.Since(begun); took != 4*time.Second {
			t.Errorf("it waited %v", took)
		}
	})
}

func TestCancellingEndsAPauseImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		begun := time.Now()
		try, _ := attempts(refused)
		if _, _, err := Collect(Stream(ctx, Limits{}, try)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begun); took != 50*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// prober answers probes with its errors in turn, and the last one for ever.
type prober []error

func (p *prober) Alive(ctx context.Context) error {
	err := (*p)[0]
	if len(*p) > 1 {
		*p = (*p)[1:]
	}
	if errors.Is(err, context.DeadlineExceeded) {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

// A model that works is waited for; a server that is gone is not.
func TestOnlyALostServerEndsTheWait(t *testing.T) {
	const day = 24 * time.Hour
	after := func(wait time.Duration, text string) attempt {
		return func(ctx context.Context, emit func(Delta) error) error {
			if text != "" {
				if err := emit(Delta{Text: text}); err != nil {
					return err
				}
			}
			select {
			case <-time.After(wait):
				return answers("done")(ctx, emit)
			case <-ctx.Done():
				return io.ErrUnexpectedEOF // as a read on a closed connection returns
			}
		}
	}
	gone, mute, busy := errors.New("connection refused"), context.DeadlineExceeded, &StatusError{Code: 503}
	for name, c := range map[string]struct {
		limits Limits
		text   string // before the silence
		wait   time.Duration
		ends   time.Duration // 0: it is waited for
	}{
		"without a probe":             {Limits{}, "", day, 0},
		"in the middle":               {Limits{FirstToken: time.Minute}, "so far ", day, 0},
		"the first token, by setting": {Limits{FirstToken: time.Minute}, "", day, time.Minute},
		"a server that answers":       {Limits{Server: &prober{gone, gone, nil, gone, mute, busy}}, "", day, 0},
		"one that never answered":     {Limits{Server: &prober{mute}}, "", day, 0},
		"one that is gone":            {Limits{Server: &prober{nil, gone}}, "so far ", day, 4 * probeEvery},
		"one that hangs":              {Limits{Server: &prober{nil, mute}}, "", day, 4*probeEvery + 3*probeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				m, _, err := Collect(Stream(t.Context(), c.limits, after(c.wait, c.text)))
				if c.ends == 0 {
					if err != nil || m.Text != c.text+"done" {
						t.Errorf("got %q, %v", m.Text, err)
					}
					return
				}
				if took := time.Since(begun); took != c.ends || !errors.Is(err, ErrCut) ||
					!TimedOut(err) || m.Text != c.text {
					t.Errorf("got %q, %v after %v, want %v", m.Text, err, took, c.ends)
				}
			})
		})
	}
}

func TestSilentServerIsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mute := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		begun := time.Now()
		if _, err := Within(t.Context(), QuestionTimeout, mute); !errors.Is(err, ErrUnreachable) ||
			time.Since(begun) != QuestionTimeout {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Within(ctx, QuestionTimeout, mute); errors.Is(err, ErrUnreachable) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled: got %v", err)
		}
	})
}

func TestSlowConnectionIsNotRetried(t *testing.T) {
	_, err := (&net.Dialer{Timeout: time.Nanosecond}).Dial("tcp", "127.0.0.1:1")
	late := unreachable(&url.URL{Host: "127.0.0.1:1"}, "", err)
	if !errors.Is(late, ErrUnreachable) || retryable(late) {
		t.Errorf("%v would be tried again: four times %v instead of one", late, connectTimeout)
	}
}

func TestToolCallsComeOnlyFromCompleteAnswers(t *testing.T) {
	call := Delta{Call: &ToolCall{ID: "1", Name: "add_task"}}
	whole := func(_ context.Context, emit func(Delta) error) error {
		_ = emit(Delta{Text: "I add it. "})
		_ = emit(call)
		return emit(Delta{Usage: &Usage{}})
	}
	torn := func(_ context.Context, emit func(Delta) error) error {
		_ = emit(call)
		_ = emit(Delta{Text: "I add it. "})
		return io.ErrUnexpectedEOF
	}
	if m, _, err := Collect(Stream(t.Context(), Limits{}, whole)); err != nil || len(m.Calls) != 1 || m.Text == "" {
		t.Errorf("whole: got %+v, %v", m, err)
	}
	if m, _, err := Collect(Stream(t.Context(), Limits{}, torn)); !errors.Is(err, ErrCut) ||
		len(m.Calls) != 0 || m.Text == "" {
		t.Errorf("torn: got %+v, %v", m, err)
	}
}

func TestLocalAddressesAreRecognised(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:1": true, "http://127.0.0.1:1": true, "http://127.8.9.1": true, "http://[::1]:1": true,
		"http://0.0.0.0": true, "http://ollama.localhost": true, "http://LOCALHOST.": true,
		"http://[::ffff:127.0.0.1]": true,
		"https://api.openai.com/v1": false, "http://192.0.2.1:11434": false, "http://localhost.example.org": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := ThisMachine(u); got != want {
			t.Errorf("%s: got %v", address, got)
		}
	}
}

// The reason of a retry is yielded before it, and a wait that is too long ends
// the request.
func TestReasonOfARetryIsYielded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := func(wait time.Duration) attempt {
			return func(context.Context, func(Delta) error) error {
				return &StatusError{Code: 429, Message: "busy", RetryAfter: wait}
			}
		}
		var got []string
		try, _ := attempts(busy(5*time.Second), answers("Yes."))
		begun := time.Now()
		for d, err := range Stream(t.Context(), Limits{}, try) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d.Waiting+d.Text)
		}
		if want := []string{
			(&StatusError{Code: 429, Message: "busy", RetryAfter: 5 * time.Second}).Error(), "Yes.",
			"",
		}; !slices.Equal(got, want) || time.Since(begun) != 5*time.Second {
			t.Errorf("got %q after %v", got, time.Since(begun))
		}
		try, count := attempts(busy(time.Hour))
		if _, _, err := Collect(Stream(t.Context(), Limits{}, try)); err == nil || *count != 1 {
			t.Errorf("%d tries, %v", *count, err)
		}
	})
}
