package servers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// protocols are the two protocols of model servers.
var protocols = []string{"ollama", "openai"}

func openFaulty(t *testing.T, f *llmtest.Faults, protocol string) llm.Provider {
	t.Helper()
	return open(t, llm.Settings{
		Provider: protocol, OllamaHost: f.URL, OpenAIURL: f.URL + "/v1",
		Model: llmtest.FaultModel,
	})
}

func say(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

func TestMisbehavingServerIsReportedAndNothingIsLost(t *testing.T) {
	refused := func(err error) bool {
		var status *llm.StatusError
		return errors.As(err, &status)
	}
	cut := func(err error) bool { return errors.Is(err, llm.ErrCut) }
	cases := map[llmtest.Fault]struct {
		at   int
		want func(error) bool // nil: no error
		text string           // part of the answer that must arrive
	}{
		llmtest.None:           {text: llmtest.FaultyAnswer},
		llmtest.Busy:           {text: llmtest.FaultyAnswer},
		llmtest.OneByteAtATime: {text: llmtest.FaultyAnswer},
		llmtest.BadUTF8:        {text: "The ans\uFFFD\uFFFD\uFFFD( is long enough to be cut at many places, größer als null."},
		llmtest.Refuse:         {want: func(err error) bool { return errors.Is(err, llm.ErrUnreachable) }},
		llmtest.Status500:      {want: refused},
		llmtest.Status429:      {want: refused},
		llmtest.Reset:          {at: 250, want: cut, text: "The answer "},
		llmtest.CleanEnd:       {at: 250, want: cut, text: "The answer "},
		llmtest.HalfLine:       {at: 250, want: cut, text: "The answer "},
		llmtest.ErrorObject:    {at: 250, want: cut, text: "The answer "},
		llmtest.Endless:        {want: cut, text: "and_0 and_1 "},
		llmtest.LongLine:       {want: cut},
		llmtest.WrongType:      {want: refused},
		llmtest.Redirect:       {want: refused},
		llmtest.Garbage:        {want: cut},
		llmtest.Nothing:        {want: cut},
		llmtest.Circles:        {at: 250, want: cut, text: "The answer "},
		llmtest.CallThenEnd:    {want: cut, text: llmtest.FaultyAnswer},
	}
	for fault, c := range cases {
		for _, protocol := range protocols {
			t.Run(protocol+" "+string(fault), func(t *testing.T) {
				t.Parallel()
				f := llmtest.NewFaults(t)
				p := openFaulty(t, f, protocol)
				if _, err := p.Info(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				f.Set(fault, c.at)
				message, _, err := llm.Collect(p.Stream(t.Context(), say("hello")))
				switch {
				case c.want == nil && err != nil:
					t.Errorf("got error %v, want none", err)
				case c.want != nil && (err == nil || !c.want(err)):
					t.Errorf("got error %v (%T), want another", err, err)
				}
				if err != nil && (strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 500) {
					t.Errorf("the error is no line for a screen: %.300q", err)
				}
				if !strings.HasPrefix(message.Text, c.text) || (c.want == nil && message.Text != c.text) {
					t.Errorf("got text %.80q, want %.80q", message.Text, c.text)
				}
				if len(message.Calls) > 0 {
					t.Errorf("a tool call of a cut answer was handed on: %v", message.Calls)
				}
				f.Set(llmtest.None, 0)
				if again, _, err := llm.Collect(p.Stream(t.Context(), say("hello"))); err != nil ||
					again.Text != llmtest.FaultyAnswer {
					t.Errorf("the next request: got %q, %v", again.Text, err)
				}
			})
		}
	}
}

func TestAnswerCutAnywhereKeepsWhatArrived(t *testing.T) {
	step := 31 // bytes
	if os.Getenv("LIFEHUB_SOAK") == "1" {
		step = 1
	}
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			f := llmtest.NewFaults(t)
			p := openFaulty(t, f, protocol)
			// Nothing is missing after the finish reason.
			whole := bytes.LastIndex(llmtest.Answered(llmtest.FaultyAnswer, protocol == "openai"), []byte("stop"))
			for _, fault := range []llmtest.Fault{
				llmtest.Reset, llmtest.CleanEnd,
				llmtest.HalfLine, llmtest.ErrorObject,
			} {
				for at := 1; at < whole; at += step {
					f.Set(fault, at)
					message, _, err := llm.Collect(p.Stream(t.Context(), say("hello")))
					var refused *llm.StatusError // an error before the first piece
					if !errors.Is(err, llm.ErrCut) && !errors.Is(err, llm.ErrUnreachable) &&
						!(errors.As(err, &refused) && message.Text == "") {
						t.Fatalf("%s after %d bytes: got error %v", fault, at, err)
					}
					if !strings.HasPrefix(llmtest.FaultyAnswer, message.Text) {
						t.Fatalf("%s after %d bytes: got text %q", fault, at, message.Text)
					}
				}
			}
		})
	}
}

func TestCancellingEndsAHang(t *testing.T) {
	for _, fault := range []llmtest.Fault{llmtest.HangBefore, llmtest.HangMiddle, llmtest.Endless, llmtest.Status429} {
		for _, protocol := range protocols {
			t.Run(protocol+" "+string(fault), func(t *testing.T) {
				f := llmtest.NewFaults(t)
				p := openFaulty(t, f, protocol)
				if _, err := p.Info(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				f.Set(fault, 250)
				cancelled(t, f, p, fault)
			})
		}
	}
}

// cancelled cancels a request that would hang until the test ends, and fails if
// its stream does not end with the context's error.
func cancelled(t *testing.T, f *llmtest.Faults, p llm.Provider, fault llmtest.Fault) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	silent := fault != llmtest.HangMiddle && fault != llmtest.Endless
	if silent { // the request has arrived, and no answer will follow
		go func() {
			select {
			case <-f.Arrived():
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	var last error
	for _, err := range p.Stream(ctx, say("hello")) {
		if err == nil && !silent {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) || errors.Is(last, llm.ErrCut) {
		t.Errorf("got error %v, want context.Canceled", last)
	}
}

func TestRetriesOnlyBeforeTheFirstPiece(t *testing.T) {
	f := llmtest.NewFaults(t)
	for _, protocol := range protocols {
		p := openFaulty(t, f, protocol)
		f.Set(llmtest.Reset, 250)
		before := len(f.Bodies())
		if _, _, err := llm.Collect(p.Stream(t.Context(), say("hello"))); !errors.Is(err, llm.ErrCut) {
			t.Errorf("%s: got error %v, want ErrCut", protocol, err)
		}
		if n := len(f.Bodies()) - before; n != 1 {
			t.Errorf("%s: a cut answer was asked for %d times", protocol, n)
		}
		f.Set(llmtest.Busy, 0)
		before = len(f.Bodies())
		if _, _, err := llm.Collect(p.Stream(t.Context(), say("hello"))); err != nil {
			t.Errorf("%s: got error %v after a busy server", protocol, err)
		}
		if n := len(f.Bodies()) - before; n != 3 {
			t.Errorf("%s: a busy server was asked %d times, want 3", protocol, n)
		}
	}
}

func TestAllOllamaRequestsUseTheSameWindow(t *testing.T) {
	f := llmtest.NewFaults(t)
	p := open(t, llm.Settings{Provider: "ollama", OllamaHost: f.URL, Window: 6000, KeepAlive: 10 * time.Minute})
	second := say("more")
	second.MaxTokens = 77
	for _, req := range []llm.Request{say("hello"), second} {
		if _, _, err := llm.Collect(p.Stream(t.Context(), req)); err != nil {
			t.Fatal(err)
		}
	}
	for i, body := range f.Bodies() {
		var sent struct {
			Truncate, Shift *bool
			Options         map[string]float64
			KeepAlive       string `json:"keep_alive"`
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Truncate == nil || *sent.Truncate || sent.Shift == nil || *sent.Shift ||
			sent.Options["num_ctx"] != 6000 || sent.KeepAlive != "10m0s" {
			t.Errorf("request %d: %s", i, body)
		}
		if want := float64(77 * i); sent.Options["num_predict"] != want {
			t.Errorf("request %d: num_predict %v, want %v", i, sent.Options["num_predict"], want)
		}
	}
	if n := len(f.Bodies()); n != 2 {
		t.Errorf("got %d requests", n)
	}
}
