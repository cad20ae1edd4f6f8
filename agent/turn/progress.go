package turn

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
)

// progressEvery is how often the answer is kept while it streams. What is
// lost when LifeHub is killed was said within this time and that of a write.
const progressEvery = 250 * time.Millisecond

// spoken is the answer as it grows. The turn writes it, and another goroutine
// keeps it meanwhile.
type spoken struct {
	mu   sync.Mutex
	text strings.Builder
}

// Len is how much was said, in bytes.
func (s *spoken) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Len()
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// WriteString adds the next piece.
func (s *spoken) WriteString(piece string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(piece)
}

// keepAnswer keeps what has been said so far, again and again, so that a kill
// takes at most the last half second. Call what it returns at the end of the
// reply: its goroutine has then ended. The stream never waits for a write.
func (t *turn) keepAnswer(ctx context.Context) (stop func()) {
	if t.Journal == nil || t.id == "" {
		return func() {}
	}
	over := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() {
		var broke error
		defer func() {
			if agent.Catch(&broke); broke != nil {
				t.emit(agent.Noticed{Text: fmt.Sprintf("The answer so far could not be kept: %v.", broke)})
			}
		}()
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		kept, told := len(t.saved.text), false
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			text := t.answer.String()
			if len(text) <= kept { // nothing new, or not yet as much as before the turn was cut
				continue
			}
			if t.readUntrusted() {
				t.rememberSaid(ctx, text)
			}
			err := t.Journal.Progress(context.WithoutCancel(ctx), t.id, text)
			if err == nil {
				kept = len(text)
			} else if !told { // once; it is tried again all the same
				told = true
				t.emit(agent.Noticed{Text: fmt.Sprintf("The answer so far could not be kept: %v.", err)})
			}
		}
	})
	return func() {
		close(over)
		keeper.Wait()
	}
}
