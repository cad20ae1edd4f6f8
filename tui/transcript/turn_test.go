package transcript

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/tui/draw"
)

// takes shows events on a transcript, and returns what then stands there and
// what the turn is said to do.
func takes(t *testing.T, bodies ...agent.Body) (text, state string) {
	t.Helper()
	tr := &Model{Theme: draw.NewTheme("", true, false, nil), Chosen: -1}
	tr.Resize(100, 20)
	turn := tr.Begin()
	for _, body := range bodies {
		turn.Take(agent.Event{Body: body}, time.Unix(0, 0))
	}
	return ansi.Strip(strings.Join(tr.View(), "\n")), turn.State(false)
}

func TestModelLoadingIsShownUntilItAnswers(t *testing.T) {
	before, loading := agent.Reading{Tokens: 2613, Took: 3000},
		agent.Reading{Tokens: 2613, Took: 40_000, PerSecond: 22, Again: true}
	kept := agent.Noticed{Text: "There is no tool fly."}
	if text, state := takes(t, agent.PhaseStarted{Agent: "planner"}, before, kept, loading); strings.Count(text,
		"reading 2,613 tokens") != 1 || !strings.Contains(text, loading.String()) ||
		!strings.HasPrefix(state, "waiting") {
		t.Errorf("it is %s:\n%s", state, text)
	}
	for _, next := range []agent.Body{
		agent.ContextCounted{},
		agent.Thought{Content: "Which?"},
		agent.Said{Content: "Yes."},
		agent.Used{},
		agent.Failed{},
		agent.Ended{},
	} {
		text, state := takes(t, agent.PhaseStarted{Agent: "planner"}, loading, kept, next)
		if strings.Contains(text, loading.String()) || !strings.Contains(text, kept.Text) ||
			strings.HasPrefix(state, "waiting") {
			t.Errorf("after %T it is %s:\n%s", next, state, text)
		}
	}
}

func TestThinkingBeforeAPlanNamesTheAgent(t *testing.T) {
	thought := func(who string) agent.Body { return agent.Thought{Agent: who, Content: "Which tool?"} }
	text, state := takes(t, agent.PhaseStarted{Agent: "planner"}, thought("planner"),
		agent.PhaseStarted{Agent: "lead"}, thought("lead"))
	if !strings.Contains(text, "planner: thought") || !strings.Contains(text, "lead: thinking") ||
		state != "lead: thinking" {
		t.Errorf("it is %q:\n%s", state, text)
	}
	for agentName, want := range map[string]string{"lead": "lead: working", "planner": "planning", "loop": "working"} {
		if _, state := takes(t, agent.PhaseStarted{Agent: agentName}); state != want {
			t.Errorf("%s: %q, want %q", agentName, state, want)
		}
	}
}

// What was found is shown while the model reads, below what it reads, until text of the
// answer comes or the turn ends; as text, whatever it holds.
func TestPassagesAreShownWhileTheModelReads(t *testing.T) {
	found := agent.ToolEnded{
		Step: "1", Call: "a", Name: "search_notes",
		Coverage: &agent.Coverage{Indexed: 25, Total: 25},
	}
	for _, text := range []string{
		"I run \x1b[31mthree\x1b]0;x\a times a week.",
		strings.Repeat("long line ", 40), "third", "fourth",
	} {
		found.Sources = append(found.Sources, agent.Source{
			Path: "running/plan.md", Line: 6, Heading: "Running plan",
			Text: "# Running plan\n\n" + text,
		})
	}
	search := []agent.Body{
		agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "search_notes"}}},
		agent.ToolStarted{Step: "1", Call: "a", Name: "search_notes"},
		found,
		agent.StepChanged{Step: "1", Status: agent.Done},
	}
	reading := agent.Reading{Tokens: 2613, Took: 3000}
	shown := func(bodies ...agent.Body) string {
		text, _ := takes(t, slices.Concat(search, bodies)...)
		return text
	}
	if raw := strings.Join((&Waiting{found: found.Sources}).Render(80, draw.NewTheme("", true, false, nil)),
		"\n"); strings.Contains(raw, "\x1b[31m") || strings.ContainsAny(raw, "]\a") {
		t.Errorf("it is drawn as %q", raw)
	}
	if text := shown(); strings.Contains(text, "plan.md") {
		t.Errorf("before the model is asked:\n%s", text)
	}
	for name, bodies := range map[string][]agent.Body{
		"asked": {agent.PhaseStarted{Agent: "loop"}, agent.ContextCounted{}},
		"late":  {agent.PhaseStarted{Agent: "loop"}, agent.ContextCounted{}, reading},
		"thinking": {
			agent.PhaseStarted{Agent: "loop"},
			agent.ContextCounted{},
			reading,
			agent.Thought{Content: "Which?"},
		},
	} {
		text := shown(bodies...)
		if strings.Count(text, "running/plan.md:6") != ShownPassages ||
			!strings.Contains(text, "│ I run three times a week.") ||
			strings.Count(text, "│ long line") != shownLines ||
			name == "late" && strings.Index(text, reading.String()) > strings.Index(text, "plan.md") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	for _, over := range []agent.Body{
		agent.Said{Content: "Yes."},
		agent.PlanMade{Steps: []agent.Step{{ID: "2", Tool: "today"}}},
		agent.Failed{Message: "no"},
		agent.Ended{},
	} {
		if text := shown(agent.PhaseStarted{Agent: "loop"}, agent.ContextCounted{}, reading, over,
			agent.Used{}); strings.Contains(text, "plan.md") {
			t.Errorf("after %T:\n%s", over, text)
		}
	}
}
