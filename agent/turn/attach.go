package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/answer"
	"lifehub/agent/gate"
	"lifehub/agent/provenance"
	"lifehub/agent/work"
	"lifehub/internal/text"
)

// attach takes in what came with the message and reads what it names, before
// the plan is made.
func (t *turn) attach(ctx context.Context) error {
	for i, a := range t.With {
		brought := agent.Result{Text: a.Text, Untrusted: true}
		step := agent.Step{ID: fmt.Sprintf("attached %d", i+1), Tool: answer.AttachTool, Description: a.Name}
		t.Found = append(t.Found, work.Finding{Step: step, Outcome: work.Outcome{Status: agent.Done, Result: brought}})
		t.AddOwn(t.notesLike(ctx, a.Text)...)
		t.Mark(ctx, a.Name, true, &brought, "")
		t.Read(a.Name, brought)
	}
	if err := t.attachNamed(ctx); err != nil {
		return err
	}
	t.Attached = len(t.Found)
	t.replanned = t.Attached
	return nil
}

// notesLike are the user's own notes that a text may have been taken from,
// without what is untrusted in them: who pastes a part of a note does not make
// the note untrusted.
func (t *turn) notesLike(ctx context.Context, pasted string) (own []string) {
	tool := t.Tool(agent.SearchNotes)
	if tool == nil || t.Reread == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, at := range []int{0, len(pasted) / 2, max(0, len(pasted)-answer.MaxTopic)} {
		input, err := json.Marshal(map[string]string{"query": strings.ToValidUTF8(text.Clip(pasted[at:], answer.MaxTopic), "")})
		if err != nil {
			continue
		}
		found, err := gate.Look(ctx, tool, input)
		if err != nil { // then all of it is taken for untrusted
			continue
		}
		for _, s := range found.Sources {
			if seen[s.Vault+s.Path] || s.Untrusted {
				continue
			}
			seen[s.Vault+s.Path] = true
			if note, ok := t.Reread(agent.Source{Path: s.Path, Vault: s.Vault, Line: 1, EndLine: math.MaxInt}); ok {
				own = append(own, t.OwnLines(ctx, note)...)
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
	typed := provenance.Outside(t.Question)
	names, unknown := t.agent.Attach.Find(typed)
	if whose := t.QuotedIn(t.Question); len(whose) > 0 && len(names) > 0 {
		t.Notice("The @names in this message are not read, because not all of it was typed by you: %s.", strings.Join(whose, ", "))
		return nil
	}
	unknown = slices.DeleteFunc(unknown, func(name string) bool { return t.Tool(name) != nil || t.Missing[name] != "" })
	if len(unknown) > 0 {
		t.Notice("No note, file or tool is called @%s. It counts as ordinary text; typing @ lists what there is.", strings.Join(unknown, ", @"))
	}
	for i, name := range names {
		id := fmt.Sprintf("@%d", i+1)
		input, err := json.Marshal(map[string]string{"name": name})
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		t.Emit(agent.ToolStarted{Step: id, Call: id, Name: answer.AttachTool, Input: input})
		start := t.Now()
		result, err := agent.Guarded(ctx, func(ctx context.Context) (agent.Result, error) { return t.agent.Attach.Read(ctx, name) })
		o := work.Ended(ctx, result, err)
		o.Result.Text, o.Reason = text.Clip(t.Redact(o.Result.Text), work.MaxResult), t.Redact(o.Reason)
		t.Mark(ctx, name, err != nil || o.Result.Untrusted, &o.Result, o.Reason)
		t.Emit(agent.ToolEnded{Step: id, Call: id, Name: answer.AttachTool, Output: o.Result.Text, Error: o.Reason, Sources: o.Result.Sources, Took: t.Since(start)})
		t.Found = append(t.Found, work.Finding{Step: agent.Step{ID: id, Tool: answer.AttachTool, Description: name}, Outcome: o})
		t.Read(name, o.Result)
		t.Called(nil, input)
		if err != nil {
			t.MarkError(name)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
