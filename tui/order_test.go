package tui

import (
	"context"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
)

// rounds is a loop that thinks and speaks before each of its calls, and asks
// once for what cannot be run.
var rounds = []agent.Body{
	agent.Started{Conversation: "c1", Mode: "loop"},
	agent.PhaseStarted{Agent: "loop"},
	agent.ContextCounted{Agent: "loop"},
	agent.Thought{Agent: "loop", Content: "First-thought."},
	agent.Said{Content: "Let me look "},
	agent.Said{Content: "into the notes.\n\n"},
	agent.PlanMade{Mode: agent.LoopMode, Steps: []agent.Step{{
		ID: "1", Tool: "search_notes",
		Input: chattest.Raw(`{"query":"running"}`),
	}}},
	agent.StepChanged{Step: "1", Status: agent.Running},
	agent.ToolStarted{Step: "1", Call: "a", Name: "search_notes", Input: chattest.Raw(`{"query":"running"}`)},
	agent.ToolEnded{
		Step: "1", Call: "a", Name: "search_notes", Output: "1 passage",
		Sources: []agent.Source{chattest.Fitness}, Took: 84,
	},
	agent.StepChanged{Step: "1", Status: agent.Done},
	agent.ContextCounted{Agent: "loop"},
	agent.Said{Content: "I will fly there.\n\n"},
	agent.Noticed{Text: "There is no tool fly."},
	agent.ContextCounted{Agent: "loop"},
	agent.Thought{Agent: "loop", Content: "Second-thought."},
	agent.Said{Content: "Then the web.\n\n"},
	agent.PlanMade{
		Mode: agent.LoopMode, Before: []agent.Step{{ID: "1"}},
		Steps: []agent.Step{{ID: "2", Tool: "brave_web_search", Input: chattest.Raw(`{"query":"tips"}`)}},
	},
	agent.StepChanged{Step: "2", Status: agent.Running},
	agent.ToolStarted{Step: "2", Call: "b", Name: "brave_web_search", Input: chattest.Raw(`{"query":"tips"}`)},
	agent.ToolEnded{Step: "2", Call: "b", Name: "brave_web_search", Output: "Drink early.", Took: 20},
	agent.StepChanged{Step: "2", Status: agent.Done},
	agent.ContextCounted{Agent: "loop"},
	agent.PlanMade{
		Mode: agent.LoopMode, Before: []agent.Step{{ID: "1"}, {ID: "2"}},
		Steps: []agent.Step{{ID: "3", Tool: "calculate", Input: chattest.Raw(`{"expression":"42/4"}`)}},
	},
	agent.StepChanged{Step: "3", Status: agent.Done},
	agent.ContextCounted{Agent: "loop"},
	agent.Said{Content: "You run three times a week [1]."},
	agent.Ended{Answer: "Let me look into the notes.\n\nI will fly there.\n\nThen the web.\n\nYou run three times a " +
		"week [1]."},
}

// mustFollow reports what of a text does not follow what comes before it.
func mustFollow(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing, or not below what came before it, in\n%s", part, text)
		}
		rest = after
	}
}

func TestALoopIsShownInItsOrder(t *testing.T) {
	options := chattest.WithWorld(chattest.Play(rounds...))
	inRig(t, 80, 60, options, func(r *rig) {
		r.ask("How often do I run?")
		text := r.text()
		mustFollow(t, text, "· thought ▸", "Let me look into the notes.", "✓ search notes · 1 passage ▸",
			"I will fly there.", "There is no tool fly.",
			"· thought ▸", "Then the web.", "✓ brave web search · calculate ▸", "You run three times a week")
		if strings.Count(text, "Let me look") != 1 || strings.Contains(text, "○") || strings.Contains(text, "skipped") {
			t.Errorf("something is shown twice, or waits:\n%s", text)
		}
		r.keys("ctrl+o")
		mustFollow(t, r.text(), "First-thought.", "Let me look into the notes.", "Second-thought.", "Drink early.")
	})
	var out strings.Builder
	if _, err := RunPlain(context.Background(), chattest.WithWorld(chattest.Play(rounds...)),
		strings.NewReader("How often do I run?\n"), &out); err != nil {
		t.Fatal(err)
	}
	mustFollow(t, out.String(), "thinking: First-thought.\n", "Let me look into the notes.\n",
		"plan 1: search_notes running\n", "step 1 returned: 1 passage\n",
		"I will fly there.\n", "There is no tool fly.",
		"thinking: Second-thought.\n", "Then the web.\n", "plan 2: brave_web_search tips\n",
		"step 2 returned: Drink early.\n", "plan 3: calculate", "You run three times a week [1].\n")
}

// What fills the window is told with the calls whose results it holds.
func TestContextListsTheCallsInThePrompt(t *testing.T) {
	held := agent.ContextCounted{
		Agent: "explainer", Parts: map[string]int{"results": 40},
		Used: 40, Log: []agent.Logged{
			{Step: "1", Action: `search_notes({"query":"running"})`, Result: "1 passage"},
			{Step: "2", Action: "fly({})", Result: "failed: no wings"},
		},
	}
	want := []string{
		"Context window", "results", `step 1: search_notes({"query":"running"}) → 1 passage`,
		"step 2: fly({}) → failed: no wings",
	}
	inRig(t, 80, 30, chattest.WithWorld(chattest.Play(held, agent.Said{Content: "Yes."}, agent.Ended{Answer: "Yes."})),
		func(r *rig) {
			r.ask("How often do I run?")
			r.keys("/context", "enter")
			mustFollow(t, r.text(), want...)
		})
}

// looped is a store with a turn of a loop.
type looped struct{ chattest.Kept }

func (looped) Latest(context.Context, string, int) ([]agent.Exchange, error) {
	return []agent.Exchange{{Turn: "c1.1", Question: "How often do I run?", Current: true, Answer: agent.Answer{
		Text: "Let me look.\n\nThen the web.\n\nThree times a week.", Cut: true,
		Log: []agent.Logged{
			{Thought: "First-thought."},
			{At: 14, Step: "1", Action: `search_notes({"query":"running"})`, Result: "1 passage"},
			{
				At: 29, Step: "2", Action: `brave_web_search({"query":"tips"})`,
				Result: "denied: the user said no\x1b[2J",
			},
		},
	}}}, nil
}

func TestALoopIsOpenedAgainInItsOrder(t *testing.T) {
	want := []string{
		"How often do I run?", "thought: First-thought.", "Let me look.",
		`search_notes({"query":"running"}) → 1 passage`, "Then the web.",
		`brave_web_search({"query":"tips"}) → denied:`, "no", "Three times a week.", "stopped",
	}
	options := chattest.WithWorld(chattest.Play())
	options.Conversations, options.Conversation = looped{}, "c1"
	inRig(t, 80, 40, options, func(r *rig) {
		mustFollow(t, r.text(), "How often do I run?", "· thought ▸", "Let me look.", "✓ search notes ▸",
			"Then the web.", "⊘ brave web search denied ▸", "Three times a week.", "stopped")
		r.keys("ctrl+o")
		mustFollow(t, r.text(), "How often do I run?", "First-thought.", "Let me look.", "search_notes", "1 passage",
			"Then the web.", "brave_web_search", "denied: you said no", "Three times a week.", "stopped")
	})
	options = chattest.WithWorld(chattest.Play())
	options.Conversations, options.Conversation = looped{}, "c1"
	var out strings.Builder
	if _, err := RunPlain(context.Background(), options, strings.NewReader("/quit\n"), &out); err != nil {
		t.Fatal(err)
	}
	mustFollow(t, out.String(), want...)
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a control character is written: %q", out.String())
	}
}

// Stopped between two rounds, the turn says so below what came last.
func TestStoppedLoopEndsWithARemark(t *testing.T) {
	inRig(t, 80, 40, chattest.WithWorld(chattest.Hold(rounds[:11]...)), func(r *rig) {
		r.ask("How often do I run?")
		r.keys("esc")
		mustFollow(t, r.text(), "Let me look into the notes.", "✓ search notes", "stopped")
	})
}

// A question that was answered while notes were being read can be asked again.
func TestPartialAnswerOffersToAskAgain(t *testing.T) {
	part := &agent.Coverage{Indexed: 608, Total: 1866, Unread: 1258}
	model := chattest.Play(agent.Started{Conversation: "c1"}, agent.Said{Content: "Three times."},
		agent.Ended{Answer: "Three times.", Coverage: part})
	inRig(t, 80, 30, chat.Options{Assistant: model}, func(r *rig) {
		r.send(statusMsg{Provider: "ollama", Model: "qwen3:8b", Notes: 1866, Indexed: 608, Indexing: true})
		r.ask("How often do I run?")
		mustFollow(t, r.text(), "Three times.", "! 608 of 1,866 notes")
		r.mustNotShow("Enter asks again.")
		r.send(statusMsg{Provider: "ollama", Model: "qwen3:8b", Notes: 1866, Indexed: 1866})
		r.mustShow("Enter asks again.")
		r.keys("enter")
		if n := strings.Count(r.text(), "Three times."); n != 2 {
			t.Errorf("asked %d times:\n%s", n, r.text())
		}
	})
	var out strings.Builder
	if _, err := RunPlain(context.Background(), chattest.WithWorld(model),
		strings.NewReader("How often?\n"), &out); err != nil {
		t.Fatal(err)
	}
	mustFollow(t, out.String(), "Three times.\n", "608 of 1,866 notes", "/retry")
}
