package plain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/tui/dialog"
	"lifehub/tui/safetext"
)

// permit asks by lines whether a tool may run. All that would run is written
// out before the question.
func (p *Chat) permit(ctx context.Context, asked agent.PermissionAsked) {
	p.flush()
	p.describe(asked, false)
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
		case line == "d":
			p.describe(asked, true)
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

// describe writes out what would run.
func (p *Chat) describe(asked agent.PermissionAsked, details bool) {
	before, after := dialog.Title(asked)
	p.print("%s%s%s\n", before, safetext.Line(asked.Name), after)
	for _, line := range dialog.Describe(asked, details) {
		p.print("  %s\n", strings.ReplaceAll(line.Text, "\n", "\n  "))
	}
}

// choices are the lines that a question takes, in words and by what they decide.
func choices(asked agent.PermissionAsked) (prompt string, decisions map[string]agent.Decision) {
	if asked.Unknown {
		return "r run again · n skip · c I checked, it's done · d details", map[string]agent.Decision{"d": "", "r": agent.AllowOnce, "n": agent.Refuse, "c": agent.AlreadyDone}
	}
	lasting := ""
	decisions = map[string]agent.Decision{"d": "", "y": agent.AllowOnce, "e": agent.Edited, "n": agent.Refuse, "N": agent.Refuse}
	if asked.Rule != "" {
		lasting = fmt.Sprintf(" · s allow in this chat · a always allow (%s)", safetext.Reveal(dialog.RuleInWords(asked.Rule)))
		decisions["s"], decisions["a"] = agent.AllowConversation, agent.AllowAlways
	}
	return "y allow once" + lasting + " · e edit · n deny · N deny and say why · d details", decisions
}

// decided says what the user decided.
var decided = map[agent.Decision]string{
	agent.AllowOnce: "allowed once", agent.AllowConversation: "allowed in this chat", agent.AllowAlways: "always allowed",
	agent.Refuse: "declined", agent.AlreadyDone: "taken as done",
}
