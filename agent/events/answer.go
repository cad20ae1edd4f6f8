package events

import (
	"context"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
)

// answer is the answer as it grows. The turn writes it, and another goroutine
// keeps it meanwhile.
type answer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Said is the answer so far.
func (s *Stream) Said() string {
	s.answer.mu.Lock()
	defer s.answer.mu.Unlock()
	return s.answer.text.String()
}

// HasSaid reports whether anything of the answer was said.
func (s *Stream) HasSaid() bool { return s.Said() != "" }

// Say streams the next piece of the answer.
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

// ReachedLimit marks an answer that ended at the model's limit, and says so.
func (s *Stream) ReachedLimit() {
	s.Cut = true
	s.Notice("The answer reached the model's length limit and is incomplete.")
}

// progressEvery is how often the answer is saved while it streams. What is
// lost when LifeHub is killed was said within this time and that of a write.
const progressEvery = 250 * time.Millisecond

// KeepAnswer saves what has been said so far, again and again, so that a kill
// takes at most the last half second; saved is as much as is saved already, and
// before is called with each text that is to be saved. Call what it returns at the
// end of the reply: its goroutine has then ended. The stream never waits for a
// write.
func (s *Stream) KeepAnswer(ctx context.Context, saved int, before func(text string)) (stop func()) {
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
		told := false
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			text := s.Said()
			if len(text) <= saved { // nothing new, or not yet as much as before the turn was interrupted
				continue
			}
			before(text)
			err := s.Journal.Progress(context.WithoutCancel(ctx), s.Turn, text)
			if err == nil {
				saved = len(text)
			} else if !told { // once; it is tried again all the same
				told = true
				s.Notice("The answer so far could not be saved: %v.", err)
			}
		}
	})
	return func() {
		close(over)
		keeper.Wait()
	}
}
