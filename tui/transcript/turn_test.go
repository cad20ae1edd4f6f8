package transcript

import (
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
	before, loading := agent.Reading{Tokens: 2613, Took: 3000}, agent.Reading{Tokens: 2613, Took: 40_000, PerSecond: 22, Again: true}
	kept := agent.Noticed{Text: "There is no tool fly."}
	if text, state := takes(t, agent.PhaseStarted{Agent: "planner"}, before, kept, loading); strings.Count(text, "reading 2,613 tokens") != 1 || !strings.Contains(text, loading.String()) || state != "waiting for the model" {
		t.Errorf("it is %s:\n%s", state, text)
	}
	for _, next := range []agent.Body{agent.ContextCounted{}, agent.Thought{Content: "Which?"}, agent.Said{Content: "Yes."}, agent.Used{}, agent.Failed{}, agent.Ended{}} {
		text, state := takes(t, agent.PhaseStarted{Agent: "planner"}, loading, kept, next)
		if strings.Contains(text, loading.String()) || !strings.Contains(text, kept.Text) || state == "waiting for the model" {
			t.Errorf("after %T it is %s:\n%s", next, state, text)
		}
	}
}

func TestThinkingBeforeAPlanNamesTheAgent(t *testing.T) {
	thought := func(who string) agent.Body { return agent.Thought{Agent: who, Content: "Which tool?"} }
	text, state := takes(t, agent.PhaseStarted{Agent: "planner"}, thought("planner"), agent.PhaseStarted{Agent: "lead"}, thought("lead"))
	if !strings.Contains(text, "planner: thought") || !strings.Contains(text, "lead: thinking") || state != "lead: thinking" {
		t.Errorf("it is %q:\n%s", state, text)
	}
	for agentName, want := range map[string]string{"lead": "lead: working", "planner": "planning", "loop": "working"} {
		if _, state := takes(t, agent.PhaseStarted{Agent: agentName}); state != want {
			t.Errorf("%s: %q, want %q", agentName, state, want)
		}
	}
}
