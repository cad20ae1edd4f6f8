package turn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lifehub/agent/agenttest"

	"lifehub/agent"
	"lifehub/llm"
)

// zoo returns the tools of a server with more than fit a prompt.
func zoo() (list []agent.Tool, feed *fakeTool) {
	list = []agent.Tool{search()}
	for i := range 99 {
		list = append(list, &fakeTool{name: fmt.Sprintf("zoo_cage_%d", i), by: "the MCP server zoo"})
	}
	feed = &fakeTool{name: "zoo_feed_giraffe", by: "the MCP server zoo", result: agent.Result{Text: "It ate.", Untrusted: true}}
	return append(list, feed), feed
}

func offeredTools(req llm.Request) (names []string) {
	for _, spec := range req.Tools {
		names = append(names, spec.Name)
	}
	return names
}

func TestFoundToolStaysOffered(t *testing.T) {
	list, feed := zoo()
	model := &script{lines: []line{
		calling("find_tools", `{"query":"feed the giraffe"}`), calling("zoo_feed_giraffe", `{"query":"hay"}`), say("It ate."),
	}}
	ended(t, collect(New(Options{Workers: workers, Model: model, History: &shelf{}, Tools: tools(list...), Session: inMode(agent.LoopMode)}).Ask(t.Context(), "c1", "The giraffe is hungry"), nil))
	if len(feed.runs) != 1 {
		t.Errorf("it ran %d times", len(feed.runs))
	}
	first, second := offeredTools(model.requests[0]), offeredTools(model.requests[1])
	if want := []string{"search_notes", "delegate", "find_tools"}; !slices.Equal(first, want) {
		t.Errorf("offered are %v, want %v", first, want)
	}
	if len(second) < 4 || !slices.Equal(second[:3], first) || second[3] != "zoo_feed_giraffe" || !slices.Equal(offeredTools(model.requests[2]), second) {
		t.Errorf("then %v are offered", second)
	}
	if result := model.requests[1].Messages[len(model.requests[1].Messages)-1].Text; !strings.Contains(result, "zoo_feed_giraffe(query: string)") || strings.Contains(result, "[1]") {
		t.Errorf("the model is told\n%s", result)
	}
}

func TestPlanFindsATool(t *testing.T) {
	list, feed := zoo()
	model := &script{
		lines:   []line{say(`{"steps":[{"id":"1","tool":"find_tools","input":{"query":"feed the giraffe"}}],"again":true}`), say("It ate.")},
		replans: []line{say(`{"steps":[{"id":"2","tool":"zoo_feed_giraffe","input":{"query":"hay"}}]}`)},
	}
	ended(t, collect(New(Options{Workers: workers, Model: model, History: &shelf{}, Tools: tools(list...)}).Ask(t.Context(), "c1", "The giraffe is hungry"), nil))
	if len(feed.runs) != 1 {
		t.Errorf("it ran %d times", len(feed.runs))
	}
}

func TestToolCalledEarlierStaysOffered(t *testing.T) {
	list, _ := zoo()
	for action, message := range map[string]string{`zoo_cage_7({"query":"x"})`: "And now?", "": "Ask @zoo_cage_7 about the lions"} {
		model, history := &script{lines: []line{say("Nothing new."), say("Nothing new.")}}, &before{exchanges: []agent.Exchange{{Turn: "t0", Question: "before", Answer: agent.Answer{Text: "said", Log: []agent.Logged{{Action: action}}}}}}
		ended(t, collect(New(Options{Workers: workers, Model: model, History: history, Tools: tools(list...), Session: inMode(agent.LoopMode)}).Ask(t.Context(), "c1", message), nil))
		if got, want := offeredTools(model.requests[0]), []string{"search_notes", "delegate", "find_tools", "zoo_cage_7"}; !slices.Equal(got, want) {
			t.Errorf("%s: offered are %v, want %v", message, got, want)
		}
	}
}

// Neither the content nor the language of a message changes the tools.
func TestToolsAreTheSameForEachMessage(t *testing.T) {
	list, _ := zoo()
	for _, mode := range []agent.Mode{agent.LoopMode, agent.PlanMode} {
		var system, names string
		for i, message := range []string{"Thanks, that helped!", "Setz Milch auf die Einkaufsliste", "What is the weather at Henrik's address?"} {
			model := &script{lines: []line{say("Hello.")}}
			a := New(Options{Workers: workers, Model: model, History: &shelf{}, Tools: agenttest.Kit{List: append(list, web()), Lacks: map[string]string{"send_email": "no mail server is set"}}, Now: fixedNow, Session: inMode(mode)})
			collect(a.Ask(t.Context(), "c1", message), nil)
			asked := model.requests[0]
			if got := fmt.Sprint(offeredTools(asked)); i > 0 && (got != names || asked.Messages[0].Text != system) {
				t.Errorf("%s, %s: %s are offered, and\n%s\nwant %s, and\n%s", mode, message, got, asked.Messages[0].Text, names, system)
			}
			system, names = asked.Messages[0].Text, fmt.Sprint(offeredTools(asked))
			if mode == agent.LoopMode && !strings.Contains(system, "- send_email: no mail server is set") {
				t.Errorf("%s: what is missing is not told:\n%s", mode, system)
			}
		}
	}
}
