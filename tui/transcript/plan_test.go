package transcript

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// The row of a worker whose result was not accepted, or that the user denied, does not look
// successful.
func TestRowOfAWorkerShowsItsOutcome(t *testing.T) {
	const task = "Find what is written about running, and about the bike"
	judged := func(list ...agent.Judgement) (told []agent.Evaluated) {
		for i, j := range list {
			told = append(told, agent.Evaluated{Step: "1", Attempt: i + 1, Judgement: j})
		}
		return told
	}
	for name, tc := range map[string]struct {
		told   []agent.Evaluated
		tries  int
		status agent.Status
		below  agent.Status
		width  int
		want   []string
		lacks  []string
	}{
		"accepted": {
			told: judged(agent.Judgement{Passed: true, Score: 0.9}), tries: 1, status: agent.Done,
			below: agent.Done, width: 100, want: []string{"✓ 1", "attempt 1, score 0.90", "7 passages", "▸ 1 call "},
			lacks: []string{"accepted"},
		},
		"partial": {
			told: judged(agent.Judgement{Score: 0.6}, agent.Judgement{Score: 0.2}), tries: 2,
			status: agent.Done, below: agent.Done, width: 100,
			want:  []string{"≈ 1", "partial: score 0.60 at best in 2 attempts", "Find what is"},
			lacks: []string{"✓ 1", "passages"},
		},
		"not judged": {
			told: judged(agent.Judgement{Passed: true, Unjudged: true}), tries: 1, status: agent.Done,
			below: agent.Done, width: 160, want: []string{"✓ 1", "attempt 1, not judged"}, lacks: []string{"score"},
		},
		"tried again": {
			told: judged(agent.Judgement{Score: 0.4}), tries: 2, status: agent.Running, below: agent.Done,
			width: 100, want: []string{"attempt 2, 0.40 before"},
		},
		"a no": {
			told: judged(agent.Judgement{Passed: true, Score: 1}), tries: 1, status: agent.Done,
			below: agent.Denied, width: 100, want: []string{"▸ 1 call, 1 denied"},
		},
		"a failure": {
			told: judged(agent.Judgement{Passed: true, Score: 1}), tries: 1, status: agent.Done,
			below: agent.StepFailed, width: 100, want: []string{"▸ 1 call, 1 failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			told := []agent.Body{
				agent.PlanMade{Steps: []agent.Step{{
					ID: "1", Tool: agent.DelegateTool,
					Input: chattest.Raw(`{"worker_type":"notes","task_description":"` + task + `"}`),
				}}},
				agent.PlanMade{Under: "1", Steps: []agent.Step{{
					ID: "1.1", Tool: "add_task",
					Input: chattest.Raw(`{"text":"x"}`),
				}}},
				agent.StepChanged{Step: "1.1", Status: tc.below},
				agent.ToolStarted{Step: "1", Call: "a"},
				agent.ToolEnded{Step: "1", Call: "a", Sources: make([]agent.Source, 7)},
			}
			for _, e := range tc.told {
				told = append(told, agent.PhaseStarted{Step: "1", Attempt: e.Attempt}, e)
			}
			told = append(told, agent.PhaseStarted{Step: "1", Attempt: tc.tries},
				agent.StepChanged{Step: "1", Status: tc.status})
			p := planOf(now, told...)
			p.SetOpen(true)
			row := safetext.Line(strings.Join(p.Render(tc.width, draw.NewTheme("", true, false, nil))[1:2], ""))
			for _, want := range tc.want {
				if !strings.Contains(row, want) {
					t.Errorf("the row lacks %q:\n%s", want, row)
				}
			}
			for _, lacks := range tc.lacks {
				if strings.Contains(row, lacks) {
					t.Errorf("the row has %q:\n%s", lacks, row)
				}
			}
		})
	}
}

// planOf draws the plan of these events.
func planOf(now time.Time, told ...agent.Body) *Plan {
	var v chat.View
	for _, body := range told {
		v.Apply(agent.Event{Body: body}, now)
	}
	return New(v.Plan(), false)
}

func TestUnusablePlanShowsTheReason(t *testing.T) {
	p := planOf(time.Unix(0, 0), agent.PlanMade{
		Fallback: true, Dropped: []string{"no braces"},
		Steps: []agent.Step{{ID: "1", Tool: "search_notes"}},
	})
	lines := ansi.Strip(strings.Join(p.Render(80, draw.NewTheme("", true, false, nil)), "\n"))
	if !strings.Contains(lines, "no usable plan") || !strings.Contains(lines, "because: no braces") {
		t.Errorf("the plan is\n%s", lines)
	}
}

func TestLongFailureNamesItsCause(t *testing.T) {
	for reason, want := range map[string]string{
		"there is no note x.md": "failed: there is no note x.md",
		"fetch http://192.168.1.1/a/long/way: dial tcp 192.168.1.1:80: it is no public address": "failed: it is no " +
			"public address",
		strings.Repeat("words ", 20): "failed: words words",
	} {
		p := planOf(time.Unix(0, 0), agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "web_fetch"}}},
			agent.StepChanged{Step: "1", Status: agent.StepFailed, Reason: reason})
		if row := ansi.Strip(p.Render(100, draw.NewTheme("", true, false, nil))[1]); !strings.Contains(row, want) {
			t.Errorf("%s: the row is\n%s", reason, row)
		}
	}
}

// Below the error of a network failure, an expanded step shows the system's own message.
func TestAFailedStepUnfoldsToItsCause(t *testing.T) {
	const says, cause = "a.example was not found", "lookup a.example: no\x1b[2J such host"
	now := time.Unix(0, 0)
	p := planOf(now, agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "web_fetch"}}},
		agent.ToolStarted{Step: "1", Call: "a", Name: "web_fetch"},
		agent.ToolEnded{Step: "1", Call: "a", Error: says, Cause: cause},
		agent.StepChanged{Step: "1", Status: agent.StepFailed, Reason: says})
	theme := draw.NewTheme("", true, false, nil)
	if folded := ansi.Strip(strings.Join(p.Render(100, theme), "\n")); strings.Contains(folded, "lookup") ||
		!strings.Contains(folded, "a.example was not found") {
		t.Errorf("folded it is\n%s", folded)
	}
	p.Fold(false)
	if raw := strings.Join(p.Render(100, theme), "\n"); !strings.Contains(ansi.Strip(raw),
		"lookup a.example: no such host") || strings.Contains(raw, "[2J") {
		t.Errorf("unfolded it is\n%q", raw)
	}
}

// Columns of a plan are two cells apart at every width, however long a step took.
func TestTheColumnsOfAPlanNeverTouch(t *testing.T) {
	now := time.Unix(0, 0)
	for width := 20; width <= 120; width++ {
		for _, took := range []time.Duration{84 * time.Millisecond, 90 * time.Second, 754 * time.Second} {
			p := planOf(now, agent.PlanMade{Steps: []agent.Step{{
				ID: "1", Tool: "search_notes",
				Input: chattest.Raw(`{"query":"running"}`),
			}}},
				agent.StepChanged{Step: "1", Status: agent.Running},
				agent.ToolStarted{Step: "1", Call: "a"},
				agent.ToolEnded{Step: "1", Call: "a", Sources: make([]agent.Source, 7), Took: took.Milliseconds()},
				agent.StepChanged{Step: "1", Status: agent.Done})
			p.SetOpen(true)
			row := ansi.Strip(p.Render(width, draw.NewTheme("", true, false, nil))[1])
			for _, cell := range []string{"search", "running", "7 passages", draw.Duration(took)} {
				if before, _, there := strings.Cut(row, cell); there && !strings.HasSuffix(before, "  ") {
					t.Errorf("%d columns: %q touches what is left of it:\n%s", width, cell, row)
				}
			}
		}
	}
}

func TestRepeatedSearchIsOnceInTheFoldedPlan(t *testing.T) {
	now := time.Unix(0, 0)
	search := func(id, tool string) agent.Step {
		return agent.Step{ID: id, Tool: tool, Input: chattest.Raw(`{"query":"running ` + id + `"}`)}
	}
	told := []agent.Body{agent.PlanMade{Steps: []agent.Step{
		search("1", "search_notes"), search("2", "search_notes"),
		search("3", "web_search"),
	}}}
	for _, id := range []string{"1", "2", "3"} {
		told = append(told, agent.StepChanged{Step: id, Status: agent.Running}, agent.ToolStarted{Step: id, Call: id},
			agent.ToolEnded{Step: id, Call: id, Sources: make([]agent.Source, 2), Took: 1000},
			agent.StepChanged{Step: id, Status: agent.Done})
	}
	p := planOf(now, told...)
	row := ansi.Strip(strings.Join(p.Render(100, draw.NewTheme("", true, false, nil)), "\n"))
	if want := "✓ search notes ×2 · web search · 6 passages"; !strings.Contains(row, want) ||
		strings.Count(row, "search notes") != 1 {
		t.Errorf("%q, want %q", row, want)
	}
}
