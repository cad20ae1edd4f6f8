package mcpclient

import (
	"context"
	"errors"
	"fmt"
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
	empty  chan struct{} // nil: calls are taken; else closed when the last one has ended
}

// running is a call that is under way.
type running struct {
	host  *agent.Host // of the tool that makes it; nil: none
	began time.Time
	timer *time.Timer
	end   time.Time     // when it is over; while the clock runs
	left  time.Duration // what is left of its time; while it stands
	asked int           // how often the user was asked during it
}

// errReplaced refuses a call of a server that is not in mcp.json any more as it was.
var errReplaced = errors.New("its entry in mcp.json has changed")

// limit is a context that ends with cause when limit has passed on the clock.
func (c *clock) limit(ctx context.Context, limit time.Duration, cause error) (context.Context, func(), error) {
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	call := &running{host: agent.HostFrom(ctx), began: now, left: limit, end: now.Add(limit)}
	call.timer = time.AfterFunc(limit, func() { cancel(cause) })
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.empty != nil {
		call.timer.Stop()
		cancel(errReplaced)
		return nil, nil, errReplaced
	}
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
		if c.empty != nil && len(c.calls) == 0 {
			close(c.empty)
		}
	}, nil
}

// drain takes no more calls. What it returns is closed when those under way have
// ended.
func (c *clock) drain() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.empty = make(chan struct{})
	if len(c.calls) == 0 {
		close(c.empty)
	}
	return c.empty
}

// maxAsked bounds the questions during one call: its time stands still with
// each, so that one who asks on and on would never come to an end.
const maxAsked = 20

// maxQuestions bounds the questions of one server that wait for the user.
const maxQuestions = 8

// pause stops the clock until resume is called. Without a call under way, or
// with too many pauses at once or in all, it is refused.
func (c *clock) pause() (resume func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.last(func(*running) bool { return true })
	switch {
	case call == nil:
		return nil, errors.New("the user can be asked only during a call")
	case c.pauses == maxQuestions:
		return nil, errors.New("the user is being asked too much at once")
	case call.asked == maxAsked:
		return nil, fmt.Errorf("the user was asked %d times during this call, which is enough", maxAsked)
	}
	call.asked++
	if c.pauses++; c.pauses == 1 {
		for call := range c.calls {
			if call.timer.Stop() {
				call.left = time.Until(call.end)
			}
		}
	}
	return sync.OnceFunc(c.resume), nil
}

// host is that of the call that began last: servers do not say for which call
// they ask.
func (c *clock) host() *agent.Host {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.last(func(call *running) bool { return call.host != nil })
	if call == nil {
		return nil
	}
	return call.host
}

// last is the call that began last of those that fit; nil when none does.
func (c *clock) last(fits func(*running) bool) *running {
	var last *running
	for call := range c.calls {
		if fits(call) && (last == nil || call.began.After(last.began)) {
			last = call
		}
	}
	return last
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
