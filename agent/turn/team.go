package turn

import (
	"context"
	_ "embed"
	"slices"
	"strings"
)

//go:embed prompts/lead.md
var leadPrompt string

// team lets a lead delegate tasks to workers, round by round, and answer from
// their reports: a loop with a single tool. lost is as in [turn.loop].
func (t *turn) team(ctx context.Context) (lost bool, err error) {
	carried, err := t.carriedParts(ctx)
	if err != nil {
		return false, err
	}
	return t.decideAgain(ctx, append(carried, t.foundFirst()...), t.newLead())
}

// newLead returns the loop of the lead, without material.
func (t *turn) newLead() *agentLoop {
	handOut, workers := t.delegation(), t.workersAndTools(t.workers())
	t.tools = append(slices.Clip(t.tools), handOut...)
	return &agentLoop{
		turn: t, lead: true, callable: handOut, stream: true, numbered: true,
		base: t.prompt("lead", directPrompt, answeringPrompt, strings.ReplaceAll(leadPrompt, "{workers}", workers)),
	}
}
