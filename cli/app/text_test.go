package app_test

import (
	"context"
	"encoding/json"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// scripted is a provider with a scripted model.
type scripted struct {
	llm.Provider
	script *llmtest.Script
}

func (s scripted) State() llm.State {
	state := s.Provider.State()
	state.Model, state.Tools = "scripted", true
	return state
}

func (s scripted) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return s.script.Stream(ctx, req)
}

// A text that a worker of the team wrote and the evaluator accepted is shown, though the notes have
// its words: nothing of it becomes a thought, and the notes are not searched.
func TestTextOfATeamIsNotLookedUp(t *testing.T) {
	t.Parallel()
	home, vault := t.TempDir(), t.TempDir()
	apptest.Write(t, filepath.Join(vault, "sea.md"), "# The sea\n\nWe rent a cottage by the sea in June. A sailor "+
		"called Magnus has the key.\n")
	for name, tc := range map[string]struct{ message, text, shown string }{
		"the report is the answer": {
			"Write a limerick about the sea.",
			"A sailor who lived by the sea\nhad a cottage, a dog and a flea.", "",
		},
		"the lead gives the report": {
			"Compose a toast to the sailor.",
			"To the sailor Magnus, who has the key to every heart!", "Here is your toast: to Magnus, the sailor!",
		},
		"the lead says other words": {
			"Schreib mir ein Gedicht vom Meer.", "Das Meer, das Meer, es rauscht so sehr.",
			"Hier ist es, ganz kurz. The sea is in it.",
		},
	} {
		a, err := app.Open(t.Context(), apptest.Process(home, "LIFEHUB_MODE=team"),
			app.RunFlags{Notes: []string{vault}})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Ready(t.Context(), "", &app.Bar{}); err != nil {
			t.Fatal(err)
		}
		task := must(json.Marshal(map[string]any{
			"worker_type": "general", "task_description": tc.message,
			"success_criteria": "It rhymes.", "whole_message": tc.shown == "",
		}))
		script := llmtest.NewScript(
			llmtest.Answer{Match: "You lead a team", Calls: []llm.ToolCall{{
				ID:   "1",
				Name: agent.DelegateTool, Args: task,
			}}},
			llmtest.Answer{Match: "You are a member of a team", Text: tc.text},
			llmtest.Answer{Match: "You judge", Text: `{"passed":true,"score":0.9,"feedback":"It rhymes."}`},
		)
		want, calls := tc.text, 3
		if tc.shown != "" {
			script.Say(tc.shown)
			want, calls = tc.shown, 4
		}
		a.Provider = scripted{a.Provider, script}
		shown, last := "", agent.Ended{}
		for e := range a.Agent().Ask(t.Context(), a.Store.NewConversation(), tc.message) {
			switch body := e.Body.(type) {
			case agent.Said:
				shown += body.Content
			case agent.Thought:
				t.Errorf("%s: became a thought: %q", name, body.Content)
			case agent.Failed:
				t.Errorf("%s: the turn failed: %s", name, body.Message)
			case agent.Ended:
				last = body
			}
		}
		if strings.TrimSpace(shown) != want || last.Answer != want || last.ModelCalls != calls ||
			len(script.Requests()) != calls {
			t.Errorf("%s: %d calls of the model, shown %q, saved %q", name, last.ModelCalls, shown, last.Answer)
		}
		a.Close()
	}
}
