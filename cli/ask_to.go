package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/when"
	"lifehub/tui/safetext"
)

// saved finds the prompt given with --prompt. fill turns it into the message; named is text that
// may name MCP servers to wait for.
func (q *askCommand) saved(a *app.App, given []string) (named string, fill func(agent.Message) (string, error), err error) {
	if q.prompt == "" {
		return "", func(m agent.Message) (string, error) { return m.String(), nil }, nil
	}
	list := a.Prompts()
	i := slices.IndexFunc(list, func(p app.Prompt) bool { return p.Name == strings.TrimPrefix(q.prompt, "/") })
	if i < 0 {
		return "", nil, settings.UsageError{Err: fmt.Errorf("--prompt: no prompt %q in %s, and no skill of that name",
			q.prompt, a.Paths.PromptsFolder())}
	}
	return list[i].Names(), func(m agent.Message) (string, error) {
		filled, err := list[i].Message(strings.Join(given, " "), given, a.ToolNames())
		if err != nil {
			return "", settings.UsageError{Err: err}
		}
		sent := agent.ParseMessage(filled)
		sent.Attached = append(sent.Attached, m.Attached...)
		return sent.String(), nil
	}, nil
}

// input returns the arguments of append_note; without a path, that tool writes to today's daily
// note.
func (q *askCommand) input(content string) json.RawMessage {
	given := map[string]string{"content": content}
	if q.to != "daily" {
		given["path"] = q.to
	}
	raw, _ := json.Marshal(given) // marshalling strings cannot fail
	return raw
}

// append returns the step that adds the answer to the note, with its citations formatted as in
// /export.
func (q *askCommand) append(answer agent.Answer) agent.Step {
	content := strings.TrimSpace(safetext.Text(answer.Text))
	if lines := app.CitationLines(answer.Citations); len(lines) > 0 {
		content += "\n\n" + strings.Join(lines, "\n") // not as a list, in which "- [1]" would be a task
	}
	return agent.Step{
		Tool: agent.AppendNote, Input: q.input(app.Disarm(content)),
		Description: "Add the answer to the note",
	}
}

// mayWrite determines, before the question is asked, which note the answer goes to and whether
// writing to it is allowed.
func (q *askCommand) mayWrite(ctx context.Context, a *app.App, assistant *turn.Agent) error {
	offered := a.Offered()
	i := slices.IndexFunc(offered, func(t agent.Tool) bool { return t.Spec().Name == agent.AppendNote })
	if i < 0 {
		return settings.UsageError{Err: fmt.Errorf("--to %s: %s is not available: %s", q.to, agent.AppendNote,
			a.Missing()[agent.AppendNote])}
	}
	tool := offered[i]
	change, err := tool.(agent.Preparer).Prepare(ctx, q.input("text"))
	if err != nil {
		return settings.UsageError{Err: fmt.Errorf("--to %s: %w", q.to, err)}
	}
	path := change.Preview().Path
	q.rule = ruleTo(path, q.to == "daily")
	q.to = path
	switch level, why := assistant.Decide(ctx, tool, q.input("text"), agent.Origin{}); level {
	case agent.Auto:
		return nil
	case agent.Deny:
		return app.ExitError{Err: fmt.Errorf("writing to %s is forbidden: %s", q.to, why), Code: app.ExitRefused}
	default:
		err := fmt.Errorf("writing to %s needs a permission, and there is nobody to ask (%s). Nothing was asked. "+
			"Add this line to the rules in %s:\n  - %s", q.to, why, a.Paths.PermissionsFile(), gate.Format(q.rule))
		return app.ExitError{Err: err, Code: app.ExitRefused}
	}
}

// ruleTo returns the rule that allows adding to a note or, if it is a daily note, to that of any day.
func ruleTo(path string, daily bool) gate.Rule {
	rule := gate.For(agent.AppendNote, agent.Auto)
	rule.Where = []gate.Where{gate.Pinned("path", path)}
	if daily {
		rule.Where[0].Values[0] = digit.ReplaceAllString(rule.Where[0].Values[0], "?")
	}
	return rule
}

var digit = regexp.MustCompile(`[0-9]`)

// notWritten returns the error for an answer that was not added for lack of permission, with the
// flag that would allow it.
func (q *askCommand) notWritten(why string, unasked []agent.PermissionAsked) error {
	err := fmt.Errorf("%s %w", why, unaskedError(unasked))
	if last := unasked[len(unasked)-1]; last.Name == agent.AppendNote && last.Untrusted {
		err = fmt.Errorf("the answer was not written to %s: %s; allow it with %s '%s path=%s'",
			q.to, last.Reason, app.UntrustedFlag, agent.AppendNote, q.rule.Where[0].Values[0])
	}
	return app.ExitError{Err: err, Code: app.ExitRefused}
}

// cutOff finds an interrupted turn of today with the same message and the same note. It is resumed
// so that nothing is written twice.
func (q *askCommand) cutOff(ctx context.Context, a *app.App, message string) (conversation, id string) {
	if q.RunFlags.Resume != "" || q.RunFlags.HasLast {
		return "", ""
	}
	conversation, id, err := a.Store.OpenTurn(ctx, message, when.DayOf(time.Now()).Begins())
	if err != nil || id == "" {
		slog.Debug("no turn to resume", "error", err)
		return "", ""
	}
	entries, err := a.Store.Entries(ctx, id)
	if err != nil {
		slog.Warn("resume a turn", "error", err)
	}
	for _, e := range entries {
		if e.Plan == nil || !e.Plan.FollowsAnswer() {
			continue
		}
		var to struct{ Path string }
		if json.Unmarshal(e.Plan.Steps[0].Input, &to) != nil || to.Path != q.to {
			return "", ""
		}
	}
	q.say("resuming the interrupted run; no step is repeated")
	return conversation, id
}
