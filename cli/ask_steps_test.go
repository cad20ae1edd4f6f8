package cli

import (
	"testing"

	"lifehub/agent"
	"lifehub/internal/testenv"
)

func TestOnlyPlanWhoseStepsAllFailedFails(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, c := range map[string]struct {
		steps []agent.Step
		ended []agent.Status
		want  string
	}{
		"no plan":                 {nil, nil, ""},
		"one failed":              {[]agent.Step{{ID: "1", Tool: "fetch"}}, []agent.Status{agent.StepFailed}, "every step failed: fetch: no such page"},
		"one of two":              {[]agent.Step{{ID: "1"}, {ID: "2"}}, []agent.Status{agent.StepFailed, agent.Done}, ""},
		"the rest was skipped":    {[]agent.Step{{ID: "1", Tool: "fetch"}, {ID: "2"}}, []agent.Status{agent.StepFailed, agent.Skipped}, "every step failed: fetch: no such page"},
		"one was denied":          {[]agent.Step{{ID: "1"}, {ID: "2"}}, []agent.Status{agent.StepFailed, agent.Denied}, ""},
		"one did not run":         {[]agent.Step{{ID: "1"}, {ID: "2"}}, []agent.Status{agent.StepFailed}, ""},
		"LifeHub's own succeeded": {[]agent.Step{{ID: "1", Tool: "fetch"}, {ID: "2", Extra: true}}, []agent.Status{agent.StepFailed, agent.Done}, "every step failed: fetch: no such page"},
	} {
		var p planSteps
		p.plan(agent.PlanMade{Steps: c.steps})
		for i, status := range c.ended {
			p.changed(agent.StepChanged{Step: c.steps[i].ID, Status: status, Reason: "no such page"})
		}
		got := ""
		if err := p.failure(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
