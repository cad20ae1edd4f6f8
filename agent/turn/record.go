package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"lifehub/agent"
)

// entryVersion is the form of an Entry. Those of another form are not acted on.
const entryVersion = 1

// journal keeps entries before the next thing happens. A turn without a
// journal cannot be resumed; everything else is the same.
func (t *turn) journal(ctx context.Context, entries ...agent.Entry) error {
	if t.Journal == nil || t.id == "" {
		return nil
	}
	now := t.Now()
	for i := range entries {
		entries[i].Version, entries[i].Time = entryVersion, now
	}
	if err := t.Journal.Record(ctx, t.id, entries...); err != nil {
		return fmt.Errorf("note down what is about to happen: %w", err)
	}
	return nil
}

// intend is the entry of a call before it passes the gate.
func intend(c call) agent.Entry {
	return agent.Entry{Moment: agent.Intended, Step: c.step, Tool: c.tool.Spec().Name, Input: bytes.Clone(c.input), Hash: hash(c.input)}
}

// begun records that a permitted call starts. When it returns an error, the
// call must not run.
func (t *turn) begun(ctx context.Context, c call, p *permit) error {
	start := agent.Entry{Moment: agent.CallStarted, Step: c.step}
	if checker, ok := c.tool.(agent.Checker); ok {
		mark, err := agent.Guarded(ctx, func(ctx context.Context) (json.RawMessage, error) {
			return checker.Mark(agent.WithIdempotencyKey(ctx, c.key), bytes.Clone(p.input))
		})
		if err == nil { // else its run will say why; and if it is cut, it is asked about
			start.Mark = mark
		}
	}
	if p.asked {
		return t.journal(ctx, start)
	}
	return t.journal(ctx, intend(c), agent.Entry{Moment: agent.Decided, Step: c.step, Decision: agent.AllowByRule, Reason: p.reason}, start)
}

// over records how a call ended. One that was stopped before it began stays
// open, and one that was stopped in the middle stays unknown.
func (t *turn) over(ctx context.Context, c call, o outcome) {
	if o.stopped {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	entry := agent.Entry{Moment: agent.CallEnded, Step: c.step, Status: o.status, Reason: o.reason, Effects: t.effectsBy(c.step)}
	if o.status == agent.Done || o.result.Untrusted {
		entry.Result = &o.result
	}
	if err := t.journal(ctx, entry); err != nil {
		t.emit(agent.Noticed{Text: fmt.Sprintf("The result of step %s could not be kept: %v. If LifeHub is stopped now, it will ask about this step again.", c.step, err)})
	}
}
