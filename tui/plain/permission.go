package plain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/tui/arguments"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// permit asks by lines whether a tool may run. All that would run is written
// out before the question.
func (p *Chat) permit(ctx context.Context, asked agent.PermissionAsked) {
	p.flush()
	p.describe(asked)
	prompt, decisions := choices(asked)
	for {
		line, ok := p.pick(ctx, prompt+": ", slices.Collect(maps.Keys(decisions))...)
		if ctx.Err() != nil {
			return
		}
		reply := agent.Reply{Decision: decisions[line]}
		switch {
		case !ok:
			reply.Decision = agent.Refuse
		case line == "":
			continue
		case line == "N":
			reason, _ := p.ask(ctx, "why not: ")
			reply.Reason = strings.TrimSpace(reason)
		case line == "e":
			edited, changed := p.edit(ctx, asked)
			if !changed {
				continue
			}
			reply = edited
		}
		asked.Reply(reply)
		return
	}
}

// describe writes out all that would run.
func (p *Chat) describe(asked agent.PermissionAsked) {
	p.print("Allow %s? %s:\n", safetext.Line(asked.Name), draw.Bytes(int64(len(asked.Input))))
	for _, pair := range arguments.Of(asked.Input) {
		p.print("  %s: %s\n", safetext.Reveal(pair.Key), safetext.Reveal(arguments.Exact(pair.Value)))
	}
	if asked.Preview.Diff != "" {
		p.print("%s\n%s\n", safetext.Reveal(asked.Preview.Path), safetext.Reveal(asked.Preview.Diff))
	}
	if asked.Preview.Text != "" {
		p.print("%s\n", safetext.Reveal(asked.Preview.Text))
	}
	if asked.Reason != "" && !asked.Unknown {
		p.print("why it asks: %s\n", safetext.Reveal(asked.Reason))
	}
	if asked.Unknown {
		p.print("LifeHub was stopped while this was under way: whether it happened is not known.\n")
	}
}

// choices are the lines that a question takes, in words and by what they decide.
func choices(asked agent.PermissionAsked) (prompt string, decisions map[string]agent.Decision) {
	if asked.Unknown {
		return "r run again · n skip · c I checked, it's done", map[string]agent.Decision{"r": agent.AllowOnce, "n": agent.Refuse, "c": agent.AlreadyDone}
	}
	lasting := ""
	decisions = map[string]agent.Decision{"y": agent.AllowOnce, "e": agent.Edited, "n": agent.Refuse, "N": agent.Refuse}
	if asked.Rule != "" {
		lasting = fmt.Sprintf(" · s allow in this chat · a always allow (%s)", safetext.Reveal(asked.Rule))
		decisions["s"], decisions["a"] = agent.AllowConversation, agent.AllowAlways
	}
	return "y allow once" + lasting + " · e edit · n deny · N deny and say why", decisions
}
