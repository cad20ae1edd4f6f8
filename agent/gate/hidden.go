package gate

import (
	"context"
	"fmt"
	"slices"

	"lifehub/agent"
)

// passHidden handles a call that was denied because of the note it names, as if
// that note did not exist: a tool that only reads still runs, and ctx hides the
// note from it. If the denied name resolves to another note, the call fails.
// The result is false if the call was denied for another reason.
func (g *Guard) passHidden(ctx context.Context, c Call, v Verdict) (*Permit, error, bool) {
	notes, ok := c.Tool.(agent.Resolver)
	if !ok || !agent.ReadOnly(c.Tool) || c.Tool.Properties().Level != agent.Auto {
		return nil, nil, false
	}
	var others []Rule
	for _, r := range g.Gate.list() {
		isOfNote := r.Hides(c.Tool) && !slices.ContainsFunc(r.Where, func(w Where) bool { return w.Argument != "path" })
		if !isOfNote {
			others = append(others, r)
		}
	}
	if (*Rules)(nil).With(others...).Decide(c.Name(), agent.Auto, c.as).Level != agent.Auto {
		return nil, nil, false
	}
	given, err := c.Input.Object()
	if err != nil {
		return nil, nil, false
	}
	plain := Reading{Plain: c.Input}
	denies := func(r Rule) bool { return r.Level == agent.Deny && r.MatchesCall(c.Name(), plain) }
	if len(notes.Places(ctx, c.Input.JSON())) > 0 && slices.ContainsFunc(g.Gate.list(), denies) {
		return nil, fmt.Errorf("no note %q", given["path"]), true
	}
	p := newPermit(c)
	p.reason = v.Reason
	return p, nil, true
}
