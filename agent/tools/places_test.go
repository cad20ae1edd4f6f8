package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/turn"
)

// Rules on paths apply to the note that a call resolves to, not to the name it gives.
func TestPathRulesApplyToTheResolvedNote(t *testing.T) {
	b := work(t, map[string]string{
		"private/safe.md": "# The Safe\n\n- [ ] oil the hinge\n", "log/run.md": "# Running\n",
		"deep/log/old.md": "# Old\n", "tasks.md": "- [ ] buy milk\n",
		"daily/2026-10-07.md": "# 2026-10-07\n",
	})
	b.vault(map[string]string{"log/far.md": "# Far\n"})
	rules, err := gate.Parse("rules", []byte(`rules:
  - {tool: "*_note", level: confirm}
  - {tool: add_task, level: auto}
  - {tool: complete_task, level: auto}
  - {tool: edit_note, args: {path: {under: log/}}, level: auto}
  - {tool: append_note, args: {path: {under: log/}}, level: auto}
  - {tool: "*", args: {path: {under: private}}, level: deny}
  - {tool: "*", args: {note: {under: private}}, level: deny}
  - {tool: append_note, args: {path: {under: daily}}, level: deny}
`))
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]agent.Level{
		`read_note {"path":"The Safe"}`:     agent.Deny,
		`read_note {"path":"safe"}`:         agent.Deny,
		`read_note {"path":"[[safe#x|y]]"}`: agent.Deny,
		// the only note with this file name
		`read_note {"path":"elsewhere/safe.md"}`:                             agent.Deny,
		`read_note {"path":"Running"}`:                                       agent.Confirm,
		`note_links {"path":"The Safe"}`:                                     agent.Deny,
		`edit_note {"path":"the safe","old_text":"oil","new_text":"x"}`:      agent.Deny,
		`edit_note {"path":"Running","old_text":"Run","new_text":"Walk"}`:    agent.Auto,
		`edit_note {"path":"log/run.md","old_text":"Run","new_text":"Walk"}`: agent.Auto,
		// resolves to deep/log/old.md
		`edit_note {"path":"log/old","old_text":"Old","new_text":"x"}`:          agent.Confirm,
		`edit_note {"path":"log/far","old_text":"Far","new_text":"x"}`:          agent.Confirm, // in the second vault
		`edit_note {"path":"log/../tasks.md","old_text":"milk","new_text":"x"}`: agent.Confirm,
		`append_note {"content":"x"}`:                                           agent.Deny, // today's note is in daily
		`append_note {"path":"run","content":"x"}`:                              agent.Auto,
		`append_note {"path":"log/new.md","content":"x"}`:                       agent.Auto,
		`add_task {"text":"x","note":"The Safe"}`:                               agent.Deny,
		`add_task {"text":"x"}`:                                                 agent.Auto,
		// only the task's text is given
		`complete_task {"task":"oil the hinge"}`:                   agent.Deny,
		`complete_task {"task":"buy milk"}`:                        agent.Auto,
		`complete_task {"task":"private/safe.md:3"}`:               agent.Deny,
		`create_note {"path":"private/new","content":"x"}`:         agent.Deny,
		`create_note {"path":"/log/../private/new","content":"x"}`: agent.Deny,
	} {
		name, input, _ := strings.Cut(call, " ")
		for _, tool := range All(b.deps) {
			if tool.Spec().Name != name {
				continue
			}
			if level, why := turn.New(turn.Options{Rules: rules}).Decide(t.Context(), tool, json.RawMessage(input),
				agent.Origin{}); level != want {
				t.Errorf("%s: %s, want %s: %s", call, level, want, why)
			}
		}
	}
}

// The rule of an "always" names the note or, if the call names none, the task, which
// may be in any note.
func TestAlwaysForATaskNamesNoteOrTask(t *testing.T) {
	tool := newCompleteTask(noteWriter{}, nil)
	for call, others := range map[string][]string{
		`{"task":"buy milk"}`: {
			`{"task":"oil the hinge"}`,
			`{"task":"buy milk","note":"private/safe.md"}`, `{}`,
		},
		`{"task":"buy milk","note":null}`: {`{"task":"oil the hinge","note":null}`},
		`{"task":"buy *"}`:                {`{"task":"buy milk"}`},
		`{"task":"oil the hinge","note":"house/door.md"}`: {
			`{"task":"oil the hinge"}`,
			`{"task":"oil the hinge","note":"private/safe.md"}`,
		},
	} {
		rule, ok := gate.ForCall(tool, agent.ParseArgs([]byte(call)))
		if !ok || !rule.Matches("complete_task", agent.ParseArgs([]byte(call))) {
			t.Errorf("%s: there is no rule for it: %s", call, gate.Format(rule))
		}
		for _, other := range others {
			if rule.Matches("complete_task", agent.ParseArgs([]byte(other))) {
				t.Errorf("%s of %s matches %s too", gate.Format(rule), call, other)
			}
		}
	}
	rule, _ := gate.ForCall(tool, agent.ParseArgs([]byte(`{"task":"oil the hinge","note":"house/door.md"}`)))
	if other := `{"task":"paint it","note":"house/door.md"}`; !rule.Matches("complete_task",
		agent.ParseArgs([]byte(other))) {
		t.Errorf("%s does not match %s", gate.Format(rule), other)
	}
}

// The rule of an "always" does not contain the text to write. A call that nothing
// limits, such as for a fact, gets no rule.
func TestAlwaysIsLimitedToTheTarget(t *testing.T) {
	b := work(t, map[string]string{"a.md": "# A\n"})
	want := map[string]string{
		`add_task {"text":"buy milk"}`:               `{tool: add_task, args: {note: null}, level: auto}`,
		`add_task {"text":"buy milk","note":"a.md"}`: `{tool: add_task, args: {note: a.md}, level: auto}`,
		`append_note {"path":"a.md",` +
			`"content":"x"}`: `{tool: append_note, args: {path: a.md}, level: auto}`,
		`edit_note {"path":"a.md","old_text":"A","new_text":"B"}`: `{tool: edit_note, args: {path: a.md}, level: auto}`,
		`complete_task {"task":"buy milk",` +
			`"note":"a.md"}`: `{tool: complete_task, args: {note: a.md}, level: auto}`,
		`complete_task {"task":"buy milk"}`: `{tool: complete_task, args: {note: null, task: ` +
			`'buy milk'}, level: auto}`,
		`remember {"text":"my cat is called Whiskers"}`: "",
	}
	for call, rule := range want {
		name, input, _ := strings.Cut(call, " ")
		for _, tool := range append(All(b.deps), newRemember(noteWriter{}, Facts{}, time.Now)) {
			if tool.Spec().Name != name {
				continue
			}
			got := ""
			if r, ok := gate.ForCall(tool, agent.ParseArgs([]byte(input))); ok {
				got = gate.Format(r)
			}
			if got != rule {
				t.Errorf("%s: the rule is %q, want %q", call, got, rule)
			}
			delete(want, call)
		}
	}
	if len(want) != 0 {
		t.Errorf("no tool for %v", want)
	}
}
