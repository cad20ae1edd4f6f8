package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/internal/text"
)

// attach records the attachments of the message and reads what it names, before
// planning.
func (t *turn) attach(ctx context.Context) error {
	for i, a := range t.message.attached {
		step := agent.Step{ID: fmt.Sprintf("attached %d", i+1), Tool: attachTool, Description: a.Name}
		t.steps.found = append(t.steps.found, finding{
			step:    step,
			Outcome: Outcome{Status: agent.Done, Result: t.readAttached(ctx, a)},
		})
	}
	if err := t.attachNamed(ctx); err != nil {
		return err
	}
	t.steps.attached = len(t.steps.found)
	t.plans.seen = t.steps.attached
	return nil
}

// readAttached records an attachment, which is untrusted.
func (t *turn) readAttached(ctx context.Context, a agent.Attachment) agent.Result {
	result := agent.Result{Text: a.Text}
	t.record.Trace(ctx, agent.Origin{}, gate.Channel{Source: a.Name}, &result, "")
	t.record.Read(a.Name, result)
	return result
}

// attachNamed reads what the message names.
func (t *turn) attachNamed(ctx context.Context) error {
	if t.agent.Attach == nil {
		return nil
	}
	names, unknown := t.agent.Attach.Find(t.message.question)
	unknown = slices.DeleteFunc(unknown, func(name string) bool {
		return t.tool(name) != nil || t.missing[name] != ""
	})
	if len(unknown) > 0 {
		t.events.Notice("No note, file or tool is named @%s, so it is plain text; type @ for a list.",
			strings.Join(unknown, ", @"))
	}
	for i, name := range names {
		id := fmt.Sprintf("@%d", i+1)
		input, err := json.Marshal(map[string]string{"name": name})
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		t.events.Emit(agent.ToolStarted{Step: id, Call: id, Name: attachTool, Input: input})
		start := t.events.Now()
		result, err := agent.Guarded(ctx, func(ctx context.Context) (agent.Result,
			error,
		) {
			return t.agent.Attach.Read(ctx, name)
		})
		o := outcomeOf(ctx, result, err)
		o.Result.Text, o.Reason = text.Clip(t.agent.Redact.Known(o.Result.Text), MaxResult),
			t.agent.Redact.Known(o.Reason)
		through := gate.Channel{Own: true}
		if err != nil || o.Result.Untrusted {
			through = gate.Channel{Source: name}
		}
		t.record.Trace(ctx, agent.Origin{}, through, &o.Result, o.Reason)
		t.events.Emit(agent.ToolEnded{
			Step: id, Call: id, Name: attachTool, Output: o.Result.Text, Error: o.Reason,
			Sources: o.Result.Sources, Took: t.events.Since(start),
		})
		t.steps.found = append(t.steps.found, finding{
			step:    agent.Step{ID: id, Tool: attachTool, Description: name},
			Outcome: o,
		})
		t.record.Read(name, o.Result)
		t.record.Called(nil, agent.ParseArgs(input))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
