package gate

import (
	"context"
	"sync"
	"time"

	"lifehub/agent"
)

// lineTimeout bounds how long a question waits for those of earlier steps,
// which may first have to read a note from a slow disk.
const lineTimeout = 2 * time.Second

// Turnstile is the place of a step in the queue of its plan: steps that run in
// parallel ask their questions in the order of the plan. A nil *Turnstile never
// waits.
type Turnstile struct {
	before []*Turnstile
	free   func() bool   // reports whether all dependencies of the step have ended
	past   chan struct{} // closed when the step has asked, or will not ask
	once   sync.Once
}

// wait waits until the earlier steps have asked, except those whose
// dependencies have not ended.
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

// QueueUp returns a turnstile for each step; ended[id] is closed when that step
// ends.
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
