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

// choice is an answer that the client offers the user.
type choice struct {
	decision agent.Decision
	kind     acp.PermissionOptionKind
	name     string
}

// choices are the answers of the dialog that need no typing.
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

// permit has the client ask whether a tool may run. All that would run is in the
// content of the call, as in the dialog.
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
		if safetext.Reveal(path) == path { // else nobody could tell which file it opens
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
		if r.gone(ctx) { // a turn that is resumed asks again
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

// gone reports whether nobody is there any more to be asked.
func (r *relay) gone(ctx context.Context) bool {
	select {
	case <-r.conn.Done():
		return true
	default:
		return ctx.Err() != nil
	}
}

// inBackground runs f in a goroutine; a fault in it is a no.
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

// input passes on the form of an MCP server, or of a plan to approve, where the client can
// show one. All else that a server asks the user is declined.
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

// form has the client show a form. What does not fit is declined.
func (r *relay) form(ctx context.Context, asked agent.InputAsked) {
	request := map[string]any{"sessionId": r.session, "mode": "form", "requestedSchema": asked.Schema, "message": shown(safetext.Line(asked.From) + " asks: " + safetext.Reveal(asked.Message))}
	if asked.Kind == agent.PlanInput { // it is of no call
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

// revealed is the input of a call as an editor shows it, with nothing hidden in it.
func revealed(input json.RawMessage) json.RawMessage {
	raw, err := safetext.JSON(input, safetext.Reveal)
	if err != nil {
		return nil // it is in the content
	}
	return raw
}

// diffs are the changes of a unified diff, a piece each.
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
