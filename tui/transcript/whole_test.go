package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/draw"
)

const raise = "Your plan says to raise it by “at most 10 % a week” [1] and to step back every fourth week. The log " +
	"shows four weeks in a row above that [2], " +
	"and the physio wants a rest [3].\n\n```python\nweeks = [12, 13.2, 14.5, 12]\n```\n\nSleep eight hours [4]."

// raising is a turn in the order of its events: a search that works, one that
// fails where that is said, and an answer with four citations.
func raising(fails bool) []agent.Body {
	at := func(mark string) int { return strings.Index(raise, mark) + len(mark) }
	sources := []agent.Source{
		{
			N: 1, Path: "running/plan.md", Line: 8, EndLine: 14, Heading: "The long run",
			Text: "Raise it by at most 10 % a week.",
		},
		{N: 2, Path: "running/log.md", Line: 40, EndLine: 52, Text: "three weeks in a row"},
		{N: 3, Path: "health/physio/2026/autumn/appointments and exercises.md", Line: 3, EndLine: 9, Text: "Rest."},
	}
	ended, brought := agent.StepChanged{Step: "2", Status: agent.Done},
		agent.ToolEnded{Step: "2", Call: "b", Name: "brave_web_search", Output: "3 pages", Took: 812}
	if fails {
		ended, brought = agent.StepChanged{Step: "2", Status: agent.StepFailed, Reason: "no network"},
			agent.ToolEnded{Step: "2", Call: "b", Name: "brave_web_search", Error: "no network", Took: 812}
	}
	return []agent.Body{
		agent.PhaseStarted{Agent: "planner"},
		agent.Thought{Agent: "planner", Content: "The user runs."},
		agent.PlanMade{Steps: []agent.Step{
			{ID: "1", Tool: "search_notes", Input: chattest.Raw(`{"query":"weekly running distance"}`)},
			{ID: "2", Tool: "brave_web_search", Input: chattest.Raw(`{"query":"raise weekly running distance safely",` +
				`"count":5}`)},
		}},
		agent.StepChanged{Step: "1", Status: agent.Running},
		agent.ToolStarted{Step: "1", Call: "a", Name: "search_notes"},
		agent.StepChanged{Step: "2", Status: agent.Running},
		agent.ToolStarted{Step: "2", Call: "b", Name: "brave_web_search"},
		agent.ToolEnded{
			Step: "1", Call: "a", Name: "search_notes", Sources: sources, Took: 84,
			Coverage: &agent.Coverage{Indexed: 1866, Total: 1866},
		},
		agent.StepChanged{Step: "1", Status: agent.Done},
		brought, ended,
		agent.PhaseStarted{Agent: "explainer"},
		agent.Said{Content: raise},
		agent.Cited{Citation: agent.Citation{
			N: 1, Path: "running/plan.md", Line: 12, Verdict: agent.Verified,
			Sentence: "x", At: at("[1]"),
		}, Source: sources[0]},
		agent.Cited{Citation: agent.Citation{
			N: 2, Path: "running/log.md", Line: 44, Verdict: agent.Stale,
			At: at("[2]"),
		}, Source: sources[1]},
		agent.Cited{
			Citation: agent.Citation{N: 3, Path: sources[2].Path, Line: 3, Verdict: agent.Cites, At: at("[3]")},
			Source:   sources[2],
		},
		agent.Cited{Citation: agent.Citation{N: 4, Verdict: agent.NotFound, At: at("[4]")}},
	}
}

var changedTasks = agent.Effects{
	{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}},
	{Kind: agent.RequestSent, Tool: agent.WebSearch, Host: "duckduckgo.com", Count: 2},
}

// underlined is a run of underlined text.
var underlined = regexp.MustCompile(`\x1b\[4[;m][^\x1b]*`)

// TestWholeTurn keeps a picture of a turn in each of its states, at the widths
// that terminals have.
func TestWholeTurn(t *testing.T) {
	whole := len(raising(false))
	for name, tc := range map[string]struct {
		bodies []agent.Body
		did    agent.Effects // nil: it runs
		keys   []string
	}{
		"plan running":       {bodies: raising(false)[:whole-7]},
		"plan done":          {bodies: raising(false), did: agent.Effects{}},
		"plan opened":        {bodies: raising(false), did: agent.Effects{}, keys: []string{"ctrl+t"}},
		"step failed":        {bodies: raising(true), did: agent.Effects{}},
		"something changed":  {bodies: raising(false), did: changedTasks},
		"source chosen":      {bodies: raising(false), did: agent.Effects{}, keys: []string{"tab", "j"}},
		"source and passage": {bodies: raising(false), did: changedTasks, keys: []string{"tab", "space"}},
	} {
		t.Run(name, func(t *testing.T) {
			var page strings.Builder
			for _, width := range []int{40, 60, 80, 100, 120, 160, 200} {
				tr, k := &Model{Chosen: -1, Theme: draw.NewTheme("", true, true, nil)}, draw.DefaultKeys()
				tr.Resize(width, 40)
				tr.Add(&Question{
					Text: "How do I raise my weekly running distance?", Turn: "b",
					Siblings: []string{"a", "b", "c"},
				})
				turn, now := tr.Begin(), time.Unix(0, 0)
				for _, body := range tc.bodies {
					now = now.Add(75 * time.Millisecond)
					turn.Take(agent.Event{Body: body}, now)
				}
				if turn.Tick(3, now); tc.did != nil {
					turn.Close("", now)
					turn.Tell(tc.did, true)
				}
				for _, name := range tc.keys {
					if name == "tab" {
						tr.Focus()
						continue
					}
					for _, pressed := range boxtest.Presses(name) {
						_ = tr.Press(pressed, &k) || tr.PressFocused(pressed, &k)
					}
				}
				fmt.Fprintf(&page, "── %d columns\n", width)
				for _, line := range WithoutEnd(tr.View()) {
					if at := strings.LastIndex(line, "\x1b["); at >= 0 &&
						!strings.HasPrefix(line[at:], ansi.ResetStyle) {
						t.Errorf("%d columns: a style goes on after the line %q", width, line)
					}
					if draw.Width(line) > width-draw.Gutter {
						t.Errorf("%d columns: a line of %d: %q", width, draw.Width(line), line)
					}
					for _, marked := range underlined.FindAllString(line, -1) {
						line = strings.Replace(line, marked, "⟦"+marked+"⟧", 1)
					}
					line = strings.ReplaceAll(strings.TrimRight(ansi.Strip(line), " "), "⟧⟦", "")
					page.WriteString(line + "\n")
				}
			}
			golden.RequireEqual(t, page.String())
		})
	}
}

// The sentence of a chosen source is marked in the answer and visible, however far
// above its sources it stands, and so is the source.
func TestSentenceOfAChosenSourceIsVisible(t *testing.T) {
	theme := draw.NewTheme("", true, true, nil)
	tr, now := &Model{Chosen: -1, Theme: theme}, time.Unix(0, 0)
	tr.Resize(80, 12)
	tr.Add(&Question{Text: "Why?"})
	turn := tr.Begin()
	first, last := "First it **rains**, [docs](https://a.example/x) say, for a day [1].",
		"It rains again [1]. The sun is out [2]."
	text := "Lead.\n\n" + first + "\n\n" + strings.Repeat("Filler.\n\n", 30) + last
	for _, piece := range []string{text[:9], text[9:]} {
		turn.Take(agent.Event{Body: agent.Said{Content: piece}}, now)
	}
	cites := func(n, at int) {
		turn.Take(agent.Event{Body: agent.Cited{Citation: agent.Citation{
			N: n, Path: "a.md", Line: n,
			Verdict: agent.Cites, At: at,
		}, Source: agent.Source{N: n, Path: "a.md"}}}, now)
	}
	cites(1, len("Lead.\n\n"+first)-1)
	cites(1, len(text)-len(" The sun is out [2].")-1)
	cites(2, len(text)-1)
	turn.Close("", now)
	turn.Tell(agent.Effects{}, false)
	marked := func() (lines []string) {
		for _, line := range tr.View() {
			if underlined.MatchString(line) {
				lines = append(lines, strings.TrimSpace(ansi.Strip(line)))
			}
		}
		return lines
	}
	before := tr.View()
	tr.Focus()
	tr.Reveal()
	if got := marked(); len(got) != 1 || !strings.HasPrefix(got[0], "First it rains, docs") {
		t.Errorf("of source 1 is marked %q in\n%s", got, ansi.Strip(strings.Join(tr.View(), "\n")))
	}
	if got := ansi.Strip(tr.View()[11]); !strings.Contains(got, "› [1] a.md:1") {
		t.Errorf("the chosen source is out of sight: %q", got)
	}
	k := draw.DefaultKeys()
	tr.PressFocused(boxtest.Presses("j")[0], &k)
	tr.ToEnd()
	if got := marked(); !slices.Equal(got, []string{"It rains again [1]. The sun is out [2]."}) {
		t.Errorf("of source 2 is marked %q", got)
	}
	tr.Choose(-1, 0)
	if got := tr.View(); !slices.Equal(got, before) || len(marked()) != 0 {
		t.Errorf("something stays marked:\n%s", strings.Join(got, "\n"))
	}
}

// What the check found wrong is visible where there is no room for all.
func TestImportantVerdictsAreVisible(t *testing.T) {
	s := NewSources("")
	for n := range 30 {
		cite(s, agent.Citation{N: n + 1, Path: fmt.Sprintf("notes/%d.md", n), Line: 1, Verdict: agent.Cites},
			agent.Source{})
	}
	cite(s, agent.Citation{
		N: 31, Path: "diary.md", Line: 7, Verdict: agent.Verified, Sentence: "x",
		Context: "in “not […]”",
	}, agent.Source{})
	cite(s, agent.Citation{N: 32, Verdict: agent.NotFound}, agent.Source{})
	for width := 34; width < 300; width += 7 {
		lines := s.Render(width, draw.NewTheme("", true, false, nil))
		got := ansi.Strip(strings.Join(lines, "\n"))
		for _, want := range []string{"[31] diary.md:7", "✓ quoted, but in “not […]”", "[32] ✗", " more"} {
			if !strings.Contains(got, want) && (want != " more" || strings.Count(got, "[") < 32) || len(lines) > 4 {
				t.Errorf("%d columns: no %q in\n%s", width, want, got)
			}
		}
	}
}

// A verdict over several lines leaves its colour on none of them.
func TestLongVerdictEndsItsStyleOnEachLine(t *testing.T) {
	s := NewSources("")
	cite(s, agent.Citation{
		N: 1, Path: "diary.md", Line: 7, Verdict: agent.Verified, Sentence: "It is so [1].",
		Context: strings.Repeat("in “not […]” · ", 9),
	}, agent.Source{})
	s.choose(0)
	for _, line := range s.Render(60, draw.NewTheme("", true, true, nil)) {
		if at := strings.LastIndex(line, "\x1b["); at < 0 || !strings.HasPrefix(line[at:], ansi.ResetStyle) {
			t.Errorf("no style, or one that goes on, in %q", line)
		}
	}
}
