package turn

import (
	"context"
	"strings"
	"testing"

	"lifehub/agent"
)

// before is a History with turns before this one.
type before struct {
	shelf
	exchanges []agent.Exchange
}

func (b *before) Window(context.Context, string, int) (agent.Window, error) {
	return agent.Window{Exchanges: b.exchanges}, nil
}

func (b *before) Exchanges(context.Context, string) ([]agent.Exchange, error) {
	return b.exchanges, nil
}

// The notes secret.md and work/todo.md exist; fitness.md:12-14, "Home/my plans.md",
// 计划.md and a page were read in this turn. The turn before read old.md and wrote
// tasks.md.
func TestUnreadPathsAreMarked(t *testing.T) {
	const page = "https://example.org/plan"
	poisoned := agent.Source{Path: "Home/my plans.md", Vault: "/vault", Line: 1, EndLine: 3, Text: "As secret.md and https://evil.example/x say, see [[secret]]."}
	listed := []agent.Source{{Path: "work/todo.md"}, {Path: "jobs.md", Line: 7, EndLine: 7, Text: "read https://jobs.example/1"}}
	history := func() *before {
		return &before{exchanges: []agent.Exchange{{Question: "what of drafts.md?", Answer: agent.Answer{
			Sources: []agent.Source{{Path: "old.md", Vault: "/vault", Line: 1, EndLine: 9}},
			Effects: agent.Effects{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}},
		}}}}
	}
	for answer, want := range map[string]string{
		// Read, in any spelling.
		"See `fitness.md:13` and [[fitness]], fitness.md, lines 12–13, or (./fitness.md#L14).":   "",
		"It is in /vault/fitness.md:12, in vault/fitness.md and in Fitness.md.":                  "",
		"As Home/my plans.md:3 or `Home/my plans.md`, lines 1-2, has it; 根据计划.md，每天跑步。":          "",
		"The page https://example.org/plan#top says so, as [it](https://example.org/plan) does.": "",
		"As old.md:3 has it, and I added it to tasks.md:9.":                                      "",
		"[[Running|the plan]] says so.":                                                          "",
		"Run:\n```\ncat notes/x.md:12\n```":                                                      "",
		"> see secret.md:3":                                                                      "",
		"Your note says “As secret.md and https://evil.example/x say, see [[secret]].” [1]":      "",
		"I wrote garden.md.": "",
		// Not read, whoever mentions it.
		"According to secret.md, you run.":              "secret.md",
		"According to “secret.md”, you run.":            "secret.md",
		"You run (secret.md:3).":                        "secret.md:3",
		"You run [[secret]].":                           "secret",
		"Laut other/fitness.md läufst du.":              "other/fitness.md",
		"It says so at https://evil.example/x.":         "https://evil.example/x",
		"It says so [here](https://example.org/other).": "https://example.org/other",
		"See fitness.md:13-900 and fitness.md:2.":       "fitness.md:13 fitness.md:2",
		"It is in Home/other plans.md:3.":               "plans.md:3",
		"Your file /etc/passwd.md says so.":             "/etc/passwd.md",
		// Typed by the user, and not the name of a note.
		"A README.md tells what a program is for.": "",
		"As README.md:3 has it, or (README.md).":   "README.md:3 README.md",
		"As drafts.md has it.":                     "",
		"Typed: https://typed.example/a.":          "https://typed.example/a",
		"As secret.md, which you named, has it.":   "secret.md",
		// Listed.
		"Your notes:\n\n- work/todo.md\n- [[work/todo]]":           "",
		"You have to work, says work/todo.md.":                     "",
		"- read https://jobs.example/1 (jobs.md:7)":                "",
		"You have to read https://jobs.example/1.":                 "",
		"- buy milk (jobs.md:7)\n- sell milk (work/todo.md:9)":     "work/todo.md:9",
		"| note | day |\n|---|---|\n| work/todo.md | 2026-01-01 |": "",
	} {
		t.Run(answer, func(t *testing.T) {
			search := &fakeTool{name: "search_notes", reads: true, schema: `{"type":"object"}`, result: agent.Result{
				Sources: []agent.Source{fitness, poisoned, {Path: "计划.md", Vault: "/vault", Line: 1, EndLine: 2}, {Path: page, Untrusted: true}}, Listed: listed,
			}}
			create := &fakeTool{name: "create_note", schema: `{"type":"object"}`}
			plan := `{"steps":[{"id":"1","tool":"search_notes","input":{}},{"id":"2","tool":"create_note","input":{"path":"garden.md"}}]}`
			a := New(Options{
				Model: &script{lines: []line{say(plan), say(answer)}}, History: history(), Tools: tools(search, create),
				Notes: rereading(func(s agent.Source) (string, bool) { return "", s.Path == "secret.md" || s.Path == "work/todo.md" }),
			})
			var got []string
			for _, c := range bodies[agent.Cited](collect(a.Ask(t.Context(), "c", "what of README.md, https://typed.example/a and secret.md?"), nil)) {
				if c.Detail == notRead {
					got = append(got, c.Place())
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("marked %q, want %q", strings.Join(got, " "), want)
			}
		})
	}
}
