//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/mcptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// askIn runs ask in a home and returns its output and exit code.
func askIn(t *testing.T, home, ollama string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"ask"}, args...)...)
	cmd.Dir = home
	cmd.Env = asProgram(home, filepath.Join(home, ".lifehub"), "LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST="+ollama,
		"LIFEHUB_MODEL="+llmtest.ServedModel, "LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=none", "LIFEHUB_CONTEXT=16384")
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), told.String(), cmd.ProcessState.ExitCode()
}

// If the model fails after tools succeeded, only the model's text is lost, in every mode and in
// every output of ask.
func TestAskShowsResultsIfTheModelFails(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const quoted, web = " three times a week: Tuesday, Thursday and Sunday.", "Drink early"
	down := errors.New("out of memory")
	fails := func(who string) llmtest.Answer { return llmtest.Answer{Match: who, Err: down, Always: true} }
	plan := strings.Replace(seedPlan, `],"answer"`, `,{"id":"3","tool":"send_email",`+
		`"input":{"to":["ana@example.org"]}}],"answer"`, 1)
	home, vault := aHome(t), apptest.Vault(t)
	for mode, words := range map[string][]llmtest.Answer{
		"plan": {says(asksPlanner, plan), fails(asksExplainer)},
		"loop": {calls(asksLoop, "search_notes", `{"query":"running"}`, "brave_web_search",
			`{"query":"marathon training tips"}`, "send_email", `{"to":["ana@example.org"]}`), fails(asksLoop)},
		"team": {
			seedTeam,
			calls("NOTES", "search_notes", `{"query":"running"}`, "send_email", `{}`),
			calls("WEB", "brave_web_search", `{"query":"marathon training tips"}`), fails(""),
		},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			ask := func(flags ...string) (string, string, int) {
				server := llmtest.Serve(t, llmtest.NewScript(slices.Clone(words)...))
				return askIn(t, home, server, append(flags, "--no-save", "--mode", mode, "--allow", "brave_web_search",
					"--notes", vault, seedQuestion)...)
			}
			out, stderr, code := ask()
			if !strings.Contains(out, quoted) || !strings.Contains(out, web) || code != app.ExitFailed {
				t.Errorf("exit %d, on stdout:\n%s", code, out)
			}
			for _, want := range []string{
				"out of memory", `unknown tool "send_email": `,
				"] running.md:3", "] brave_web_search",
			} {
				if strings.Count(stderr, want) == 0 || want == "out of memory" && strings.Count(stderr, want) > 1 {
					t.Errorf("%q stands %d times on stderr:\n%s", want, strings.Count(stderr, want), stderr)
				}
			}

			out, _, code = ask("--json")
			var result struct {
				Answer, Error string
				Dropped       []string
				Citations     []agent.Citation
				Exit          int
			}
			if err := json.Unmarshal([]byte(out), &result); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if !strings.Contains(result.Answer, quoted) || !strings.Contains(result.Answer, web) ||
				!strings.Contains(result.Error, "out of memory") ||
				len(result.Dropped) != 1 || len(result.Citations) < 2 ||
				result.Exit != app.ExitFailed || code != app.ExitFailed {
				t.Errorf("exit %d, --json prints %s", code, out)
			}

			out, _, code = ask("--stream-json")
			var last, text string
			for line := range strings.Lines(out) {
				var e struct{ Type, Content, Message string }
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				if last = e.Type + e.Message; e.Type == "token" {
					text += e.Content
				}
			}
			if !strings.Contains(text, quoted) || !strings.HasPrefix(last, "error") ||
				!strings.Contains(last, "ut of memory") || code != app.ExitFailed {
				t.Errorf("exit %d, the last event is %s, said is %s", code, last, text)
			}
		})
	}
}

// The server answers only when two of its calls are waiting.
func TestReadOnlyServerCallsRunSideBySide(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"twin": map[string]any{
		"command": os.Args[0], "env": map[string]string{mcptest.Mode: "pairs"}, "timeout": 60,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, filepath.Join(home, ".lifehub", "config", "mcp.json"), string(config))
	for _, tool := range []string{"twin_look"} {
		step := func(n string) string { return `{"id":"` + n + `","tool":"` + tool + `","input":{"text":"` + n + `"}}` }
		model := llmtest.NewScript(says(asksPlanner, `{"steps":[`+step("1")+","+step("2")+`]}`),
			says(asksExplainer, "One says “the first twin has blue eyes”, one “the second twin has green eyes”."))
		out, stderr, code := askIn(t, home, llmtest.Serve(t, model), "--no-save", "--notes",
			apptest.Vault(t), "--allow", tool, "go")
		if code != app.ExitDone || !strings.Contains(stderr, "“the first twin has blue eyes” "+tool+" ✓") ||
			!strings.Contains(stderr, "“the second twin has green eyes” "+tool+" ✓") {
			t.Errorf("%s: exit %d\n%s\n%s", tool, code, out, stderr)
		}
	}
}

// A silent model is waited for until --timeout, which is no interruption.
func TestAskStopsAtItsTimeout(t *testing.T) {
	t.Parallel()
	server := llmtest.NewFaults(t)
	server.Set(llmtest.HangBefore, 0)
	_, stderr, code := askIn(t, aHome(t), server.URL, "--no-save", "--timeout", "1s", "--notes", apptest.Vault(t), "-m",
		llmtest.FaultModel, seedQuestion)
	if code != app.ExitFailed || !strings.Contains(stderr, "within 1s") {
		t.Errorf("exit %d, on stderr:\n%s", code, stderr)
	}
}
