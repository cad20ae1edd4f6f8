package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/citation"
	"lifehub/internal/testenv"
	"lifehub/llm"
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
	poisoned := agent.Source{
		Path: "Home/my plans.md", Vault: "/vault", Line: 1, EndLine: 3,
		Text: "As secret.md and https://evil.example/x say, see [[secret]].",
	}
	listed := []agent.Source{{Path: "work/todo.md"}, {
		Path: "jobs.md", Line: 7, EndLine: 7,
		Text: "read https://jobs.example/1",
	}}
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
				Sources: []agent.Source{
					fitness, poisoned,
					{Path: "计划.md", Vault: "/vault", Line: 1, EndLine: 2},
					{Path: page, Untrusted: true},
				}, Listed: listed,
			}}
			create := &fakeTool{name: "create_note", schema: `{"type":"object"}`}
			plan := `{"steps":[{"id":"1","tool":"search_notes","input":{}},{"id":"2","tool":"create_note",` +
				`"input":{"path":"garden.md"}}]}`
			a := New(Options{
				Model: &script{lines: []line{say(plan), say(answer)}}, History: history(), Tools: tools(search, create),
				Notes: rereading(func(s agent.Source) (string, bool) {
					return "", s.Path == "secret.md" ||
						s.Path == "work/todo.md"
				}),
			})
			var got []string
			for _, c := range bodies[agent.Cited](collect(a.Ask(t.Context(), "c",
				"what of README.md, https://typed.example/a and secret.md?"), nil)) {
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

// Words of the user or of a step may be quoted, and if nothing was searched an answer
// may quote anything.
func TestQuotationsOfTheConversationAreNotClaims(t *testing.T) {
	for name, test := range map[string]struct {
		question, earlier, answer string
		plan                      string
		want                      []agent.Verdict
	}{
		"words of the user": {
			question: "what does “the early bird gets worms” mean for my running?",
			answer:   "You ask about “the early bird gets worms”.",
		},
		"words of a turn before": {
			question: "and my running?", earlier: "I always run before breakfast with Ines",
			answer: "You said “I always run before breakfast”.",
		},
		"the words of a note": {
			question: "my running?", answer: "“The long run is on Sunday.”",
			want: []agent.Verdict{agent.Verified},
		},
		"words of nobody": {
			question: "my running?", answer: "Your note says “The long run is on Saturday.”",
			want: []agent.Verdict{agent.NotFound},
		},
		"nothing was looked for": {
			question: "who said to be or not?",
			answer:   "Hamlet: “To be, or not to be, that is the question”.",
			plan:     `{"steps":[],"answer":"Hamlet: “To be, or not to be, that is the question”."}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := test.plan
			if plan == "" {
				plan = `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}]}`
			}
			history := &shelf{}
			if test.earlier != "" {
				history.messages = []llm.Message{
					{Role: llm.User, Text: test.earlier},
					{Role: llm.Assistant, Text: "Well."},
				}
			}
			found := &fakeTool{
				name: "search_notes", reads: true,
				result: agent.Result{Sources: []agent.Source{{
					Path: "run.md", Line: 3, EndLine: 3,
					Text: "The long run is on Sunday.",
				}}},
			}
			a := New(Options{
				Model:   &script{lines: []line{say(plan), say(test.answer)}},
				History: history, Tools: tools(found),
			})
			var got []agent.Verdict
			for _, c := range bodies[agent.Cited](collect(a.Ask(t.Context(), "c", test.question), nil)) {
				got = append(got, c.Verdict)
			}
			if len(got) != len(test.want) || len(got) > 0 && got[0] != test.want[0] {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// Counts true answers that are wrongly said to name an unread path: answers made from
// what they cite, and notes on programming used as answers of a model that read
// nothing, which name many files that are not notes.
func TestTrueAnswersAreRarelyMarked(t *testing.T) {
	marks := func(said string, read ...agent.Source) int {
		answer := emptyTurn()
		answer.record.Read("search_notes", agent.Result{Sources: read})
		return len(answer.unread(t.Context(), said))
	}
	text, err := os.ReadFile(testenv.Shared(t, "data/claims/cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all, marked := 0, 0
	for line := range strings.Lines(string(text)) {
		var c struct {
			True    bool
			Answer  string
			Sources []string
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if !c.True {
			continue
		}
		all++
		if marks(c.Answer, agent.Source{Path: "a.md", Line: 1, EndLine: 99}) > 0 {
			marked++
		}
	}
	t.Logf("%d of %d true answers name a page that was not read", marked, all)
	if all < 1000 || marked*100 > all {
		t.Errorf("%d of %d true answers are marked", marked, all)
	}
	all, marked = 0, 0
	for _, s := range agenttest.Passages(t, "data/corpora/til-jbranchaud", 3000) {
		all++
		if slices.ContainsFunc(citation.PlacesIn(s.Text), func(p citation.NamedPlace) bool { return !agent.OnWeb(p.Name) && !p.Bracketed }) {
			marked++
		}
	}
	t.Logf("%d of %d passages on programs name what could be a note, and do not link to one", marked, all)
	if all < 1000 || marked*100 > all {
		t.Errorf("%d of %d passages on programs are marked", marked, all)
	}
}

// nothingSaid is the History of an empty conversation.
type nothingSaid struct{ agent.History }

func (nothingSaid) Window(context.Context, string, int) (agent.Window, error) {
	return agent.Window{}, nil
}

// emptyTurn returns a turn in an empty conversation.
func emptyTurn() *turn {
	return newTurn(New(Options{Model: &script{}, History: nothingSaid{}}), "c1", nil)
}

// drawNote draws a note of different lines, some of them blank.
func drawNote(t *rapid.T) []string {
	lines := make([]string, rapid.IntRange(1, 30).Draw(t, "lines"))
	for i := range lines {
		if rapid.IntRange(0, 4).Draw(t, "blank") > 0 {
			lines[i] = fmt.Sprintf("Line number %d tells of the %s harbour and what happened there.", i+1,
				strings.Repeat("very ", i%3))
		}
	}
	return lines
}

func drawPassage(t *rapid.T, note []string, path string) agent.Source {
	from := rapid.IntRange(1, len(note)).Draw(t, "from")
	to := rapid.IntRange(from, len(note)).Draw(t, "to")
	return agent.Source{Path: path, Line: from, EndLine: to, Text: strings.Join(note[from-1:to], "\n")}
}

// Overlapping passages are joined into one that has each line once.
func TestJoinedPassagesHoldEachLineOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		note := drawNote(t)
		a, b := drawPassage(t, note, "a.md"), drawPassage(t, note, "a.md")
		joined, shares := joinSources(a, b)
		if shares != (a.Line <= b.EndLine && b.Line <= a.EndLine) {
			t.Fatalf("%d–%d and %d–%d share lines: %v", a.Line, a.EndLine, b.Line, b.EndLine, shares)
		}
		from, to := min(a.Line, b.Line), max(a.EndLine, b.EndLine)
		if want := strings.Join(note[from-1:to], "\n"); shares &&
			(joined.Line != from || joined.EndLine != to || joined.Text != want) {
			t.Fatalf("%d–%d:\n%s\nwant\n%s", joined.Line, joined.EndLine, joined.Text, want)
		}
	})
}

// However often steps find lines of two notes, a number stays with its lines, a passage
// can be quoted by the number it was shown with, and each line is shown once.
func TestSourceNumbersAreStableAndLinesUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		note := drawNote(t)
		a := emptyTurn()
		var found []finding
		var toldSources, toldParts []agent.Source
		numbers := map[string]int{}
		for i := range rapid.IntRange(1, 6).Draw(t, "steps") {
			f := finding{
				step:    agent.Step{ID: fmt.Sprint(i), Tool: "search_notes"},
				Outcome: Outcome{Status: agent.Done},
			}
			for range rapid.IntRange(0, 3).Draw(t, "passages") {
				f.Result.Sources = append(f.Result.Sources, drawPassage(t, note,
					rapid.SampledFrom([]string{"a.md", "b.md"}).Draw(t, "note")))
			}
			found = append(found, f)
			if rapid.Bool().Draw(t, "numbered only later") {
				continue
			}
			a.number(found)
			for _, s := range f.Result.Sources {
				n := a.answer.numberOf(s)
				if n == 0 {
					t.Fatalf("%s:%d–%d has no number among %+v", s.Path, s.Line, s.EndLine, a.answer.sources)
				}
				toldSources, numbers[fmt.Sprint(len(toldSources))] = append(toldSources, s), n
				toldParts = append(toldParts, unseen(toldParts, s)...)
			}
		}
		a.number(found)
		for i, s := range toldSources {
			n := numbers[fmt.Sprint(i)]
			held := a.answer.sources[n-1]
			if held.N != n || held.Path != s.Path || held.Line > s.Line || held.EndLine < s.EndLine ||
				!strings.Contains(held.Text, s.Text) {
				t.Fatalf("[%d] was %s:%d–%d, and is %s:%d–%d", n, s.Path, s.Line, s.EndLine,
					held.Path, held.Line, held.EndLine)
			}
			for line := range strings.Lines(s.Text) {
				if line = strings.TrimSpace(line); line == "" {
					continue
				}
				for _, c := range citation.Check(fmt.Sprintf("It says: “%s” [%d]", line, n), a.answer.sources, nil) {
					if c.Verdict != agent.Verified {
						t.Fatalf("“%s” [%d] is %s: %s", line, n, c.Verdict, c.Detail)
					}
				}
			}
		}
		told := map[string]int{}
		for _, part := range toldParts {
			for i, line := range strings.Split(part.Text, "\n") {
				if told[fmt.Sprint(part.Path, part.Line+i)]++; strings.TrimSpace(line) != "" &&
					told[fmt.Sprint(part.Path, part.Line+i)] > 1 {
					t.Fatalf("%s:%d is told twice", part.Path, part.Line+i)
				}
				if line != note[part.Line+i-1] {
					t.Fatalf("%s:%d is told as %q", part.Path, part.Line+i, line)
				}
			}
		}
		for _, s := range toldSources {
			for n := s.Line; n <= s.EndLine; n++ {
				if strings.TrimSpace(note[n-1]) != "" && told[fmt.Sprint(s.Path, n)] == 0 {
					t.Fatalf("%s:%d was never told", s.Path, n)
				}
			}
		}
	})
}

// A note that was changed during a turn becomes two sources.
func TestDifferentVersionsOfLinesAreNotJoined(t *testing.T) {
	before := agent.Source{Path: "a.md", Line: 1, EndLine: 2, Text: "One.\nTwo."}
	after := agent.Source{Path: "a.md", Line: 1, EndLine: 2, Text: "One.\n2."}
	if got := merge([]agent.Source{before}, after); len(got) != 2 || !slices.Equal(got, []agent.Source{before, after}) {
		t.Errorf("got %+v", got)
	}
	if got := unseen([]agent.Source{before}, after); len(got) != 1 || got[0].Text != "2." || got[0].Line != 2 {
		t.Errorf("told again is %+v", got)
	}
}
