package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/gate"
	"lifehub/internal/text"
)

// attach records the attachments of the message and reads what it names, before
// planning.
func (t *turn) attach(ctx context.Context) error {
	for i, a := range t.answer.with {
		step := agent.Step{ID: fmt.Sprintf("attached %d", i+1), Tool: attachTool, Description: a.Name}
		t.steps.found = append(t.steps.found, finding{step: step, Outcome: Outcome{Status: agent.Done, Result: t.readAttached(ctx, a)}})
	}
	if err := t.attachNamed(ctx); err != nil {
		return err
	}
	t.steps.attached = len(t.steps.found)
	t.replanned = t.steps.attached
	return nil
}

// readAttached records an attachment, which is untrusted.
func (t *turn) readAttached(ctx context.Context, a agent.Attachment) agent.Result {
	result := agent.Result{Text: a.Text, Untrusted: true}
	t.record.AddOwn(t.notesLike(ctx, a.Text)...)
	t.record.Mark(ctx, a.Name, true, &result, "")
	t.record.Read(a.Name, result)
	return result
}

// notesLike returns the trusted text of the user's notes that a pasted text may
// come from, so that pasting part of a note does not make the note untrusted.
func (t *turn) notesLike(ctx context.Context, pasted string) (own []string) {
	tool := t.steps.tool(agent.SearchNotes)
	if tool == nil || t.answer.reread == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, at := range []int{0, len(pasted) / 2, max(0, len(pasted)-maxTopic)} {
		input, err := args.Of(map[string]any{"query": strings.ToValidUTF8(text.Clip(pasted[at:], maxTopic), "")})
		if err != nil {
			continue
		}
		found, err := gate.Look(ctx, tool, input)
		if err != nil { // then all of it stays untrusted
			continue
		}
		for _, s := range found.Sources {
			if seen[s.Vault+s.Path] || s.Untrusted {
				continue
			}
			seen[s.Vault+s.Path] = true
			if note, ok := t.answer.reread(agent.Source{Path: s.Path, Vault: s.Vault, Line: 1, EndLine: math.MaxInt}); ok {
				own = append(own, t.record.OwnLines(ctx, note)...)
			}
		}
	}
	return own
}

// attachNamed reads what the message names.
func (t *turn) attachNamed(ctx context.Context) error {
	if t.agent.Attach == nil {
		return nil
	}
	typed := gate.Outside(t.answer.question)
	names, unknown := t.agent.Attach.Find(typed)
	if whose := t.record.QuotedIn(t.answer.question); len(whose) > 0 && len(names) > 0 {
		t.events.Notice("The @names in this message are not read, because not all of it was typed by you: %s.", strings.Join(whose, ", "))
		return nil
	}
	unknown = slices.DeleteFunc(unknown, func(name string) bool {
		return t.steps.tool(name) != nil || t.steps.missing[name] != ""
	})
	if len(unknown) > 0 {
		t.events.Notice("No note, file or tool is named @%s, so it is plain text; type @ for a list.", strings.Join(unknown, ", @"))
	}
	for i, name := range names {
		id := fmt.Sprintf("@%d", i+1)
		input, err := json.Marshal(map[string]string{"name": name})
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		t.events.Emit(agent.ToolStarted{Step: id, Call: id, Name: attachTool, Input: input})
		start := t.events.Now()
		result, err := agent.Guarded(ctx, func(ctx context.Context) (agent.Result, error) { return t.agent.Attach.Read(ctx, name) })
		o := outcomeOf(ctx, result, err)
		o.Result.Text, o.Reason = text.Clip(t.steps.redact(o.Result.Text), MaxResult), t.steps.redact(o.Reason)
		t.record.Mark(ctx, name, err != nil || o.Result.Untrusted, &o.Result, o.Reason)
		t.events.Emit(agent.ToolEnded{Step: id, Call: id, Name: attachTool, Output: o.Result.Text, Error: o.Reason, Sources: o.Result.Sources, Took: t.events.Since(start)})
		t.steps.found = append(t.steps.found, finding{step: agent.Step{ID: id, Tool: attachTool, Description: name}, Outcome: o})
		t.record.Read(name, o.Result)
		t.record.Called(nil, args.Read(input))
		if err != nil {
			t.record.MarkError(name)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
