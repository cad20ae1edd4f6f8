//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// A quotation without a number is judged in `ask --json`, shown on stderr, and saved with the
// conversation for its export.
func TestUnnumberedQuotationIsReportedByAsk(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	answer := "You run often: “Tuesday, Thursday and Sunday”.\n\n> I run three times a week: Tuesday, Thursday and " +
		"Sunday.\n\nAnd «on each of these days at six in the morning»."
	script := llmtest.NewScript(
		says(asksPlanner, `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}]}`),
		says(asksExplainer, answer),
		says(asksPlanner, `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}]}`),
		says(asksExplainer, answer),
	)
	server := llmtest.Serve(t, script)
	run := commandsOver(t, server)
	out, _ := run("ask", "--json", "--notes", vault, "how often do I run?")
	var result askResult
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	const invented = "on each of these days at six in the morning"
	var got []agent.Citation
	for _, c := range result.Citations {
		got = append(got, agent.Citation{N: c.N, Path: c.Path, Line: c.Line, Verdict: c.Verdict, Words: c.Words})
	}
	want := []agent.Citation{
		{N: 1, Path: "running.md", Line: 3, Verdict: agent.Verified, Words: "Tuesday, Thursday and Sunday"},
		{
			N: 1, Path: "running.md", Line: 3, Verdict: agent.Verified,
			Words: "I run three times a week: Tuesday, Thursday and Sunday.",
		},
		{Verdict: agent.NotFound, Words: invented},
	}
	if a, b := jsonOf(got), jsonOf(want); a != b {
		t.Errorf("got %s\nwant %s", a, b)
	}

	lines := []string{"“Tuesday, Thursday and Sunday” running.md:3 ✓", "“on each of these days at six in…” ✗"}
	_, stderr := run("ask", "--notes", vault, "how often do I run?")
	exported, _ := run("chats", "export", result.Conversation)
	page, _ := run("chats", "export", "--format", "html", result.Conversation)
	page = strings.ReplaceAll(page, `<span class="dim">`, "")
	for _, line := range lines {
		if !strings.Contains(stderr, line) || !strings.Contains(exported, line) ||
			!strings.Contains(strings.ReplaceAll(page, "”  ", "” "), line) {
			t.Errorf("%q is not told in\n%s\nor\n%s\nor\n%s", line, stderr, exported, page)
		}
	}
}

// commandsOver returns a function that runs a command of LifeHub, which must succeed, in its own
// home with a model server.
func commandsOver(t *testing.T, server string) func(args ...string) (stdout, stderr string) {
	home := t.TempDir()
	return func(args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(os.Args[0], args...)
		cmd.Dir = home
		cmd.Env = asProgram(home, filepath.Join(home, ".lifehub"), "LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST="+server,
			"LIFEHUB_MODEL="+llmtest.ServedModel, "LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=none")
		var out, told bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &told
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, told.String())
		}
		return out.String(), told.String()
	}
}
