package llm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
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
		m, _, err := Collect(Stream(t.Context(), 0, try))
		if err != nil || m.Text != "here" || *count != 3 {
			t.Errorf("got %q, %v after %d tries", m.Text, err, *count)
		}
		if took := time.Since(begun); took < 300*time.Millisecond || took > 600*time.Millisecond {
			t.Errorf("it waited %v", took)
		}
		try, count = attempts(refused)
		if _, _, err := Collect(Stream(t.Context(), 0, try)); !errors.Is(err, ErrUnreachable) || *count != tries {
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
			if time.Since(begun) < 100*time.Second {
				return loading(ctx, emit)
			}
			return answers("here")(ctx, emit)
		}
		if m, _, err := Collect(Stream(t.Context(), 0, slow)); err != nil || m.Text != "here" {
			t.Errorf("got %q, %v", m.Text, err)
		}
		begun = time.Now()
		if _, _, err := Collect(Stream(t.Context(), 0, loading)); err == nil {
			t.Error("what loads for ever is no error")
		}
		if took := time.Since(begun); took < FirstTokenTimeout || took > FirstTokenTimeout+2*time.Second {
			t.Errorf("it waited %v", took)
		}
		begun = time.Now()
		try, count := attempts(func(context.Context, func(Delta) error) error { return &StatusError{Code: 503, Message: "server busy"} })
		if _, _, err := Collect(Stream(t.Context(), 0, try)); err == nil || *count != tries {
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
		if m, _, err := Collect(Stream(t.Context(), 0, try)); err != nil || m.Text != "now" {
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
		if _, _, err := Collect(Stream(ctx, 0, try)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begun); took != 50*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

func TestSilenceIsBounded(t *testing.T) {
	silent := func(ctx context.Context, _ func(Delta) error) error {
		<-ctx.Done()
		return io.ErrUnexpectedEOF // as a read on a closed connection returns
	}
	thenSilent := func(ctx context.Context, emit func(Delta) error) error {
		if err := emit(Delta{Text: "so far "}); err != nil {
			return err
		}
		return silent(ctx, emit)
	}
	for name, c := range map[string]struct {
		try  attempt
		text string
		wait time.Duration
	}{
		"before the first token": {silent, "", FirstTokenTimeout},
		"in the middle":          {thenSilent, "so far ", idleTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				m, _, err := Collect(Stream(t.Context(), 0, c.try))
				if took := time.Since(begun); took != c.wait {
					t.Errorf("it took %v, want %v", took, c.wait)
				}
				if !errors.Is(err, ErrCut) || !strings.Contains(err.Error(), c.wait.String()) || m.Text != c.text {
					t.Errorf("got %q, %v", m.Text, err)
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
		if _, err := Within(t.Context(), QuestionTimeout, mute); !errors.Is(err, ErrUnreachable) || time.Since(begun) != QuestionTimeout {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Within(ctx, QuestionTimeout, mute); errors.Is(err, ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
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

func TestSlowReaderDoesNotCountAsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, err := range Stream(t.Context(), 0, answers("a ", "b ")) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * idleTimeout) // the fake clock of the synctest bubble
		}
	})
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
	if m, _, err := Collect(Stream(t.Context(), 0, whole)); err != nil || len(m.Calls) != 1 || m.Text == "" {
		t.Errorf("whole: got %+v, %v", m, err)
	}
	if m, _, err := Collect(Stream(t.Context(), 0, torn)); !errors.Is(err, ErrCut) || len(m.Calls) != 0 || m.Text == "" {
		t.Errorf("torn: got %+v, %v", m, err)
	}
}

func TestLocalAddressesAreRecognised(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:1": true, "http://127.0.0.1:1": true, "http://127.8.9.1": true, "http://[::1]:1": true,
		"http://0.0.0.0": true, "http://ollama.localhost": true, "http://LOCALHOST.": true, "http://[::ffff:127.0.0.1]": true,
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
		for d, err := range Stream(t.Context(), 0, try) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d.Waiting+d.Text)
		}
		if want := []string{"the model server was asked too often (429 Too Many Requests): busy; the server asks to wait 5 s", "Yes.", ""}; !slices.Equal(got, want) || time.Since(begun) != 5*time.Second {
			t.Errorf("got %q after %v", got, time.Since(begun))
		}
		try, count := attempts(busy(time.Hour))
		if _, _, err := Collect(Stream(t.Context(), 0, try)); err == nil || *count != 1 {
			t.Errorf("%d tries, %v", *count, err)
		}
	})
}
