package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lifehub/agent"
)

// clock limits the duration of one server's calls. While the user answers a
// question no time passes, and each call has its full limit again afterwards.
type clock struct {
	mu      sync.Mutex
	calls   []*running // in the order in which they began
	pauses  int
	closed  bool // no calls are accepted
	running sync.WaitGroup
}

// running is a call in progress.
type running struct {
	host  *agent.Host // host of the calling tool; may be nil
	limit time.Duration
	timer *time.Timer
	asked int // number of questions to the user during the call
}

// errReplaced rejects calls to a server whose entry in mcp.json was changed or
// removed.
var errReplaced = errors.New("its entry in mcp.json has changed")

// limit returns a context that is cancelled with cause when the call takes longer
// than limit.
func (c *clock) limit(ctx context.Context, limit time.Duration, cause error) (context.Context, func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errReplaced
	}
	ctx, cancel := context.WithCancelCause(ctx)
	call := &running{host: agent.HostFrom(ctx), limit: limit, timer: time.AfterFunc(limit, func() { cancel(cause) })}
	if c.pauses > 0 {
		call.timer.Stop()
	}
	c.calls = append(c.calls, call)
	c.running.Add(1)
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls = slices.DeleteFunc(c.calls, func(one *running) bool { return one == call })
		call.timer.Stop()
		cancel(context.Canceled)
		c.running.Done()
	}, nil
}

// close stops accepting calls. The calls in progress go on.
func (c *clock) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// maxAsked bounds the questions during one call. Each stops the clock, so a
// server that keeps asking would never time out.
const maxAsked = 20

// maxQuestions bounds the questions of one server that wait for the user.
const maxQuestions = 8

// pause stops the clock until resume is called. It fails if no call is in
// progress, or if there are too many questions, at once or during the call that
// began last: servers do not report on behalf of which call they ask.
func (c *clock) pause() (host *agent.Host, resume func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) == 0 {
		return nil, nil, errors.New("the user can be asked only during a call")
	}
	call := c.calls[len(c.calls)-1]
	switch {
	case c.pauses == maxQuestions:
		return nil, nil, errors.New("the user is being asked too much at once")
	case call.asked == maxAsked:
		return nil, nil, fmt.Errorf("the user was already asked %d times during this call", maxAsked)
	}
	call.asked++
	c.pauses++
	for _, call := range c.calls {
		call.timer.Stop()
	}
	return call.host, sync.OnceFunc(c.resume), nil
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses--; c.pauses > 0 {
		return
	}
	for _, call := range c.calls {
		call.timer.Reset(call.limit)
	}
}
