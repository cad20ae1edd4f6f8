package turn

import (
	"sync"
	"time"
)

// patience measures how long a turn waited for the user and for nothing else.
type patience struct {
	mu      sync.Mutex
	asking  int // questions that wait for the user
	working int // calls of tools and of the model that do not wait for one
	since   time.Time
	waited  time.Duration
}

// change counts what begins, or with a negative number ends, at a moment.
func (p *patience) change(now time.Time, asking, working int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking > 0 && p.working == 0 {
		p.waited += now.Sub(p.since)
	}
	p.asking += asking
	p.working += working
	p.since = now
}

// works counts a call as work until done is called.
func (t *turn) works() (done func()) {
	t.patience.change(t.Now(), 0, 1)
	return func() { t.patience.change(t.Now(), 0, -1) }
}

// asks counts a question until it is answered; working is the calls that wait
// for the answer with it.
func (t *turn) asks(working int) (answered func()) {
	t.patience.change(t.Now(), 1, -working)
	return func() { t.patience.change(t.Now(), -1, working) }
}

// waited is how long nothing but the user was waited for, in milliseconds.
func (t *turn) waited() int64 {
	t.patience.change(t.Now(), 0, 0)
	t.patience.mu.Lock()
	defer t.patience.mu.Unlock()
	return t.patience.waited.Milliseconds()
}
