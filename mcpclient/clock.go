package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lifehub/agent"
)

// clock limits the duration of one server's calls. It is paused while the user
// answers a question, since that time is not the server's fault.
type clock struct {
	mu     sync.Mutex
	calls  map[*running]struct{}
	pauses int
	empty  chan struct{} // nil while calls are accepted; else closed when the last one has ended
}

// running is a call in progress.
type running struct {
	host  *agent.Host // host of the calling tool; may be nil
	began time.Time
	timer *time.Timer
	end   time.Time     // deadline, while the clock runs
	left  time.Duration // remaining time, while the clock is paused
	asked int           // number of questions to the user during the call
}

// errReplaced rejects calls to a server whose entry in mcp.json was changed or
// removed.
var errReplaced = errors.New("its entry in mcp.json has changed")

// limit returns a context that is cancelled with cause when the clock has run for
// limit.
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

// drain stops accepting calls. The returned channel is closed when the calls in
// progress have ended.
func (c *clock) drain() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.empty = make(chan struct{})
	if len(c.calls) == 0 {
		close(c.empty)
	}
	return c.empty
}

// maxAsked bounds the questions during one call. Each pauses the clock, so a
// server that keeps asking would never time out.
const maxAsked = 20

// maxQuestions bounds the questions of one server that wait for the user.
const maxQuestions = 8

// pause stops the clock until resume is called. It fails if no call is in
// progress, or if there are too many questions, at once or during the call.
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
		return nil, fmt.Errorf("the user was already asked %d times during this call", maxAsked)
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

// host returns the host of the most recent call: servers do not report on behalf
// of which call they ask.
func (c *clock) host() *agent.Host {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.last(func(call *running) bool { return call.host != nil })
	if call == nil {
		return nil
	}
	return call.host
}

// last returns the most recent call that fits, or nil.
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
