package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coder/acp-go-sdk"

	"lifehub/agent"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
)

// choice is an answer that the client shows to the user.
type choice struct {
	decision agent.Decision
	kind     acp.PermissionOptionKind
	name     string
}

// choices returns the answers of the permission dialog, except those that need typing.
func choices(asked agent.PermissionAsked) []choice {
	if asked.Unknown {
		return []choice{
			{agent.AllowOnce, acp.PermissionOptionKindAllowOnce, "Run again"},
			{agent.Refuse, acp.PermissionOptionKindRejectOnce, "Skip"},
			{agent.AlreadyDone, acp.PermissionOptionKindAllowOnce, "I checked, it's done"},
		}
	}
	list := []choice{{agent.AllowOnce, acp.PermissionOptionKindAllowOnce, "Allow once"}}
	if asked.Rule != "" {
		list = append(list, choice{agent.AllowConversation, acp.PermissionOptionKindAllowAlways, "Allow in this chat"},
			choice{agent.AllowAlways, acp.PermissionOptionKindAllowAlways, "Always allow " + safetext.Reveal(dialog.RuleInWords(asked.Rule))})
	}
	return append(list, choice{agent.Refuse, acp.PermissionOptionKindRejectOnce, "Deny"})
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
		content = append(content, diffs(safetext.Reveal(path), asked.Preview.Diff)...)
	}
	what := acp.ToolCallUpdate{
		ToolCallId: r.id(asked.Call), Title: acp.Ptr(shown(heading)), Kind: acp.Ptr(r.kind(asked.Name)), Status: acp.Ptr(acp.ToolCallStatusPending),
		Content: content, Locations: where, RawInput: revealed(asked.Input),
	}
	if !r.calls[asked.Call] {
		r.calls[asked.Call] = true
		r.send(acp.StartToolCall(what.ToolCallId, *what.Title, acp.WithStartKind(*what.Kind), acp.WithStartStatus(*what.Status),
			acp.WithStartContent(content), acp.WithStartLocations(where), acp.WithStartRawInput(revealed(asked.Input))))
	}
	request, list := acp.RequestPermissionRequest{SessionId: r.session, ToolCall: what}, choices(asked)
	for _, c := range list {
		request.Options = append(request.Options, acp.PermissionOption{OptionId: acp.PermissionOptionId(c.decision), Kind: c.kind, Name: c.name})
	}
	r.inBackground(ctx, func() {
		given, err := acp.SendRequest[acp.RequestPermissionResponse](r.conn, ctx, acp.ClientMethodSessionRequestPermission, request)
		if r.gone(ctx) { // a resumed turn asks again
			return
		}
		reply := agent.Reply{Decision: agent.Refuse}
		for _, c := range list {
			if err == nil && given.Outcome.Selected != nil && string(given.Outcome.Selected.OptionId) == string(c.decision) {
				reply.Decision = c.decision
			}
		}
		asked.Reply(reply)
	}, func() { asked.Reply(agent.Reply{Decision: agent.Refuse}) })
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
	r.mu.Lock()
	forms := r.client.Elicitation != nil && r.client.Elicitation.Form != nil
	r.mu.Unlock()
	switch {
	case (asked.Kind == agent.FormInput || asked.Kind == agent.PlanInput) && forms:
		r.inBackground(ctx, func() { r.form(ctx, asked) }, decline)
	case asked.Kind == agent.PlanInput:
		r.aside("This editor cannot show a plan to approve, so it was declined. `approve: false` in the settings runs plans without.")
		decline()
	case asked.Kind == agent.ServerInput:
		r.aside(asked.Message + " This editor cannot ask you about it: `lifehub doctor` shows how to allow it.")
		decline()
	default:
		r.aside(fmt.Sprintf("The MCP server %s asked for something that this editor cannot show, which was declined: %s", asked.From, asked.Message))
		decline()
	}
}

// form has the client show a form. An answer that does not fit the schema is declined.
func (r *relay) form(ctx context.Context, asked agent.InputAsked) {
	request := map[string]any{"sessionId": r.session, "mode": "form", "requestedSchema": asked.Schema, "message": shown(safetext.Line(asked.From) + " asks: " + safetext.Reveal(asked.Message))}
	if asked.Kind == agent.PlanInput { // not part of a call
		request["message"] = "Run this plan? " + safetext.Reveal(asked.Message)
	} else {
		request["toolCallId"] = r.id(asked.Call)
	}
	given, err := acp.SendRequest[struct {
		Action  agent.InputAction `json:"action"`
		Content json.RawMessage   `json:"content"`
	}](r.conn, ctx, acp.ClientMethodElicitationCreate, request)
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

// diffs converts a unified diff to one piece of content per hunk.
func diffs(path, diff string) (list []acp.ToolCallContent) {
	var before, after strings.Builder
	add := func() {
		switch {
		case before.Len()+after.Len() == 0:
		case strings.HasPrefix(diff, "--- /dev/null\n"):
			list = append(list, acp.ToolDiffContent(path, after.String()))
		default:
			list = append(list, acp.ToolDiffContent(path, after.String(), before.String()))
		}
		before.Reset()
		after.Reset()
	}
	_, hunks, _ := strings.Cut("\n"+diff, "\n@@")
	for i, line := range strings.SplitAfter(hunks, "\n") {
		switch {
		case i == 0 || line == "" || line[0] == '\\':
		case strings.HasPrefix(line, "@@"):
			add()
		case line[0] == '+':
			after.WriteString(safetext.Reveal(line[1:]))
		case line[0] == '-':
			before.WriteString(safetext.Reveal(line[1:]))
		default:
			after.WriteString(safetext.Reveal(line[1:]))
			before.WriteString(safetext.Reveal(line[1:]))
		}
	}
	add()
	return list
}
