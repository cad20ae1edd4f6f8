package tools

import (
	"fmt"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/turn"
	"lifehub/llm/llmtest"
)

// did runs calls one after the other in one turn, and returns the effects that the turn
// reports. before is called before each permission is granted.
func did(t *testing.T, kit []agent.Tool, before func(), calls ...string) agent.Effects {
	t.Helper()
	var steps []string
	for i, call := range calls {
		tool, args, _ := strings.Cut(call, " ")
		steps = append(steps, fmt.Sprintf(`{"id":"%d","tool":%q,"input":%s,"after":["%d"]}`, i+1, tool, args, i))
	}
	a := turn.New(turn.Options{
		Model: llmtest.NewScript().Say(`{"reasoning":"","steps":[`+strings.Join(steps, ",")+`]}`,
			"I did it, and mailed Bob.", "I did it, and mailed Bob."),
		History: agenttest.Forgetful{}, Tools: agenttest.Tools(kit...), Limits: turn.Limits{Parallel: 1},
	})
	for e := range a.Ask(t.Context(), "c1", "do it") {
		switch b := e.Body.(type) {
		case agent.PermissionAsked:
			if before != nil {
				before()
			}
			b.Reply(agent.Reply{Decision: agent.AllowOnce})
		case agent.Ended:
			return b.Effects
		case agent.Failed:
			t.Fatal(b.Message)
		}
	}
	t.Fatal("the turn did not end")
	return nil
}

func TestEachToolReportsItsEffect(t *testing.T) {
	for name, tc := range map[string]struct {
		calls  []string
		before func(b *bench)
		want   string
	}{
		"a task": {[]string{`add_task {"text":"buy shoes"}`}, nil, "changed tasks.md (+1)"},
		"two tasks": {
			[]string{`add_task {"text":"buy shoes"}`, `add_task {"text":"run"}`},
			nil,
			"changed tasks.md (+2)",
		},
		"a task is done": {[]string{`complete_task {"task":"swim"}`}, nil, "changed tasks.md (+1 -1)"},
		"a new note": {
			[]string{`create_note {"path":"new/plan.md","content":"a\nb\n"}`},
			nil,
			"changed new/plan.md (+2)",
		},
		"a note gets longer": {[]string{`append_note {"path":"log.md","content":"a"}`}, nil, "changed log.md (+2)"},
		"a note is edited": {
			[]string{`edit_note {"path":"log.md","old_text":"- one","new_text":"- 1\n- 2"}`},
			nil,
			"changed log.md (+2 -1)",
		},
		"two notes": {
			[]string{`append_note {"path":"log.md","content":"- a"}`, `add_task {"text":"run"}`},
			nil, "changed log.md (+1), tasks.md (+1)",
		},
		"a fact and back": {
			[]string{`remember {"text":"the user runs"}`, `forget {"text":"the user runs"}`},
			nil,
			"changed memory.md (+5 -1)",
		},
		"reading": {[]string{
			`read_note {"path":"log.md"}`, `list_tasks {}`, `list_notes {}`, `today {}`,
			`calculate {"expression":"1+1"}`,
		}, nil, "changed nothing"},
		"no such task":         {[]string{`complete_task {"task":"fly"}`}, nil, "! nothing was changed"},
		"a note that is there": {[]string{`create_note {"path":"log.md","content":"b"}`}, nil, "! nothing was changed"},
		"a note that was made meanwhile": {
			[]string{`create_note {"path":"new.md","content":"b"}`},
			func(b *bench) { put(b, "new.md", "mine\n") }, "! nothing was changed",
		},
		"a note that was changed meanwhile": {
			[]string{`edit_note {"path":"log.md","old_text":"- one","new_text":"- 1"}`},
			func(b *bench) { put(b, "log.md", "mine\n") }, "! nothing was changed",
		},
		"a line more meanwhile": {
			[]string{`append_note {"path":"log.md","content":"- b"}`},
			func(b *bench) { put(b, "log.md", "- one\n- mine\n") }, "! nothing was changed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := work(t, map[string]string{"tasks.md": "- [ ] swim\n", "log.md": "- one\n"})
			b.deps.Facts = Facts{Place: only{b.folders[0]}, Path: "memory.md"}
			var before func()
			if tc.before != nil {
				before = func() { tc.before(b) }
			}
			if got := did(t, All(b.deps), before, tc.calls...).String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// The effect names the vault if it is not the first one.
func TestAnEffectNamesTheVault(t *testing.T) {
	b := work(t, map[string]string{"log.md": "- one\n"})
	other := b.vault(map[string]string{"second.md": "- two\n"})
	got := did(t, All(b.deps), nil, `append_note {"path":"second.md","content":"- b"}`)
	if want := "/second.md"; len(got) != 1 || !strings.HasSuffix(other.Dir()+"/second.md", "/"+got[0].Path) ||
		!strings.HasSuffix(got[0].Path, want) {
		t.Errorf("got %v", got)
	}
}
