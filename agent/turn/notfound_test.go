package turn

import (
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/llm/offline"
)

// doubtful is a search whose results hardly answer the question.
func doubtful() *fakeTool {
	return &fakeTool{name: "search_notes", result: agent.Result{Text: fitness.Text, Sources: []agent.Source{fitness, tea}, Searched: true, Unlikely: true, Close: true}}
}

const near = " Related, but not an answer: `fitness.md:12 Running › Plan`, `kitchen/tea.md:1 Tea`."

func TestAbstentionComesFirst(t *testing.T) {
	both := say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"a"}},{"id":"2","tool":"brave_web_search","input":{"query":"a"}}]}`)
	tests := map[string]struct {
		message string
		tools   []agent.Tool
		plan    line
		says    string
		want    string // the answer
		holds   bool   // the notes have it
	}{
		"a search that doubts":            {"Who am I?", []agent.Tool{doubtful()}, searchLine(), "You are Ana [1].", "Your notes don't say." + near + "\n\nYou are Ana [1].", false},
		"a question in another language":  {"我的名字是什么？", []agent.Tool{doubtful()}, searchLine(), "你跑步[1]。", "Your notes don't say." + near + "\n\n你跑步[1]。", false},
		"nothing found":                   {"Who am I?", []agent.Tool{&fakeTool{name: "search_notes", result: agent.Result{Searched: true, Nothing: true, Unlikely: true}}}, searchLine(), "I cannot tell.", "Your notes don't say.\n\nI cannot tell.", false},
		"a search that found it":          {"Who am I?", []agent.Tool{found(fitness)}, searchLine(), "You run [1].", "You run [1].", true},
		"a model that says so":            {"Who am I?", []agent.Tool{found(fitness)}, searchLine(), "Your notes don't mention a name.", "Your notes don't mention a name.", true},
		"another tool brought the answer": {"Who am I?", []agent.Tool{doubtful(), web()}, both, "The web says Ana.", "The web says Ana.", true},
		"no search at all":                {"Who am I?", []agent.Tool{web()}, say(`{"steps":[{"id":"1","tool":"brave_web_search","input":{"query":"a"}}]}`), "The web says Ana.", "The web says Ana.", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			model := &script{lines: []line{tc.plan, say(tc.says)}}
			events := collect(New(Options{Model: model, History: &shelf{}, Tools: tools(tc.tools...)}).Ask(t.Context(), "c1", tc.message), nil)
			end := ended(t, events)
			if end.Answer != tc.want || end.Unanswered == tc.holds {
				t.Errorf("unanswered %v, answer\n%s\nwant\n%s", end.Unanswered, end.Answer, tc.want)
			}
			var text strings.Builder
			for _, piece := range bodies[agent.Said](events) {
				text.WriteString(piece.Content)
			}
			if text.String() != end.Answer {
				t.Errorf("streamed %q", text.String())
			}
			if last := model.requests[len(model.requests)-1].Messages[1].Text; strings.Contains(last, "already begins with") == tc.holds {
				t.Errorf("the prompt: %s", last)
			}
		})
	}
}

func found(sources ...agent.Source) *fakeTool {
	return &fakeTool{name: "search_notes", result: agent.Result{Text: "found", Sources: sources, Searched: true}}
}

// The best of several searches counts.
func TestOneGoodSearchIsEnough(t *testing.T) {
	model := &script{lines: []line{say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"a"}},{"id":"2","tool":"look","input":{"query":"b"}}]}`), say("You run [1].")}}
	good := found(fitness)
	good.name = "look"
	end := ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(doubtful(), good)}).Ask(t.Context(), "c1", "Who am I?"), nil))
	if end.Unanswered || end.Answer != "You run [1]." {
		t.Errorf("answer %q", end.Answer)
	}
}

// If a tool failed and the notes have no answer, the failure comes first.
func TestFailureLeadsTheAnswer(t *testing.T) {
	model := &script{lines: []line{say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"a"}},{"id":"2","tool":"look","input":{"query":"b"}}]}`), say("It does not answer.")}}
	broken := &fakeTool{name: "look", reads: true, err: errFake("no answer within 60s")}
	end := ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(doubtful(), broken), Limits: Limits{Replans: -1}}).Ask(t.Context(), "c1", "Who am I?"), nil))
	if !strings.HasPrefix(end.Answer, "`look` failed. Your notes don't say.") {
		t.Errorf("answer %q", end.Answer)
	}
}

func TestOfflineAbstentionComesFirst(t *testing.T) {
	assistant := New(Options{Model: offline.New(), History: &shelf{}, Tools: tools(doubtful())})
	end := ended(t, collect(assistant.Ask(t.Context(), "c1", "When do I rest from the violin?"), nil))
	if !strings.HasPrefix(end.Answer, "No model is connected. Closest passages:\n\n**Running › Plan** · `fitness.md:12`\n> ") || !end.Unanswered || !end.Close {
		t.Errorf("answer %q", end.Answer)
	}
}

func TestHealthReportsOnlyProblems(t *testing.T) {
	for want, c := range map[string]agent.Coverage{
		"searched 1,284 notes": {Indexed: 1284, Total: 1284, Age: 30, Embedder: "nomic"}, "searched 1 note": {Indexed: 1, Total: 1},
		"searched 900 of 1,284 notes": {Indexed: 900, Total: 1284}, "searched 3 notes · indexed 3 h ago": {Indexed: 3, Total: 3, Age: 3 * 3600},
		"searched 3 notes · keyword search only: the embedder is down": {Indexed: 3, Total: 3, Embedder: "keyword search only: the embedder is down"},
	} {
		if got := c.Health(); got != want {
			t.Errorf("%+v is told as %q, not %q", c, got, want)
		}
	}
}
