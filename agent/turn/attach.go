package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/provenance"
	"lifehub/internal/text"
)

// attach takes in what came with the message and reads what it names, before
// the plan is made.
func (t *turn) attach(ctx context.Context) error {
	for i, a := range t.Team.Answer.With {
		brought := agent.Result{Text: a.Text, Untrusted: true}
		step := agent.Step{ID: fmt.Sprintf("attached %d", i+1), Tool: AttachTool, Description: a.Name}
		t.Team.Answer.Worker.Found = append(t.Team.Answer.Worker.Found, Finding{Step: step, Outcome: Outcome{Status: agent.Done, Result: brought}})
		t.Team.Answer.Worker.Guard.Record.AddOwn(t.notesLike(ctx, a.Text)...)
		t.Team.Answer.Worker.Guard.Record.Mark(ctx, a.Name, true, &brought, "")
		t.Team.Answer.Worker.Guard.Record.Read(a.Name, brought)
	}
	if err := t.attachNamed(ctx); err != nil {
		return err
	}
	t.Team.Answer.Worker.Attached = len(t.Team.Answer.Worker.Found)
	t.replanned = t.Team.Answer.Worker.Attached
	return nil
}

// notesLike are the user's own notes that a text may have been taken from,
// without what is untrusted in them: who pastes a part of a note does not make
// the note untrusted.
func (t *turn) notesLike(ctx context.Context, pasted string) (own []string) {
	tool := t.Team.Answer.Worker.Tool(agent.SearchNotes)
	if tool == nil || t.Team.Answer.Reread == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, at := range []int{0, len(pasted) / 2, max(0, len(pasted)-MaxTopic)} {
		input, err := json.Marshal(map[string]string{"query": strings.ToValidUTF8(text.Clip(pasted[at:], MaxTopic), "")})
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
			if note, ok := t.Team.Answer.Reread(agent.Source{Path: s.Path, Vault: s.Vault, Line: 1, EndLine: math.MaxInt}); ok {
				own = append(own, t.Team.Answer.Worker.Guard.Record.OwnLines(ctx, note)...)
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
	typed := provenance.Outside(t.Team.Answer.Question)
	names, unknown := t.agent.Attach.Find(typed)
	if whose := t.Team.Answer.Worker.Guard.Record.QuotedIn(t.Team.Answer.Question); len(whose) > 0 && len(names) > 0 {
		t.Team.Answer.Asker.Stream.Notice("The @names in this message are not read, because not all of it was typed by you: %s.", strings.Join(whose, ", "))
		return nil
	}
	unknown = slices.DeleteFunc(unknown, func(name string) bool {
		return t.Team.Answer.Worker.Tool(name) != nil || t.Team.Answer.Worker.Missing[name] != ""
	})
	if len(unknown) > 0 {
		t.Team.Answer.Asker.Stream.Notice("No note, file or tool is called @%s. It counts as ordinary text; typing @ lists what there is.", strings.Join(unknown, ", @"))
	}
	for i, name := range names {
		id := fmt.Sprintf("@%d", i+1)
		input, err := json.Marshal(map[string]string{"name": name})
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		t.Team.Answer.Asker.Stream.Emit(agent.ToolStarted{Step: id, Call: id, Name: AttachTool, Input: input})
		start := t.Team.Answer.Asker.Stream.Now()
		result, err := agent.Guarded(ctx, func(ctx context.Context) (agent.Result, error) { return t.agent.Attach.Read(ctx, name) })
		o := Ended(ctx, result, err)
		o.Result.Text, o.Reason = text.Clip(t.Team.Answer.Worker.Redact(o.Result.Text), MaxResult), t.Team.Answer.Worker.Redact(o.Reason)
		t.Team.Answer.Worker.Guard.Record.Mark(ctx, name, err != nil || o.Result.Untrusted, &o.Result, o.Reason)
		t.Team.Answer.Asker.Stream.Emit(agent.ToolEnded{Step: id, Call: id, Name: AttachTool, Output: o.Result.Text, Error: o.Reason, Sources: o.Result.Sources, Took: t.Team.Answer.Asker.Stream.Since(start)})
		t.Team.Answer.Worker.Found = append(t.Team.Answer.Worker.Found, Finding{Step: agent.Step{ID: id, Tool: AttachTool, Description: name}, Outcome: o})
		t.Team.Answer.Worker.Guard.Record.Read(name, o.Result)
		t.Team.Answer.Worker.Guard.Record.Called(nil, input)
		if err != nil {
			t.Team.Answer.Worker.Guard.Record.MarkError(name)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
