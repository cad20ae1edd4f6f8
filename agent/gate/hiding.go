package gate

import (
	"context"
	"slices"

	"lifehub/agent"
)

// Hides reports whether the rule hides some notes from a tool.
func (r Rule) Hides(tool agent.Tool) bool {
	return r.Level == agent.Deny && len(r.Where) > 0 && (r.MatchesTool(agent.ReadNote) ||
		agent.ReadOnly(tool) && r.SpeaksOf(tool))
}

// Hiding returns a context that hides from a tool the notes that deny rules
// name, whether for read_note or for the tool itself if it only reads. A nil
// tool is used for notes that the user opens.
func Hiding(ctx context.Context, list []Rule, tool agent.Tool) context.Context {
	var hide []Rule
	for _, r := range list {
		if r.Hides(tool) {
			r.Tool = "*"
			hide = append(hide, r)
		}
	}
	if len(hide) == 0 {
		return agent.Hiding(ctx, nil)
	}
	return agent.Hiding(ctx, func(path string) bool {
		call, err := agent.Of(map[string]any{"path": path})
		return err == nil && slices.ContainsFunc(hide, func(r Rule) bool { return r.Matches(agent.ReadNote, call) })
	})
}
