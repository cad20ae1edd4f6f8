package evalmodels

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
)

func TestSixToNoneIsSignificant(t *testing.T) {
	for _, c := range []struct {
		a, b   int
		chance bool
	}{{0, 0, true}, {1, 0, true}, {5, 0, true}, {6, 0, false}, {0, 6, false}, {7, 1, true}, {8, 1, false}, {5, 5, true}, {10, 2, false}, {9, 2, true}, {16, 0, false}} {
		if got := isChance(c.a, c.b); got != c.chance {
			t.Errorf("%d to %d: chance %v", c.a, c.b, got)
		}
	}
}

func stepOf(plan int, id, tool, input string, after ...string) step {
	return step{agent.Step{ID: id, Tool: tool, Input: json.RawMessage(input), After: after}, plan, tool != "search_notes"}
}

func TestCallsAreCompared(t *testing.T) {
	add := call{Tool: "add_task", Args: map[string][]any{"due": {"2030-03-04"}, "n": {uint64(5), ""}}, Has: map[string]string{"text": "call physio"}}
	for input, want := range map[string]bool{
		`{"text":"Call the physio","due":"2030-03-04"}`:          true,
		`{"text":"Physio: CALL them","due":"2030-03-04","n":5}`:  true,
		`{"text":"call the physio","due":"2030-03-04","n":5.0}`:  true,
		`{"text":"call the physio","due":"2030-03-04","n":6}`:    false,
		`{"text":"call the physio","due":"2030-03-05"}`:          false,
		`{"text":"call the physio"}`:                             false,
		`{"text":"physio","due":"2030-03-04"}`:                   false,
		`{"text":["call the physio"],"due":"2030-03-04"}`:        false,
		`{"text":"call the physio","due":"2030-03-04","note":1}`: true,
		`no JSON`: false,
	} {
		if got := add.fits(stepOf(1, "1", "add_task", input)); got != want {
			t.Errorf("%s: %v", input, got)
		}
	}
	if add.fits(stepOf(1, "1", "append_note", `{"text":"call the physio","due":"2030-03-04"}`)) {
		t.Error("another tool fits")
	}
	if !same([]any{"Sam", "Ann"}, []any{"sam", "ann"}) || same([]any{"Sam", "Ann"}, []any{"ann", "sam"}) || same(-5, 5) {
		t.Error("lists and numbers are not compared")
	}
}

func TestToolsAndOrderOfCalls(t *testing.T) {
	task := task{Role: loops, Ordered: true, Calls: []call{{Tool: "search_notes", Has: map[string]string{"query": "a"}}, {Tool: "add_task"}}}
	search, write := `{"query":"a"}`, `{"text":"b"}`
	for name, c := range map[string]struct {
		steps              []step
		tool, right, order bool
	}{
		"in two rounds":     {[]step{stepOf(1, "1", "search_notes", search), stepOf(2, "2", "add_task", write)}, true, true, true},
		"one waits":         {[]step{stepOf(1, "1", "search_notes", search), stepOf(1, "2", "add_task", write, "1")}, true, true, true},
		"side by side":      {[]step{stepOf(1, "1", "search_notes", search), stepOf(1, "2", "add_task", write)}, true, true, false},
		"the other way":     {[]step{stepOf(1, "1", "add_task", write), stepOf(2, "2", "search_notes", search)}, true, true, false},
		"searched twice":    {[]step{stepOf(1, "1", "search_notes", `{"query":"x"}`), stepOf(2, "2", "search_notes", search), stepOf(3, "3", "add_task", write)}, true, true, true},
		"wrong words":       {[]step{stepOf(1, "1", "search_notes", `{"query":"x"}`), stepOf(2, "2", "add_task", write)}, true, false, false},
		"one is missing":    {[]step{stepOf(1, "1", "search_notes", search)}, false, false, false},
		"written twice":     {[]step{stepOf(1, "1", "search_notes", search), stepOf(2, "2", "add_task", write), stepOf(3, "3", "add_task", write)}, false, true, true},
		"another one wrote": {[]step{stepOf(1, "1", "search_notes", search), stepOf(2, "2", "add_task", write), stepOf(2, "3", "remember", write)}, false, true, true},
	} {
		passed := task.judge(seen{steps: c.steps})
		if passed[toolRight] != c.tool || passed[argsRight] != c.right || passed[inOrder] != c.order {
			t.Errorf("%s: %v", name, passed)
		}
	}
}

func TestMakingNoCallCanBeRight(t *testing.T) {
	thanks := task{Role: plans}
	if !thanks.judge(seen{})[toolRight] || thanks.judge(seen{steps: []step{stepOf(1, "1", "search_notes", `{}`)}})[toolRight] {
		t.Error("a search for a word of thanks counts as right, or none does not")
	}
}

func TestDecliningInWords(t *testing.T) {
	verified, invented := agent.Cited{Citation: agent.Citation{Verdict: agent.Verified}}, agent.Cited{Citation: agent.Citation{Verdict: agent.NotFound}}
	for _, c := range []struct {
		seen seen
		want bool
	}{
		{seen{answer: "Your notes don't say."}, true},
		{seen{answer: "The notes do not name a brand. They tell of its pressure."}, true},
		{seen{answer: "Das steht nicht in deinen Notizen."}, true},
		{seen{answer: "Your blood group is A positive."}, false},
		{seen{answer: "It is an Acme. It runs well. I did not check."}, false},
		{seen{answer: "Your blood group is A positive.", lead: true}, false},
		{seen{lead: true}, true},
		{seen{answer: "What is there: “Boiler” [1].", lead: true, cited: []agent.Cited{verified}}, true},
		{seen{answer: "The notes don't say, but: “A positive” [1].", cited: []agent.Cited{invented}}, false},
	} {
		if got := c.seen.declines(); got != c.want {
			t.Errorf("%+v: %v", c.seen, got)
		}
	}
}

func TestRightQuotedAndHonestAreSeparate(t *testing.T) {
	const line = "Pressure should be between 1.2 and 1.6 bar when cold."
	cite := func(v agent.Verdict, words string) agent.Cited {
		return agent.Cited{Citation: agent.Citation{Verdict: v, Words: words}, Source: agent.Source{Text: line}}
	}
	pressure := task{Role: answers, Says: []string{"1.2", "1.6"}, Quote: []string{"between 1.2 and 1.6 bar"}, Not: []string{"2.0 bar"}}
	for name, c := range map[string]struct {
		seen                  seen
		right, quotes, honest bool
	}{
		"quoted":                     {seen{answer: "Between 1.2 and 1.6 bar.", cited: []agent.Cited{cite(agent.Verified, line)}}, true, true, true},
		"cited in its own words":     {seen{answer: "From 1.2 to 1.6 bar [1].", cited: []agent.Cited{cite(agent.Cites, "")}}, true, false, true},
		"not cited":                  {seen{answer: "From 1.2 to 1.6 bar."}, false, false, true},
		"half of it":                 {seen{answer: "1.2 bar [1].", cited: []agent.Cited{cite(agent.Cites, "")}}, false, false, true},
		"right, with an invention":   {seen{answer: "1.2 to 1.6, never 2.0 bar [1].", cited: []agent.Cited{cite(agent.Cites, "")}}, true, false, false},
		"right, with a false quote":  {seen{answer: "1.2 to 1.6 [1].", cited: []agent.Cited{cite(agent.Verified, line), cite(agent.NotFound, "")}}, true, true, false},
		"wrong, and quoted as it is": {seen{answer: "2.0 bar [1].", cited: []agent.Cited{cite(agent.Verified, line)}}, false, true, false},
	} {
		done := result{outcome: outcome{Checks: pressure.judge(c.seen)}}
		if done.right() != c.right || done.Checks[quoted] != c.quotes || done.Checks[honest] != c.honest {
			t.Errorf("%s: right %v, %v", name, done.right(), done.Checks)
		}
	}
}

func TestNotKnowingWithoutASearchFails(t *testing.T) {
	passport, reply := task{Role: loops, Nothing: true}, seen{answer: "I don't know."}
	if passport.judge(reply)[declined] {
		t.Error("it passes without a search")
	}
	if reply.steps = []step{stepOf(1, "1", "search_notes", `{"query":"passport"}`)}; !passport.judge(reply)[declined] {
		t.Error("it fails after a search")
	}
	if passport.Role = answers; !passport.judge(seen{answer: "I don't know."})[declined] {
		t.Error("it fails where the search is made for the model")
	}
}

func TestResultsSurviveATruncatedLine(t *testing.T) {
	file := archive(filepath.Join(t.TempDir(), "state", "results.jsonl"))
	if list, err := file.read("s"); err != nil || len(list) > 0 {
		t.Fatal(list, err)
	}
	if err := file.add(result{Suite: "s", Task: "a"}, result{Suite: "other", Task: "x"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(string(file))
	if err == nil {
		err = os.WriteFile(string(file), append(text, `{"suite":"s","task":"c`...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := file.add(result{Suite: "s", Task: "b", outcome: outcome{Error: "it cannot call tools"}}); err != nil {
		t.Fatal(err)
	}
	list, err := file.read("s")
	if err != nil || len(list) != 2 || list[0].Task != "a" || list[1].Task != "b" || list[1].Error == "" {
		t.Errorf("%+v, %v", list, err)
	}
}

// The embedded tasks are valid, and the licences of third-party tasks are included.
func TestEmbeddedTasks(t *testing.T) {
	s, err := readSuite("")
	if err != nil {
		t.Fatal(err)
	}
	for role, want := range map[string]int{plans: 16, answers: 11, loops: 10, teams: 3} {
		if n := len(s.in(role)); n != want {
			t.Errorf("%d tasks of role %s, and the docs tell of %d", n, role, want)
		}
	}
	for _, asked := range s.Tasks {
		if (len(asked.Says)+len(asked.Quote) > 0 || asked.Nothing) && len(asked.Not) == 0 {
			t.Errorf("%s: nothing is excluded from its answer", asked.Name)
		}
	}
	for name, words := range map[string]string{"LICENSE-gorilla-Apache-2.0.txt": "Apache License", "LICENSE-metatool-MIT.txt": "MIT License"} {
		if text, err := embedded.ReadFile("tasks/" + name); err != nil || !strings.Contains(string(text), words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
