package agent

import (
	"sync"
	"time"
)

// userWait measures the time during which a turn waited only for the user: no
// call of a tool or of the model was running.
type userWait struct {
	mu      sync.Mutex
	asking  int           // unanswered questions
	working int           // running calls that are not waiting for an answer
	since   time.Time     // last change
	waited  time.Duration // total up to since
}

// change adjusts the numbers of questions and calls, and counts the time since
// the last change if it was spent waiting only for the user.
func (w *userWait) change(now time.Time, asking, working int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking > 0 && w.working == 0 {
		w.waited += now.Sub(w.since)
	}
	w.asking += asking
	w.working += working
	w.since = now
}

// CountWork counts a call as running until done is called.
func (s *Stream) CountWork() (done func()) {
	s.userWait.change(s.Now(), 0, 1)
	return func() { s.userWait.change(s.Now(), 0, -1) }
}

// WaitForUser counts a question until answered is called. Meanwhile, working
// running calls are not counted, because they wait for the answer.
func (s *Stream) WaitForUser(working int) (answered func()) {
	s.userWait.change(s.Now(), 1, -working)
	return func() { s.userWait.change(s.Now(), -1, working) }
}

// waited returns the time spent waiting only for the user, in milliseconds.
func (s *Stream) waited() int64 {
	s.userWait.change(s.Now(), 0, 0)
	s.userWait.mu.Lock()
	defer s.userWait.mu.Unlock()
	return s.userWait.waited.Milliseconds()
}
