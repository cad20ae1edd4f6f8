package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/gate"
	"lifehub/agent/turn"
	"lifehub/internal/webtest"
	"lifehub/llm/llmtest"
)

// noon is the time of all tests, on a Thursday.
var noon = time.Date(2026, 10, 8, 12, 0, 0, 0, time.Local)

func holds(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q is missing in:\n%s", what, part, text)
		}
	}
}

// Whole turns with the real tools on a local web. The golden files are what a user
// sees.
func TestStoriesOfTheWeb(t *testing.T) {
	const (
		question = "Search the web for marathon training tips."
		verified = "“Drink early: two hundred millilitres every twenty minutes” [%d], and “Sixteen weeks of marathon " +
			"training” [1]."
	)
	search, page := `{"query":"marathon training tips"}`, `{"url":"WEB/marathon"}`
	for name, tc := range map[string]struct {
		mode    agent.Mode
		message string
		rules   []gate.Rule
		lines   []llmtest.Answer
	}{
		"a plan searches and reads": {message: question, lines: []llmtest.Answer{
			agenttest.Say(`{"reasoning":"look, then read","steps":[{"id":"1","tool":"web_search","input":` + search +
				`},{"id":"2","tool":"web_fetch","input":` + page + `,"after":["1"]}]}`),
			agenttest.Say(fmt.Sprintf(verified, 4)),
		}},
		"the loop searches and then reads what it found": {
			mode:    agent.LoopMode,
			message: question, lines: []llmtest.Answer{
				agenttest.Calling("web_search", search), agenttest.Calling("web_fetch", page),
				agenttest.Say(fmt.Sprintf(verified, 4)),
			},
		},
		"a page that nobody named is asked about": {mode: agent.LoopMode, message: question, lines: []llmtest.Answer{
			agenttest.Calling("web_search", search), agenttest.Calling("web_fetch", `{"url":"WEB/login"}`),
			agenttest.Say("Nothing to cite but the search [1]."),
		}},
		"a page that cannot be read is told": {
			mode:    agent.LoopMode,
			message: "What does WEB/challenge say?", lines: []llmtest.Answer{
				agenttest.Calling("web_fetch", `{"url":"WEB/challenge"}`), agenttest.Say("It wants to see a human first."),
			},
		},
		"a page that leads to another site is asked about": {
			mode:    agent.LoopMode,
			message: "What does WEB/site/moved say?", lines: []llmtest.Answer{
				agenttest.Calling("web_fetch", `{"url":"WEB/site/moved"}`),
				agenttest.Calling("web_fetch", `{"url":"http://192.0.2.1/moved"}`),
				agenttest.Say("It has moved, and cannot be read there."),
			},
		},
		"a captcha is no empty result": {message: "Search the web for captcha", lines: []llmtest.Answer{
			agenttest.Say(`{"reasoning":"look","steps":[{"id":"1","tool":"web_search","input":{"query":"captcha"}}]}`),
			agenttest.Say(`{"reasoning":"nothing else","steps":[]}`),
			agenttest.Say("The search engine asks for a captcha."),
		}},
		"the crawl worker goes through a site": {
			mode: agent.TeamMode, message: "Go through WEB/site/start and tell me about rest.",
			lines: []llmtest.Answer{
				agenttest.Calling("delegate", `{"worker_type":"crawl","task_description":"Read WEB/site/start and `+
					`report on rest.","success_criteria":"It tells of rest."}`),
				agenttest.Calling("crawl", `{"url":"WEB/site/start","pages":3}`),
				agenttest.Say("The handbook tells of rest (WEB/site/rest)."),
				agenttest.Say(`{"passed":true,"score":1,"feedback":"It does."}`),
				agenttest.Say("“This page of the handbook tells of rest at some length” [2]."),
			},
		},
		"a crawl is asked about though a rule allows the tool": {
			message: "Crawl WEB/site/start", rules: []gate.Rule{rule(t, "crawl")}, lines: []llmtest.Answer{
				agenttest.Say(`{"reasoning":"read","steps":[{"id":"1","tool":"crawl","input":{"url":"WEB/site/start",` +
					`"pages":2}}]}`), agenttest.Say("“This page of the handbook tells of rest at some length” [2]."),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			web := webtest.New(t)
			here := func(text string) string { return strings.ReplaceAll(text, "WEB", web.URL) }
			for i := range tc.lines {
				tc.lines[i].Text = here(tc.lines[i].Text)
				for j := range tc.lines[i].Calls {
					tc.lines[i].Calls[j].Args = json.RawMessage(here(string(tc.lines[i].Calls[j].Args)))
				}
			}
			wide, c := newWeb(nil, web.Host(), nil), &clock{time: noon}
			kit := []agent.Tool{
				newWebSearch(Search{URL: web.URL + "/html/"}, wide), newWebFetch(wide),
				newCrawl(wide, c.now, c.pause),
			}
			a := turn.New(turn.Options{
				Workers: []turn.Worker{{
					Name: "crawl", Instructions: "You go through pages of one site.",
					Tools: []string{"crawl"}, Rounds: 4,
				}},
				Model: llmtest.NewScript(tc.lines...), History: agenttest.Forgetful{}, Tools: agenttest.Tools(kit...),
				Now:     func() time.Time { return noon },
				Session: agenttest.Session{In: tc.mode}, Rules: (*gate.Rules)(nil).With(tc.rules...),
			})
			var seen strings.Builder
			for e := range a.Ask(t.Context(), "c1", here(tc.message)) {
				if line := describe(e.Body); line != "" {
					seen.WriteString(strings.ReplaceAll(strings.ReplaceAll(line, web.URL, "http://web.example"),
						web.Host(), "web.example") + "\n")
				}
				if asked, ok := e.Body.(agent.PermissionAsked); ok {
					asked.Reply(agent.Reply{Decision: agent.AllowOnce})
				}
			}
			golden.RequireEqual(t, seen.String())
		})
	}
}

func rule(t *testing.T, text string) gate.Rule {
	t.Helper()
	r, err := gate.ParseOne(text)
	if err != nil {
		t.Fatal(err)
	}
	r.Level = agent.Auto
	return r
}

// describe formats an event as a user sees it; "" for invisible ones.
func describe(body agent.Body) string {
	switch b := body.(type) {
	case agent.ToolStarted:
		return fmt.Sprintf("calls %s %s", b.Name, b.Input)
	case agent.ToolEnded:
		line := fmt.Sprintf("  %s ended %s", b.Name, b.Error)
		for _, s := range b.Sources {
			line += "\n    source " + s.Title()
		}
		return line
	case agent.PermissionAsked:
		return fmt.Sprintf("asks about %s %s: %s\n  %s", b.Name, b.Input, b.Reason,
			strings.ReplaceAll(b.Preview.Text, "\n", "\n  "))
	case agent.StepChanged:
		if b.Reason != "" {
			return fmt.Sprintf("step %s is %s: %s", b.Step, b.Status, b.Reason)
		}
	case agent.Cited:
		return fmt.Sprintf("cites [%d] %s: %s", b.N, b.Place(), b.Verdict)
	case agent.Evaluated:
		return fmt.Sprintf("judged %.1f, passed %t", b.Score, b.Passed)
	case agent.Noticed:
		return "notice: " + b.Text
	case agent.Failed:
		return "failed: " + b.Message
	case agent.Ended:
		return "answer: " + b.Answer + "\n" + b.Effects.String()
	}
	return ""
}
