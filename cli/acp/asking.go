package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coder/acp-go-sdk"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
)

// choice is an answer that the client shows to the user.
type choice struct {
	decision agent.Decision
	kind     acp.PermissionOptionKind
	name     string
}

// refuseBecause is the choice to deny a call and then give the reason in a form. An answer to a
// permission request has no field for a reason.
const refuseBecause agent.Decision = "no_because"

// permissionChoices returns the answers of the permission dialog, except to edit the arguments.
// Those that need typing require forms.
func permissionChoices(asked agent.PermissionAsked, forms bool) []choice {
	var list []choice
	for _, d := range asked.Answers() {
		c := choice{d, acp.PermissionOptionKindAllowOnce, dialog.AnswerLabel(asked, d)}
		switch d {
		case agent.AllowConversation:
			c.kind = acp.PermissionOptionKindAllowAlways
		case agent.AllowAlways:
			c.kind, c.name = acp.PermissionOptionKindAllowAlways,
				"Always allow "+safetext.Reveal(dialog.RuleInWords(asked.Rule))
		case agent.Refuse:
			c.kind = acp.PermissionOptionKindRejectOnce
		}
		list = append(list, c)
	}
	if forms && !asked.Unknown {
		list = append(list, choice{refuseBecause, acp.PermissionOptionKindRejectOnce, "Deny and say why…"})
	}
	return list
}

// permit asks the client whether a tool may run. The content of the call shows everything that
// would run, as the dialog does.
func (r *relay) permit(ctx context.Context, asked agent.PermissionAsked) {
	before, after := dialog.Title(asked)
	heading := before + safetext.Line(asked.Name) + after
	var lines []string
	for _, line := range dialog.Describe(asked, false) {
		if line.Mark == dialog.Sentence {
			heading += " " + line.Text
		}
		lines = append(lines, line.Text)
	}
	var where []acp.ToolCallLocation
	content := literal(strings.Join(lines, "\n"))
	if path := r.file(asked.Preview.Path); asked.Preview.Path != "" && path != "" {
		if safetext.Reveal(path) == path { // otherwise the user could not tell which file it opens
			where = []acp.ToolCallLocation{{Path: path}}
		}
	}
	content = append(content, diffs(asked.Preview.Diffs(), r.file)...)
	what := acp.ToolCallUpdate{
		ToolCallId: r.id(asked.Call), Title: acp.Ptr(shown(heading)), Kind: acp.Ptr(r.kind(asked.Name)),
		Status:  acp.Ptr(acp.ToolCallStatusPending),
		Content: content, Locations: where, RawInput: revealed(asked.Input),
	}
	if !r.calls[asked.Call] {
		r.calls[asked.Call] = true
		r.send(acp.StartToolCall(what.ToolCallId, *what.Title, acp.WithStartKind(*what.Kind),
			acp.WithStartStatus(*what.Status),
			acp.WithStartContent(content), acp.WithStartLocations(where), acp.WithStartRawInput(revealed(asked.Input))))
	}
	r.inBackground(ctx, func() {
		reply := agent.Reply{Decision: r.choose(ctx, what, permissionChoices(asked, r.showsForms()))}
		if reply.Decision == refuseBecause {
			reply = agent.Reply{Decision: agent.Refuse, Reason: r.reason(ctx, asked)}
		}
		if !r.gone(ctx) { // otherwise a resumed turn asks again
			asked.Reply(reply)
		}
	}, func() { asked.Reply(agent.Reply{Decision: agent.Refuse}) })
}

// choose returns the user's choice, or a refusal if the client answers with anything else.
func (r *relay) choose(ctx context.Context, what acp.ToolCallUpdate, list []choice) agent.Decision {
	request := acp.RequestPermissionRequest{SessionId: r.session, ToolCall: what}
	for _, c := range list {
		request.Options = append(request.Options, acp.PermissionOption{
			OptionId: acp.PermissionOptionId(c.decision),
			Kind:     c.kind, Name: c.name,
		})
	}
	given, err := acp.SendRequest[acp.RequestPermissionResponse](r.conn, ctx,
		acp.ClientMethodSessionRequestPermission, request)
	for _, c := range list {
		if err == nil && given.Outcome.Selected != nil && string(given.Outcome.Selected.OptionId) == string(c.decision) {
			return c.decision
		}
	}
	return agent.Refuse
}

// maxReason bounds the reason for a refusal, in bytes.
const maxReason = 1000

// reason asks why a call was denied. It returns "" if the user does not say.
func (r *relay) reason(ctx context.Context, asked agent.PermissionAsked) string {
	given, err := r.elicit(ctx, map[string]any{
		"toolCallId": r.id(asked.Call), "message": shown("Why not " + safetext.Line(asked.Name) +
			"? The model reads the reason."),
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"reason": map[string]any{"type": "string", "title": "Reason"}}},
	})
	var values struct{ Reason string }
	if err != nil || given.Action != agent.InputAccepted || json.Unmarshal(given.Content, &values) != nil {
		return ""
	}
	return text.Clip(strings.TrimSpace(values.Reason), maxReason)
}

// gone reports whether the client is gone or the turn has ended, so that there is no one to ask.
func (r *relay) gone(ctx context.Context) bool {
	select {
	case <-r.conn.Done():
		return true
	default:
		return ctx.Err() != nil
	}
}

// inBackground runs f in a goroutine and calls no if f panics.
func (r *relay) inBackground(ctx context.Context, f, no func()) {
	go func() {
		var fault error
		func() {
			defer agent.Catch(&fault)
			f()
		}()
		if fault != nil && ctx.Err() == nil {
			no()
		}
	}()
}

// input shows the form of an MCP server, or a plan to approve, if the client supports forms. Other
// requests for input are declined.
func (r *relay) input(ctx context.Context, asked agent.InputAsked) {
	decline := func() { asked.Reply(agent.Input{Action: agent.InputDeclined}) }
	switch {
	case (asked.Kind == agent.FormInput || asked.Kind == agent.PlanInput) && r.showsForms():
		r.inBackground(ctx, func() { r.form(ctx, asked) }, decline)
	case asked.Kind == agent.PlanInput:
		r.aside("This editor cannot show a plan to approve, so it was declined. `approve: false` in the settings " +
			"runs plans without.")
		decline()
	case asked.Kind == agent.ServerInput:
		r.aside(asked.Message + " This editor cannot ask you about it: `lifehub doctor` shows how to allow it.")
		decline()
	default:
		r.aside(fmt.Sprintf("The MCP server %s asked for something that this editor cannot show, which was declined: %s", asked.From, asked.Message))
		decline()
	}
}

// showsForms reports whether the client can show a form.
func (r *relay) showsForms() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.client.Elicitation != nil && r.client.Elicitation.Form != nil
}

// filled is the client's answer to a form.
type filled struct {
	Action  agent.InputAction `json:"action"`
	Content json.RawMessage   `json:"content"`
}

// elicit has the client show a form.
func (r *relay) elicit(ctx context.Context, request map[string]any) (filled, error) {
	request["sessionId"], request["mode"] = r.session, "form"
	return acp.SendRequest[filled](r.conn, ctx, acp.ClientMethodElicitationCreate, request)
}

// form shows the form of a question. An answer that does not fit the schema is declined.
func (r *relay) form(ctx context.Context, asked agent.InputAsked) {
	request := map[string]any{
		"requestedSchema": asked.Schema,
		"message":         shown(safetext.Line(asked.From) + " asks: " + safetext.Reveal(asked.Message)),
	}
	if asked.Kind == agent.PlanInput { // not part of a call
		request["message"] = "Run this plan? " + safetext.Reveal(asked.Message)
	} else {
		request["toolCallId"] = r.id(asked.Call)
	}
	given, err := r.elicit(ctx, request)
	if r.gone(ctx) {
		return
	}
	answer := agent.Input{Action: agent.InputDeclined}
	switch {
	case err != nil:
	case given.Action == agent.InputCancelled:
		answer.Action = agent.InputCancelled
	case given.Action == agent.InputAccepted && (asked.Check == nil || asked.Check(given.Content) == nil):
		answer = agent.Input{Action: agent.InputAccepted, Values: given.Content}
	}
	asked.Reply(answer)
}

// revealed returns the input of a call with hidden characters made visible, or nil if it is not
// valid JSON.
func revealed(input json.RawMessage) json.RawMessage {
	raw, err := safetext.JSON(input, safetext.Reveal)
	if err != nil {
		return nil // the content of the call shows it
	}
	return raw
}

// diffs converts a diff to one piece of content per hunk. The path of a file is as the client knows it, by pathOf, if
// it does.
func diffs(files []agent.FileDiff, pathOf func(name string) string) (list []acp.ToolCallContent) {
	for _, file := range files {
		name := file.To
		if name == agent.NoFile {
			name = file.From
		}
		path := safetext.Reveal(cmp.Or(pathOf(name), name))
		for _, hunk := range file.Hunks {
			var before, after strings.Builder
			for _, line := range hunk.Lines {
				text := safetext.Reveal(line[1:]) + "\n"
				if line[0] != '+' {
					before.WriteString(text)
				}
				if line[0] != '-' {
					after.WriteString(text)
				}
			}
			if file.From == agent.NoFile {
				list = append(list, acp.ToolDiffContent(path, after.String()))
			} else {
				list = append(list, acp.ToolDiffContent(path, after.String(), before.String()))
			}
		}
	}
	return list
}
