//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// compatible serves OpenAI's protocol and answers requests that have its key with a fixed text.
func compatible(t *testing.T, key, model, says string, calls *atomic.Int64) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+key:
			http.Error(w, `{"error":{"message":"wrong key `+r.Header.Get("Authorization")+
				`"}}`, http.StatusUnauthorized)
		case r.URL.Path == "/v1/models":
			fmt.Fprintf(w, `{"data":[{"id":%q,"max_model_len":16384}]}`, model)
		case r.URL.Path == "/v1/chat/completions":
			calls.Add(1)
			text, _ := json.Marshal(says)
			fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],`+
				`"usage":{"prompt_tokens":1,"completion_tokens":1}}`, text)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// A real Ollama embeds the notes, and a real Chroma stores the vectors; one server plans, another
// answers, one more does not respond. All are in one list, and each gets only its own requests.
func TestSeveralModelServersInOneList(t *testing.T) {
	t.Parallel()
	ollama, chroma := llmtest.StartOllama(t), testenv.StartChroma(t)
	var planned, answered atomic.Int64
	plans := compatible(t, "key-of-plans", "planner-7b", `{"steps":[{"id":"1","tool":"search_notes",`+
		`"input":{"query":"run"}}]}`, &planned)
	writes := compatible(t, "key-of-writes", "writer-70b", "You run three times a week [1].", &answered)
	vault, home := apptest.Vault(t), t.TempDir()
	apptest.Write(t, filepath.Join(home, "config", "config.yaml"), fmt.Sprintf(`
notes: [%q]
provider: ollama
mode: plan
ollama: {host: %q}
model: writes/writer-70b
plan_model: plans/planner-7b
embed_model: desk/tiny-bow
rag: {store: chroma, chroma_url: %q}
providers:
  plans:  {kind: openai, url: %q, key_command: [echo, key-of-plans]}
  writes: {kind: openai, url: %q, key_env: WRITES_KEY}
  desk:   {kind: ollama, url: %q}
  gone:   {kind: ollama, url: "http://127.0.0.1:9"}
`, vault, ollama.URL, chroma.URL, plans, writes, ollama.URL))
	env := []string{"LIFEHUB_HOME=" + home, "WRITES_KEY=key-of-writes", "OLLAMA_HOST="}

	term := startTerminal(t, 100, 40, env, "chat")
	term.sees("writes/writer-70b", "2 notes")
	term.types("/model\r")
	term.sees("Models", "ollama at ", "plans at ", "plans/planner-7b", "writes at ", "in use · 16k context", "desk at ",
		"desk/tiny-bow", "✗ gone: ")
	if shot := os.Getenv("LIFEHUB_SHOT"); shot != "" {
		apptest.Write(t, shot, term.screen.Render())
	}
	term.types("plan7")
	term.sees("plans/planner-7b", "1 of 1")
	term.types("\x1b")
	term.waits(func(screen string) bool { return !strings.Contains(screen, "Models") }, "the closed list")
	term.types("how often do I run?\r")
	term.sees("You run three times a week")
	term.sees("changed nothing") // the turn is over
	if planned.Load() == 0 || answered.Load() == 0 {
		t.Errorf("%d plans, %d answers", planned.Load(), answered.Load())
	}
	term.types("/model desk/scripted-plan\r")
	term.sees("now using desk/scripted-plan")
	term.types("and what is open?\r")
	term.sees("Your notes speak of running")
	for _, key := range []string{"key-of-plans", "key-of-writes"} {
		if strings.Contains(term.sent(), key) {
			t.Errorf("the screen showed %s", key)
		}
	}
	term.types("\x04")
	term.exits()

	run := func(arg ...string) string {
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Dir, cmd.Env = home, asProgram(home, filepath.Join(home, ".lifehub"), env...)
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out)
	}
	doctor := run("doctor")
	for _, want := range []string{
		"plans at", "writes at", "desk at", "gone: ",
		"Chroma server answers", "ollama/tiny-bow",
	} {
		if !strings.Contains(doctor, want) {
			t.Errorf("doctor does not say %q:\n%s", want, doctor)
		}
	}
	env = append(env, "LIFEHUB_MODEL=gone/one")
	if doctor := run("doctor"); strings.Count(doctor, "not reachable") != 1 {
		t.Errorf("of a server that is gone doctor says:\n%s", doctor)
	}
	env = env[:len(env)-1]
	if list := run("models", "list"); !strings.Contains(list, "* writes/writer-70b") ||
		!strings.Contains(list, "desk/tiny-bow") || !strings.Contains(list, "without gone:") {
		t.Errorf("models list:\n%s", list)
	}
}
