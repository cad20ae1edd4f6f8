package agent

import (
	"context"
	"sync"
	"time"
)

// answer is the answer as it grows. The turn writes it while another goroutine
// saves it.
type answer struct {
	mu   sync.Mutex
	text []byte
}

// Text returns the answer so far.
func (s *Stream) Text() string {
	s.answer.mu.Lock()
	defer s.answer.mu.Unlock()
	return string(s.answer.text)
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
	s.answer.text = append(s.answer.text, text...)
	s.answer.mu.Unlock()
	s.Emit(Said{Content: text})
}

// Unsay takes back the last n bytes of the answer, which were none.
func (s *Stream) Unsay(n int) {
	s.answer.mu.Lock()
	s.answer.text = s.answer.text[:max(0, len(s.answer.text)-n)]
	s.answer.mu.Unlock()
	s.Emit(Said{Takes: n})
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
func (s *Stream) KeepAnswer(ctx context.Context, saved int, origin func() Origin) (stop func()) {
	if s.Journal == nil || s.Turn == "" {
		return func() {}
	}
	over := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() {
		var broke error
		defer func() {
			if Catch(&broke); broke != nil {
				s.Notice("The answer so far could not be saved: %v.", broke)
			}
		}()
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		reported, kept := false, ""
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			text := s.Text()
			// nothing new, or less than before the turn was interrupted
			if text == kept || kept == "" && len(text) <= saved {
				continue
			}
			err := s.Journal.Progress(context.WithoutCancel(ctx), s.Turn, text, origin())
			if err == nil {
				kept = text
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
