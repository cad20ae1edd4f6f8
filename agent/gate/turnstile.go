package gate

import (
	"context"
	"slices"
	"sync"
	"time"

	"lifehub/agent"
)

// lineTimeout bounds how long a question waits for those of earlier steps,
// which may first have to read a note from a slow disk.
const lineTimeout = 2 * time.Second

// Turnstile is the place of a step in the queue of its plan: steps that run in
// parallel ask their questions in the order of the plan, and those that may change
// something run in that order. A nil *Turnstile never waits.
type Turnstile struct {
	before  []*Turnstile
	after   []<-chan struct{} // each closed when a step has ended on which this one depends
	past    chan struct{}     // closed when the step has asked, or will not ask
	once    sync.Once
	writers []*Turnstile  // the earlier steps that may change something, and do not depend on this one
	over    chan struct{} // closed when the step has ended, or will not run
	ended   sync.Once
}

// free reports whether all dependencies of the step have ended.
func (l *Turnstile) free() bool {
	for _, ended := range l.after {
		select {
		case <-ended:
		default:
			return false
		}
	}
	return true
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

// WaitToWrite waits until the earlier steps that may change something have ended.
func (l *Turnstile) WaitToWrite(ctx context.Context) error {
	if l == nil {
		return nil
	}
	for _, b := range l.writers {
		select {
		case <-b.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Leave lets the later steps ask and run.
func (l *Turnstile) Leave() {
	if l != nil {
		l.LetNext()
		l.ended.Do(func() { close(l.over) })
	}
}

// QueueUp returns a turnstile for each step; ended[id] is closed when that step
// ends.
func QueueUp(steps []agent.Step, ended map[string]chan struct{}, mayWrite func(agent.Step) bool) []*Turnstile {
	line := make([]*Turnstile, len(steps))
	for i, step := range steps {
		var writers []*Turnstile
		waiting := waitingFor(steps, step.ID)
		for j, earlier := range steps[:i] {
			if mayWrite(earlier) && !waiting[earlier.ID] {
				writers = append(writers, line[j])
			}
		}
		line[i] = &Turnstile{before: line[:i], writers: writers, past: make(chan struct{}), over: make(chan struct{})}
		for _, id := range step.After {
			line[i].after = append(line[i].after, ended[id])
		}
	}
	return line
}

// waitingFor returns the ids of the steps that wait for the step with an id, directly or
// through others.
func waitingFor(steps []agent.Step, id string) map[string]bool {
	waiting := map[string]bool{}
	for known := -1; known < len(waiting); {
		known = len(waiting)
		for _, s := range steps {
			if slices.ContainsFunc(s.After, func(after string) bool { return after == id || waiting[after] }) {
				waiting[s.ID] = true
			}
		}
	}
	return waiting
}
