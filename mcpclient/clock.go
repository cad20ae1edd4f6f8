package mcpclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"lifehub/agent"
)

// clock bounds the calls of one server. While the user is being asked
// something it stands still: thinking is not the server's fault.
type clock struct {
	mu     sync.Mutex
	calls  map[*running]struct{}
	pauses int
}

// running is a call that is under way.
type running struct {
	desk  *agent.Desk // where its tool sits; nil: nowhere
	began time.Time
	timer *time.Timer
	end   time.Time     // when it is over; while the clock runs
	left  time.Duration // what is left of its time; while it stands
}

// limit is a context that ends with cause when limit has passed on the clock.
func (c *clock) limit(ctx context.Context, limit time.Duration, cause error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	call := &running{desk: agent.DeskOf(ctx), began: now, left: limit, end: now.Add(limit)}
	call.timer = time.AfterFunc(limit, func() { cancel(cause) })
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[*running]struct{}{}
	}
	c.calls[call] = struct{}{}
	if c.pauses > 0 {
		call.timer.Stop()
	}
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, call)
		call.timer.Stop()
		cancel(context.Canceled)
	}
}

// pause stops the clock until resume is called. Without a call under way, or
// with too many pauses, it is refused.
func (c *clock) pause() (resume func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) == 0 {
		return nil, errors.New("the user can be asked only during a call")
	}
	if c.pauses == maxQuestions {
		return nil, errors.New("the user is being asked too much at once")
	}
	if c.pauses++; c.pauses == 1 {
		for call := range c.calls {
			if call.timer.Stop() {
				call.left = time.Until(call.end)
			}
		}
	}
	return sync.OnceFunc(c.resume), nil
}

// desk is that of the call that began last: servers do not say for which call
// they ask.
func (c *clock) desk() *agent.Desk {
	c.mu.Lock()
	defer c.mu.Unlock()
	var last *running
	for call := range c.calls {
		if call.desk != nil && (last == nil || call.began.After(last.began)) {
			last = call
		}
	}
	if last == nil {
		return nil
	}
	return last.desk
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses--; c.pauses > 0 {
		return
	}
	for call := range c.calls {
		call.end = time.Now().Add(call.left)
		call.timer.Reset(call.left)
	}
}
