//go:build unix

package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/cli/settings"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
	"lifehub/notes"
	"lifehub/rag"
)

// mustFollow fails if the parts do not occur in a text in this order.
func mustFollow(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%s: %q is missing, or not below what came before it, in\n%s", what, part, text)
			return
		}
		rest = after
	}
}

// Text, reasoning, calls and results of a loop are shown in their order wherever the turn is shown,
// and the first turn needs no extra model call.
func TestLoopIsShownInItsOrder(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	turn := func() []llmtest.Answer {
		first, second := calls(asksLoop, "search_notes", `{"query":"running"}`),
			calls(asksLoop, "list_tasks", `{"status":"open"}`)
		first.Thinking, first.Text = "First-thought.", "Let me look into the notes."
		second.Thinking, second.Text = "Second-thought.", "Then the tasks."
		return []llmtest.Answer{first, second, says(asksLoop, "You run three times a week [1].")}
	}
	script := llmtest.NewScript(append(turn(), turn()...)...)
	vault := apptest.Vault(t)
	run := commandsOver(t, llmtest.Serve(t, script))
	out, stderr := run("ask", "--mode", "loop", "--notes", vault, "**How often** do I <b>run</b>?\x1b[2J")
	if out != "Let me look into the notes.\n\nThen the tasks.\n\nYou run three times a week [1].\n" {
		t.Errorf("the answer is %q", out)
	}
	mustFollow(t, "stderr", stderr, "thinking: First-thought.", "search_notes", "returned: 2 passages",
		"thinking: Second-thought.", "list_tasks", "returned: ", "plumber")
	if n := len(script.Requests()); n != 3 {
		t.Errorf("the turn cost %d calls of the model", n)
	}

	listed, _ := run("chats", "list", "--json")
	var chats []agent.Conversation
	if err := json.Unmarshal([]byte(listed), &chats); err != nil || len(chats) != 1 {
		t.Fatalf("%v: %s", err, listed)
	}
	if chats[0].Title != "How often do I run ?[2J" {
		t.Errorf("the title is %q", chats[0].Title)
	}
	order := []string{
		"First-thought.", "Let me look into the notes.", "search_notes(", "→ 2 passages",
		"Second-thought.", "Then the tasks.", "list_tasks(", "plumber", "You run three times a week",
	}
	for _, command := range [][]string{
		{"chats", "show"},
		{"chats", "export"},
		{"chats", "export", "--format", "html"},
		{"chat", "--plain", "--notes", vault, "-r"},
	} {
		text, _ := run(append(command, chats[0].ID)...)
		mustFollow(t, strings.Join(command, " "), text, order...)
		if strings.Contains(text, "\n\n\n") && !strings.Contains(text, "<html") {
			t.Errorf("%v has holes:\n%s", command, text)
		}
	}
	traced, _ := run("trace", "show", chats[0].ID)
	mustFollow(t, "trace show", traced, `"context_log"`, "First-thought.", "Let me look",
		`"call":"2","name":"search_notes"`, `"context_log"`, "Second-thought.",
		`"call":"3","name":"list_tasks"`, `"context_log"`)
	var kept struct{ Exchanges []agent.Exchange }
	exported, _ := run("chats", "export", "--format", "json", chats[0].ID)
	if err := json.Unmarshal([]byte(exported), &kept); err != nil || len(kept.Exchanges) != 1 {
		t.Fatalf("%v: %s", err, exported)
	}
	var result struct {
		Answer string
		Log    []agent.Logged
	}
	out, _ = run("ask", "--json", "--mode", "loop", "--notes", vault, "How often do I run?")
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.Answer != kept.Exchanges[0].Answer.Text ||
		len(result.Log) != 5 || result.Log[1] != kept.Exchanges[0].Answer.Log[1] {
		t.Errorf("--json tells %s (%v), and the export %+v", out, err, kept.Exchanges[0].Answer)
	}
}

// A question that names a turn is asked after it, as another branch.
func TestAskBranchesAtATurn(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	answers := func(text string) llmtest.Answer { return says(asksPlanner, `{"steps":[],"answer":"`+text+`"}`) }
	script := llmtest.NewScript(answers("One."), answers("Two."), answers("Three."), answers("Other."))
	run := commandsOver(t, llmtest.Serve(t, script))
	ask := func(args ...string) (turn string) {
		t.Helper()
		out, _ := run(append([]string{"ask", "--json"}, args...)...)
		var result struct{ Turn string }
		if err := json.Unmarshal([]byte(out), &result); err != nil {
			t.Fatal(err)
		}
		return result.Turn
	}
	first := ask("question one")
	id, _, _ := strings.Cut(first, ".")
	ask("-r", id, "question two")
	ask("-c", "question three")
	branch := ask("-r", first[:5]+".1", "another question")
	shown, _ := run("chats", "show", id)
	mustFollow(t, "chats show", shown, "question one", "another question", "Other.")
	if strings.Contains(shown, "question two") {
		t.Errorf("it does not branch:\n%s", shown)
	}
	if last := script.Requests()[3].Messages; strings.Contains(last[len(last)-2].Text, "Two.") ||
		strings.Contains(last[len(last)-2].Text, "Three.") {
		t.Errorf("it was asked after %+v", last)
	}
	var tree struct{ Exchanges []agent.Exchange }
	exported, _ := run("chats", "export", "--format", "json", id)
	if err := json.Unmarshal([]byte(exported), &tree); err != nil || len(tree.Exchanges) != 4 ||
		tree.Exchanges[3].Turn != branch || tree.Exchanges[3].After != first || len(tree.Exchanges[3].Siblings) != 2 {
		t.Errorf("the tree is %s (%v)", exported, err)
	}
}

// While another LifeHub indexes the notes, ask reports the progress and suggests to ask again.
func TestAskReportsThatNotesAreStillRead(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	for i := range 20 {
		apptest.Write(t, filepath.Join(vault, "more", string(rune('a'+i))+".md"),
			"# Boiler\n\n"+strings.Repeat("The boiler hums.\n\n", 20_000))
	}
	run := commandsOver(t, llmtest.Serve(t, llmtest.NewScript(
		llmtest.Answer{Match: asksPlanner, Text: `{"steps":[{"id":"1","tool":"search_notes",` +
			`"input":{"query":"boiler"}}]}`, Always: true},
		llmtest.Answer{Match: asksExplainer, Text: "It hums.", Always: true},
	)))
	where, _ := run("config", "path")
	home, _, _ := strings.Cut(where[strings.Index(where, "/"):], "/config/")
	folder, err := notes.Open(vault)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	x, err := rag.Open(settings.Paths{Data: filepath.Join(home, "data")}.Index(folder.Dir()),
		rag.Options{Vault: folder.Dir()})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	asked := false
	if _, err := x.Sync(t.Context(), folder, nil, func(p rag.Progress) {
		if c, err := x.Coverage(t.Context()); asked || err != nil || p.Done == 0 ||
			c.Unread != p.Total-p.Done || c.Unread == 0 {
			return // in the middle of a transaction, which real indexing never holds that long
		}
		asked = true
		out, stderr := run("ask", "--notes", vault, "what does the boiler do?")
		mustFollow(t, "stderr", stderr, "changed nothing", " of 22 notes read so far")
		if strings.Contains(out, "read so far") {
			t.Errorf("stdout has it: %s", out)
		}
		out, _ = run("ask", "--json", "--notes", vault, "what does the boiler do?")
		if !strings.Contains(out, `"unread":`) || !strings.Contains(out, ` of 22 notes read so far`) {
			t.Errorf("JSON tells %s", out)
		}
	}); err != nil || !asked {
		t.Fatal(asked, err)
	}
	if out, stderr := run("ask", "--json", "--notes", vault,
		"what does the boiler do?"); strings.Contains(out+stderr, "read so far") {
		t.Errorf("all is read, and it says %s%s", out, stderr)
	}
}

// The number of replans and of messages in a prompt are settings.
func TestReplansAndMessagesAreSettings(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	plan := llmtest.Answer{Match: asksPlanner, Text: `{"steps":[{"id":"1","tool":"read_note",` +
		`"input":{"path":"nosuch.md"}},{"id":"2","tool":"today","input":{}}]}`, Always: true}
	script := llmtest.NewScript(plan, llmtest.Answer{Match: asksExplainer, Text: "It is not there.", Always: true})
	vault := apptest.Vault(t)
	run := commandsOver(t, llmtest.Serve(t, script))
	where, _ := run("config", "path")
	home, _, _ := strings.Cut(where[strings.Index(where, "/"):], "/config/")
	run("ask", "-q", "--notes", vault, "read nosuch.md")
	if n := len(script.Requests()); n < 3 {
		t.Fatalf("%d calls of the model: the plan was not revised", n)
	}
	for range 3 {
		run("ask", "-q", "-c", "--notes", vault, "read nosuch.md")
	}
	all := script.Requests()
	if n := len(all[len(all)-1].Messages); n != 6+2 {
		t.Errorf("a prompt has %d messages", n)
	}
	apptest.Write(t, filepath.Join(home, "config", "config.yaml"), "replans: 0\nmemory:\n  messages: 2\n")
	run("ask", "-q", "-c", "--notes", vault, "read nosuch.md")
	now := script.Requests()
	if calls, messages := len(now)-len(all), len(now[len(now)-1].Messages); calls != 2 || messages != 2+2 {
		t.Errorf("%d calls of the model, and %d messages in the prompt", calls, messages)
	}
}
