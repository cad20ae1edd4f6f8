package gate

import (
	"context"
	"sync"
	"time"

	"lifehub/agent"
)

// lineTimeout bounds how long a question waits for earlier steps to ask theirs:
// one may have to read a note from a slow disk first.
const lineTimeout = 2 * time.Second

// Turnstile is where a step stands among those of its plan: the questions of steps
// that run side by side come in the order of the plan. nil: it stands alone.
type Turnstile struct {
	before []*Turnstile
	free   func() bool   // all that the step comes after has ended
	past   chan struct{} // closed when it has asked, or asks nothing
	once   sync.Once
}

// wait lets the earlier steps ask first, except those that are not free yet.
func (l *Turnstile) wait(ctx context.Context) error {
	if l == nil {
		return nil
	}
	late := time.NewTimer(lineTimeout)
	defer late.Stop()
	for _, b := range l.before {
		if !b.free() {
			continue
		}
		select {
		case <-b.past:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// LetNext lets the later steps ask.
func (l *Turnstile) LetNext() {
	if l != nil {
		l.once.Do(func() { close(l.past) })
	}
}

// QueueUp gives steps their line; ended closes when a step has.
func QueueUp(steps []agent.Step, ended map[string]chan struct{}) []*Turnstile {
	line := make([]*Turnstile, len(steps))
	for i, step := range steps {
		line[i] = &Turnstile{before: line[:i], past: make(chan struct{}), free: func() bool {
			for _, id := range step.After {
				select {
				case <-ended[id]:
				default:
					return false
				}
			}
			return true
		}}
	}
	return line
}
