package servers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/llm"
	"lifehub/llm/ollama"
)

// told are the states that were reported.
type told []llm.State

func (t *told) Changed(now llm.State) { *t = append(*t, now) }

// probing is a fake server.
type probing func(context.Context) probe

func (f probing) probe(ctx context.Context) probe { return f(ctx) }

func TestWatchFindsAServerThatStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var looks []time.Duration
		var states told
		a := newAuto(&states)
		a.ollama, _ = ollama.New(llm.Settings{Model: "qwen3:8b"})
		a.prober = probing(func(context.Context) probe {
			looks = append(looks, time.Since(begun))
			if time.Since(begun) > 20*time.Second && time.Since(begun) < 60*time.Second {
				return probe{up: true, model: "qwen3:8b"}
			}
			return probe{text: llm.OfflineNotice}
		})
		a.start()
		time.Sleep(2 * time.Minute) // the fake clock of the synctest bubble
		a.Close()
		s := time.Second
		if want := []time.Duration{
			0, 1 * s, 3 * s, 7 * s, 15 * s, 30 * s, 50 * s,
			70 * s,
		}; !slices.Equal(looks[:len(want)], want) {
			t.Errorf("it looked at %v, want %v", looks, want)
		}
		want := []string{
			"offline: ", "ollama: qwen3:8b", "offline: ",
		}
		var notices []string
		for _, s := range states {
			notices = append(notices, s.Provider+": "+s.Model)
			if offline := s.Provider == "offline"; offline != strings.HasSuffix(s.Text, llm.OfflineNotice) {
				t.Errorf("%s told %q", s.Provider, s.Text)
			}
		}
		if !slices.Equal(notices, want) {
			t.Errorf("it told %q", notices)
		}
	})
}

// namedEmbedder supports only Name.
type namedEmbedder struct {
	llm.Embedder
	name string
}

func (e namedEmbedder) Name() string { return e.name }

func TestEarlyRequestWaitsForTheFirstProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuto(nil)
		a.ollama, _ = ollama.New(llm.Settings{})
		a.prober = probing(func(ctx context.Context) probe {
			<-ctx.Done() // a server that accepts the connection and does not answer
			return probe{text: llm.OfflineNotice}
		})
		a.start()
		defer a.Close()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.Embedder(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		begun := time.Now()
		e, err := a.Embedder(t.Context())
		if err != nil || e != nil {
			t.Errorf("got %v, %v", e, err)
		}
		if took := time.Since(begun); took > lookTimeout {
			t.Errorf("it waited %v", took)
		}
	})
}

func TestNewEmbeddingModelIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var states told
		a := newAuto(&states)
		a.ollama, _ = ollama.New(llm.Settings{Model: "qwen3:8b"})
		pulled := false
		a.prober = probing(func(context.Context) probe {
			s := probe{up: true, model: "qwen3:8b", text: "notes are found by words only"}
			if pulled {
				s.text, s.embedder = "", namedEmbedder{name: "ollama/nomic-embed-text:latest@1"}
			}
			return s
		})
		a.start()
		defer a.Close()
		synctest.Wait()
		pulled = true
		a.probeSoon()
		synctest.Wait()
		if len(states) != 2 || states[0].Text == "" || states[1].Text != "" {
			t.Errorf("it told %+v", states)
		}
		if e, _ := a.Embedder(t.Context()); e.Name() != "ollama/nomic-embed-text:latest@1" {
			t.Errorf("its embedder is %s", e.Name())
		}
	})
}
