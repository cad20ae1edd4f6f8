package events

import (
	"context"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
)

// answer is the answer as it grows. The turn writes it while another goroutine
// saves it.
type answer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Text returns the answer so far.
func (s *Stream) Text() string {
	s.answer.mu.Lock()
	defer s.answer.mu.Unlock()
	return s.answer.text.String()
}

// Say emits the next piece of the answer.
func (s *Stream) Say(text string) {
	if text == "" {
		return
	}
	text, s.Lead = s.Lead+text, ""
	if s.Metrics.FirstToken == 0 {
		s.Metrics.FirstToken = s.Since(s.began) - s.waited()
	}
	s.answer.mu.Lock()
	s.answer.text.WriteString(text)
	s.answer.mu.Unlock()
	s.Emit(agent.Said{Content: text})
}

// ReachedLimit marks the answer as cut at the model's length limit, and emits a
// notice.
func (s *Stream) ReachedLimit() {
	s.Cut = true
	s.Notice("The answer reached the model's length limit and is incomplete.")
}

// progressEvery is how often the answer is saved while it streams. A crash
// loses at most what was emitted in that time and that of one write.
const progressEvery = 250 * time.Millisecond

// KeepAnswer saves the answer periodically, so that a crash loses at most the
// last half second. saved is the number of bytes saved before, and origin
// returns where the text comes from. The caller must call stop at the end of the
// reply; it waits for the goroutine to end. Emitting never waits for a write.
func (s *Stream) KeepAnswer(ctx context.Context, saved int, origin func() agent.Origin) (stop func()) {
	if s.Journal == nil || s.Turn == "" {
		return func() {}
	}
	over := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() {
		var broke error
		defer func() {
			if agent.Catch(&broke); broke != nil {
				s.Notice("The answer so far could not be saved: %v.", broke)
			}
		}()
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		reported := false
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			text := s.Text()
			if len(text) <= saved { // nothing new, or less than before the turn was interrupted
				continue
			}
			err := s.Journal.Progress(context.WithoutCancel(ctx), s.Turn, text, origin())
			if err == nil {
				saved = len(text)
			} else if !reported { // report once, but keep trying
				reported = true
				s.Notice("The answer so far could not be saved: %v.", err)
			}
		}
	})
	return func() {
		close(over)
		keeper.Wait()
	}
}
