package turn

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
)

// In a read-only chat nothing that writes runs, whoever calls it and whatever the rules
// say: not the model in any mode, not the user's own @tool or command, not an earlier
// plan.
func TestReadOnlyRunsNothingThatWrites(t *testing.T) {
	call := agent.Step{Tool: "add_task", Input: json.RawMessage(`{"text":"buy shoes"}`)}
	for name, events := range map[string]func(o Options) []agent.Event{
		"a plan": func(o Options) []agent.Event {
			o.Model = &script{lines: []line{say(taskStep), say("Done."), say("Done.")}}
			return collect(New(o).Ask(t.Context(), "c1", "add a task"), always(agent.AllowAlways))
		},
		"a round of the loop": func(o Options) []agent.Event {
			o.Session = agenttest.Session{In: agent.LoopMode, OnlyReads: true}
			o.Model = &script{lines: []line{calling("add_task", `{"text":"buy shoes"}`), say("Done.")}}
			return collect(New(o).Ask(t.Context(), "c1", "add a task"), always(agent.AllowAlways))
		},
		"@tool": func(o Options) []agent.Event {
			o.Model = &script{lines: []line{say(taskStep), say("Done."), say("Done.")}}
			return collect(New(o).Ask(t.Context(), "c1", `@add_task text="buy shoes"`), always(agent.AllowAlways))
		},
		"a command": func(o Options) []agent.Event {
			o.Model = &script{lines: []line{say("Done.")}}
			return collect(New(o).Call(t.Context(), "c1", "/task buy shoes", call), always(agent.AllowAlways))
		},
	} {
		t.Run(name, func(t *testing.T) {
			task := addTask()
			list := events(Options{History: &shelf{}, Tools: tools(search(), task), Rules: allowAll(), Session: agenttest.Session{In: agent.PlanMode, OnlyReads: true}})
			if n := len(task.ran()); n > 0 {
				t.Errorf("it ran %d times", n)
			}
			if text := fmt.Sprint(list); !strings.Contains(text, "this chat is read-only") {
				t.Errorf("why is not told: %s", text)
			}
		})
	}
	for cut := range len(strings.Fields(searchAndTaskMoments)) - 2 { // before the task is started
		task := addTask()
		o := Options{Tools: tools(reader{search()}, task), Model: &script{lines: []line{say(searchAndTask), {text: "You run", hangs: true}}}}
		kept := cutAt(t, cut+1, o)
		o.Model, o.Rules, o.Session = &script{lines: []line{say(goodAnswer), say(goodAnswer)}}, allowAll(), agenttest.Session{In: agent.PlanMode, OnlyReads: true}
		resume(t, kept, o, always(agent.AllowOnce))
		if n := len(task.ran()); n > 0 {
			t.Errorf("cut after %d entries and resumed, it ran %d times", cut+1, n)
		}
	}
}

// marked is a tool of an MCP server, as seen by the gate.
type marked struct{ hinted }

func (m marked) Properties() agent.Properties {
	of := m.hinted.Properties()
	of.Outward = true
	return of
}

// A server's declaration decides only whether its tool is offered. A tool that lies
// still asks, since the declaration is not a permission.
func TestReadOnlyAsksForServerTools(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		reads      *bool
		asked, ran int
	}{
		"says that it changes nothing": {&yes, 1, 1}, "says that it writes": {&no, 0, 0}, "says nothing": {nil, 0, 0},
	} {
		tool, asked := addTask(), 0
		o := Options{History: &shelf{}, Tools: tools(marked{hinted{tool, c.reads}}), Session: agenttest.Session{In: agent.PlanMode, OnlyReads: true}, Model: &script{lines: []line{say(taskStep), say("Done."), say("Done.")}}}
		collect(New(o).Ask(t.Context(), "c1", "add a task"), func(agent.PermissionAsked) agent.Reply {
			asked++
			return agent.Reply{Decision: agent.AllowOnce}
		})
		if asked != c.asked || len(tool.ran()) != c.ran {
			t.Errorf("one that %s: asked %d times, ran %d times", name, asked, len(tool.ran()))
		}
	}
}
