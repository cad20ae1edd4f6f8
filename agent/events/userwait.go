package events

import (
	"sync"
	"time"
)

// userWait measures how long a turn waited for the user and for nothing else.
type userWait struct {
	mu      sync.Mutex
	asking  int // questions that wait for the user
	working int // calls of tools and of the model that do not wait for one
	since   time.Time
	waited  time.Duration
}

// change counts what begins, or with a negative number ends, at a moment.
func (p *userWait) change(now time.Time, asking, working int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking > 0 && p.working == 0 {
		p.waited += now.Sub(p.since)
	}
	p.asking += asking
	p.working += working
	p.since = now
}

// CountWork counts a call as work until done is called.
func (s *Stream) CountWork() (done func()) {
	s.userWait.change(s.Now(), 0, 1)
	return func() { s.userWait.change(s.Now(), 0, -1) }
}

// WaitForUser counts a question until it is answered; working is the calls that wait
// for the answer with it.
func (s *Stream) WaitForUser(working int) (answered func()) {
	s.userWait.change(s.Now(), 1, -working)
	return func() { s.userWait.change(s.Now(), -1, working) }
}

// waited is how long nothing but the user was waited for, in milliseconds.
func (s *Stream) waited() int64 {
	s.userWait.change(s.Now(), 0, 0)
	s.userWait.mu.Lock()
	defer s.userWait.mu.Unlock()
	return s.userWait.waited.Milliseconds()
}
