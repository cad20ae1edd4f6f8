package turn

import (
	"errors"
	"strings"
	"testing"

	"lifehub/agent"
)

// A plan in place of the answer is requested again once, and never shown.
// saidIn returns the answer in the events, without what was taken back.
func saidIn(events []agent.Event) (text string) {
	for _, piece := range bodies[agent.Said](events) {
		text = text[:len(text)-piece.Takes] + piece.Content
	}
	return text
}

func TestPlanIsNeverShownAsAnswer(t *testing.T) {
	t.Parallel()
	const planned = `{"reasoning":"look again","steps":[{"id":"1","tool":"search_notes","input":{"query":"run"}}]}`
	for name, c := range map[string]struct {
		answers []string
		said    string
		fails   bool
	}{
		"once":        {[]string{planned, "Three times a week."}, "Three times a week.", false},
		"twice":       {[]string{planned, "```json\n" + planned + "\n```"}, "", true},
		"after prose": {[]string{"Let me see.\n" + planned, "Three times a week."}, "Three times a week.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := []line{searchLine()}
			for _, answer := range c.answers {
				lines = append(lines, say(answer))
			}
			events := collect(New(Options{Model: &script{lines: lines}, History: &shelf{}, Tools: tools(search())}).Ask(t.Context(), "c1", "How often do I run?"), nil)
			if shown := saidIn(events); strings.Contains(shown, "reasoning") || !strings.HasPrefix(shown, c.said) {
				t.Errorf("said %q, want %q", shown, c.said)
			}
			failed := bodies[agent.Failed](events)
			if (len(failed) == 1) != c.fails || c.fails && !errors.Is(failed[0].Err, agent.ErrPlanned) {
				t.Errorf("failed: %+v", failed)
			}
		})
	}
}

// A model that repeats a step is stopped: its plan is what comes before.
func TestRepeatedStepEndsThePlan(t *testing.T) {
	notes := search()
	const step = `{"tool": "search_notes", "input": {"query": "running"}}`
	loops := line{text: `{"steps": [` + step + `, {"tool": "search_notes", "input": {"query": "shoes"}}, ` + step + `, ` + step, hangs: true}
	model := &script{lines: []line{loops, say(goodAnswer)}}
	end := ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(notes)}).Ask(t.Context(), "c1", errand), nil))
	if got := notes.ran(); len(got) != 2 || end.Answer != goodAnswer || end.ModelCalls != 2 {
		t.Errorf("searched for %q, answered %q after %d calls", got, end.Answer, end.ModelCalls)
	}
}

// A plan made of an example is asked for once more.
func TestPlanOfAnExampleIsNoPlan(t *testing.T) {
	task := addTask()
	model := &script{lines: []line{say(`{"steps":[{"tool":"add_task","input":{"text":"paint the fence"}}]}`), say(taskStep), say("Done.")}}
	collect(New(Options{Model: model, History: &shelf{}, Tools: tools(task)}).Ask(t.Context(), "c1", errand), always(agent.AllowOnce))
	if got := task.ran(); len(got) != 1 || got[0] != `{"text":"buy shoes"}` {
		t.Errorf("ran %q", got)
	}
}
