package tui

import (
	"context"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// permit asks by lines whether a tool may run. All that would run is written
// out before the question. A line that was typed or pasted before the question
// could be read is no answer to it.
func (p *plain) permit(ctx context.Context, asked agent.PermissionAsked) {
	p.flush()
	p.describe(asked)
	for {
		line, ok := p.reply(ctx, choices(asked)+": ")
		if ctx.Err() != nil {
			return
		}
		line = strings.TrimSpace(line)
		reply := agent.Reply{Decision: agent.Refuse}
		switch {
		case !ok:
		case line == "":
			continue
		case line == "e" && !asked.Unknown:
			edited, changed := p.edit(ctx, asked)
			if !changed {
				continue
			}
			reply = edited
		default:
			reply = chosen(asked, line)
		}
		asked.Reply(reply)
		return
	}
}

// describe writes out all that would run.
func (p *plain) describe(asked agent.PermissionAsked) {
	p.print("%s asks to run, %s:\n", safetext.Line(asked.Name), bytes(int64(len(asked.Input))))
	for _, pair := range arguments(asked.Input) {
		p.print("  %s: %s\n", safetext.Reveal(pair.key), safetext.Reveal(exact(pair.value)))
	}
	if asked.Preview.Diff != "" {
		p.print("%s\n%s\n", safetext.Reveal(asked.Preview.Path), safetext.Reveal(asked.Preview.Diff))
	}
	if asked.Preview.Text != "" {
		p.print("%s\n", safetext.Reveal(asked.Preview.Text))
	}
	if asked.Reason != "" && !asked.Unknown {
		p.print("asked because %s\n", safetext.Reveal(asked.Reason))
	}
	if asked.Unknown {
		p.print("LifeHub was stopped while this was under way: whether it happened is not known.\n")
	}
}

// choices are the replies that a question takes.
func choices(asked agent.PermissionAsked) string {
	switch {
	case asked.Unknown:
		return "r run again · n skip · c I checked, it's done"
	case asked.Rule == "":
		return "y once · e edit · n no, or why not"
	}
	return fmt.Sprintf("y once · s this conversation · a always (%s) · e edit · n no, or why not", safetext.Reveal(asked.Rule))
}

// chosen is the reply that a line means. What is no choice is the reason of a no.
func chosen(asked agent.PermissionAsked, line string) agent.Reply {
	decisions := map[string]agent.Decision{"y": agent.AllowOnce, "yes": agent.AllowOnce, "s": agent.AllowConversation, "a": agent.AllowAlways}
	switch {
	case asked.Unknown:
		decisions = map[string]agent.Decision{"r": agent.AllowOnce, "c": agent.AlreadyDone}
	case asked.Rule == "":
		delete(decisions, "s")
		delete(decisions, "a")
	}
	decisions["n"], decisions["no"], decisions[""] = agent.Refuse, agent.Refuse, agent.Refuse
	if decision, ok := decisions[line]; ok {
		return agent.Reply{Decision: decision}
	}
	return agent.Reply{Decision: agent.Refuse, Reason: line}
}
