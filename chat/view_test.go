package chat

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
)

// viewOf is a turn after these events.
func viewOf(told ...agent.Body) *View {
	v := &View{}
	for i, body := range told {
		v.Apply(agent.Event{Turn: "t", Body: body}, time.Unix(int64(i), 0))
	}
	return v
}

func steps(ids ...string) (list []agent.Step) {
	for _, id := range ids {
		list = append(list, agent.Step{ID: id, Tool: "fetch"})
	}
	return list
}

func changed(id string, to agent.Status) agent.StepChanged {
	return agent.StepChanged{Step: id, Status: to, Reason: "no such page"}
}

func TestOnlyAPlanWhoseStepsAllFailedFailed(t *testing.T) {
	extra := steps("2")
	extra[0].Extra = true
	for name, c := range map[string]struct {
		told []agent.Body
		want int
	}{
		"no plan":    {},
		"one failed": {[]agent.Body{agent.PlanMade{Steps: steps("1")}, changed("1", agent.StepFailed)}, 1},
		"one of two": {[]agent.Body{
			agent.PlanMade{Steps: steps("1", "2")},
			changed("1", agent.StepFailed),
			changed("2", agent.Done),
		}, 0},
		"one was denied": {[]agent.Body{
			agent.PlanMade{Steps: steps("1", "2")},
			changed("1", agent.StepFailed),
			changed("2", agent.Denied),
		}, 0},
		"one was skipped": {[]agent.Body{
			agent.PlanMade{Steps: steps("1", "2")},
			changed("1", agent.StepFailed),
			agent.Ended{},
		}, 1},
		"the program's own succeeded": {[]agent.Body{
			agent.PlanMade{Steps: slices.Concat(steps("1"), extra)},
			changed("1", agent.StepFailed),
			changed("2", agent.Done),
		}, 1},
	} {
		if got := viewOf(c.told...).FailedSteps(); len(got) != c.want || c.want > 0 && got[0].Reason != "no such page" {
			t.Errorf("%s: the failed steps are %+v", name, got)
		}
	}
}

// The rest of a plan continues it unless something stands between, and a worker's part stands below its step.
func TestPlansOfATurn(t *testing.T) {
	shape := func(v *View) string {
		var plans []string
		for _, p := range v.Plans {
			var ids []string
			for _, s := range p.Steps {
				ids = append(ids, s.Step.ID)
			}
			plans = append(plans, strings.Join(ids, " "))
		}
		return strings.Join(plans, " | ")
	}
	first := agent.PlanMade{Steps: steps("1", "2")}
	rest := agent.PlanMade{Before: steps("1", "2"), Steps: steps("3")}
	for want, told := range map[string][]agent.Body{
		"1 2 3":   {first, rest},
		"1 2 | 3": {first, agent.Said{Content: "Let me see."}, rest},
		"1 1.1 2": {first, agent.PlanMade{Under: "1", Steps: steps("1.1")}},
		"1 1.1 1.2 2": {
			first,
			agent.PlanMade{Under: "1", Steps: steps("1.1")},
			agent.PlanMade{Under: "1", Steps: steps("1.2")},
		},
		"1 2": {first, agent.PlanMade{Under: "9", Steps: steps("9.1")}},
	} {
		if got := shape(viewOf(told...)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheAnswerAndItsSources(t *testing.T) {
	v := viewOf(
		agent.Said{Content: "It rains [1]. <think>"}, agent.Said{Takes: len(" <think>")}, agent.Said{Takes: 99},
		agent.Said{Content: "It rains."},
		agent.Cited{Citation: agent.Citation{N: 2, Path: "b.md", Verdict: agent.Cites, At: 4}},
		agent.Cited{Citation: agent.Citation{N: 1, Path: "a.md", Verdict: agent.Cites, At: 1}},
		agent.Cited{Citation: agent.Citation{N: 1, Path: "a.md", Verdict: agent.Cites, At: 9}},
		agent.Ended{Nearest: []agent.Source{{N: 2, Path: "b.md"}, {N: 3, Path: "c.md"}}},
	)
	if string(v.Answer) != "It rains." {
		t.Errorf("the answer is %q", v.Answer)
	}
	var places []string
	for _, c := range v.Sources() {
		places = append(places, c.Citation.Path)
	}
	if got := strings.Join(places, " "); got != "a.md b.md c.md" || !slices.Equal(v.Sources()[0].At, []int{1, 9}) {
		t.Errorf("the sources are %s, %+v", got, v.Sources())
	}
}

// Foreign text in an event stays on one line and moves no cursor.
func TestLinesAreSafe(t *testing.T) {
	const foreign = "a\x1b[2J\nb\r\u202ec"
	var v View
	for _, body := range []agent.Body{
		agent.PlanMade{
			Steps:   []agent.Step{{ID: foreign, Tool: foreign, Input: []byte(`{"q":"a\u001b[2J\nb"}`)}},
			Dropped: []string{foreign},
		},
		agent.PhaseStarted{Agent: foreign, Step: "1"},
		agent.ArtifactChanged{Name: foreign, Why: foreign},
		agent.Evaluated{Judgement: agent.Judgement{Feedback: foreign}},
		changed(foreign, agent.StepFailed),
		agent.ToolStarted{Name: foreign},
		agent.ToolEnded{Name: foreign, Error: foreign},
		agent.ToolProgressed{Progress: agent.Progress{Message: foreign}},
		agent.ToolEnded{Output: foreign},
		agent.PermissionGiven{Reason: foreign},
		agent.InputGiven{Reason: foreign},
		agent.Noticed{Text: foreign},
		agent.Reading{Model: foreign},
		agent.Remembered{
			Facts:     []agent.Fact{{Fits: true, Text: foreign, Path: foreign}},
			Exchanges: []agent.Recollection{{Question: foreign}},
		},
	} {
		v.Apply(agent.Event{Body: body}, time.Unix(0, 0))
		lines := v.Lines(agent.Event{Body: body}, time.Unix(0, 0))
		if len(lines) == 0 {
			t.Errorf("nothing is said of %T", body)
		}
		for _, line := range lines {
			if strings.ContainsAny(line, "\x1b\n\r\u202e") {
				t.Errorf("%T: %q", body, line)
			}
		}
	}
}

// The command that fits a message is offered unless the turn did something, which it would do again.
func TestOfferIsForATurnThatChangedNothing(t *testing.T) {
	asked := agent.Started{Message: "remind me to call Ines"}
	for offered, did := range map[bool]agent.Effects{
		true:  {},
		false: {{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}},
	} {
		if got := viewOf(asked, agent.Ended{Effects: did}).Offer(time.Unix(0, 0)); (got != "") != offered {
			t.Errorf("after %v: %q", did, got)
		}
	}
}
