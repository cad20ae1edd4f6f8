//go:build unix

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// ask, its JSON and every view of the turn report what the turn did. What the model claims does not
// matter.
func TestAskReportsTheEffects(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const claim = "I have sent the email to Bob, as secret/plan.md has it."
	vault := apptest.Vault(t)
	add, claims := `{"steps":[{"id":"1","tool":"today","input":{}},{"id":"2","tool":"add_task","input":{"text":"buy `+
		`shoes"}}]}`, `{"steps":[],"answer":"`+claim+`"}`
	script := llmtest.NewScript(says(asksPlanner, claims), says(asksPlanner, add), says(asksExplainer, claim),
		says(asksPlanner, claims), says(asksPlanner, claims))
	server := llmtest.Serve(t, script)
	run := commandsOver(t, server)
	const nothing, changed = "\nchanged nothing\n", "\nchanged tasks.md (+1)\n"
	if _, stderr := run("ask", "--notes", vault, "mail Bob"); !strings.HasSuffix(stderr, nothing) ||
		!strings.Contains(stderr, "secret/plan.md ✗") {
		t.Errorf("ask tells\n%s", stderr)
	}
	if _, stderr := run("ask", "--notes", vault, "--allow", "add_task", "mail Bob"); !strings.HasSuffix(stderr,
		changed) || !strings.Contains(stderr, "secret/plan.md ✗") {
		t.Errorf("ask tells\n%s", stderr)
	}
	listed, _ := run("chats", "list", "--json")
	var chats []struct{ ID string }
	if err := json.Unmarshal([]byte(listed), &chats); err != nil || len(chats) != 2 {
		t.Fatalf("%v: %s", err, listed)
	}
	shown, _ := run("chats", "show", chats[0].ID)
	traced, _ := run("trace", "show", chats[0].ID)
	for _, command := range [][]string{{"chats", "show"}, {"chats", "export"}, {"trace", "show"}} {
		of, _ := run(append(command, chats[0].ID)...)
		if last, stderr := run(command...); last != of || !strings.HasPrefix(stderr, "the last ") ||
			!strings.Contains(stderr, chats[0].ID) {
			t.Errorf("%q without an ID tells %q and prints\n%s", command, stderr, last)
		}
	}
	if !strings.Contains(shown, "changed tasks.md (+1)") || !strings.Contains(shown, "✗") {
		t.Errorf("chats show tells\n%s", shown)
	}
	for _, want := range []string{`"call":"2","name":"add_task"`, `"verdict":"not_found"`, `"effects":[{`} {
		if !strings.Contains(traced, want) {
			t.Errorf("%s is missing in the trace:\n%s", want, traced)
		}
	}
	out, _ := run("ask", "--json", "--notes", vault, "mail Bob")
	var result struct {
		Effects   []json.RawMessage
		Citations []map[string]any
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.Effects == nil || len(result.Effects) != 0 ||
		len(result.Citations) != 1 || result.Citations[0]["detail"] != "source was not read" ||
		result.Citations[0]["verdict"] != "not_found" {
		t.Errorf("--json tells %s (%v)", out, err)
	}
	if _, stderr := run("ask", "-q", "--notes", vault, "mail Bob"); strings.Contains(stderr, "changed") {
		t.Errorf("-q tells %s", stderr)
	}
}
