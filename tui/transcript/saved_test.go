package transcript

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/draw"
)

// A turn looks the same while the conversation is open and when it is opened
// again, folded, its plans open, and from 40 columns to 200.
func TestReopenedTurnIsUnchanged(t *testing.T) {
	stories := map[string][]agent.Body{
		"raising": raising(false), "raising, a step failed": raising(true), "recalled": chattest.Recalled,
		"windowed": chattest.Windowed,
		"answered": chattest.Story(chattest.Planning, chattest.Searched, chattest.Answered),
		"changed":  slices.Concat(raising(false), []agent.Body{agent.Ended{Effects: changedTasks}}),
		"nearest": {
			agent.PlanMade{
				Fallback: true, Dropped: []string{"no JSON"},
				Steps: []agent.Step{{ID: "1", Tool: "search_notes"}},
			},
			agent.StepChanged{Step: "1", Status: agent.Done},
			agent.Said{Content: "Your notes don't say."},
			agent.Noticed{Text: "A note was left out."},
			agent.Ended{
				Answer: "Your notes don't say.", Unanswered: true, Nearest: []agent.Source{chattest.Fitness},
				Coverage: &agent.Coverage{Indexed: 608, Total: 1866, Unread: 1258},
			},
		},
		"failed": {
			agent.Said{Content: "It begins"},
			agent.Failed{Message: "model server not reachable", Hint: "start it with: ollama serve"},
		},
		"stopped before anything was said": {
			agent.PhaseStarted{Agent: "planner"},
			agent.Ended{Metrics: agent.Metrics{Interrupted: true}},
		},
		"allowed": {
			agent.PlanMade{Steps: []agent.Step{{
				ID: "1", Tool: "add_task",
				Input: chattest.Raw(`{"text":"` + strings.Repeat("milk ", 99) + `"}`),
			}, {ID: "2", Tool: "fly"}}},
			agent.PermissionGiven{Step: "1", Decision: agent.AllowOnce},
			agent.StepChanged{Step: "1", Status: agent.Done},
			agent.StepChanged{Step: "2", Status: agent.Denied, Reason: "the user said no"},
			agent.ArtifactChanged{Name: "plan", Version: 2, By: "general"},
			agent.Ended{Answer: "Done."},
		},
	}
	for name, tale := range tales {
		stories[name] = tale.bodies
	}
	for _, name := range slices.Sorted(maps.Keys(stories)) {
		bodies := stories[name]
		if _, over := bodies[len(bodies)-1].(agent.Ended); !over {
			if _, over := bodies[len(bodies)-1].(agent.Failed); !over {
				bodies = append(slices.Clip(bodies), agent.Ended{})
			}
		}
		exchange, told := chattest.Saved(t, bodies...)
		live := &Model{Chosen: -1}
		live.Add(&Question{Text: exchange.Question, Turn: exchange.Turn})
		turn := live.Begin()
		for _, e := range told {
			switch body := e.Body.(type) {
			case agent.Ended:
				turn.Ended(body, false, e.Time)
			case agent.Failed:
				turn.Failed(body, false, e.Time)
			default:
				turn.Take(e, e.Time)
			}
		}
		again := &Model{Chosen: -1}
		for _, item := range again.Saved(exchange) {
			again.Add(item)
		}
		for range 2 { // folded, then with all plans open
			for _, width := range []int{40, 80, 120, 200} {
				if was, is := page(live, width), page(again, width); was != is {
					t.Errorf("%s, %d columns: it was\n%s\nand opened again it is\n%s", name, width, was, is)
				}
			}
			live.foldPlans()
			again.foldPlans()
		}
	}
}

// page is all of a transcript, without its colours.
func page(m *Model, width int) string {
	m.Restyle(draw.NewTheme("", true, true, nil))
	m.Resize(width, 60)
	return ansi.Strip(strings.Join(m.Printed(), "\n"))
}
