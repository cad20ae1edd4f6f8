//go:build unix

package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lifehub/llm/llmtest"
)

func TestKilledTurnLeavesAPartialTrace(t *testing.T) {
	t.Parallel()
	server := llmtest.NewFaults(t)
	server.Play(`{"reasoning":"the answer is near","steps":[{"id":"1","tool":"count","input":{"query":"all"},`+
		`"description":"count them"}]}`, llmtest.FaultyAnswer)
	server.Set(llmtest.HangMiddle, 250)
	env := asProgram(t.TempDir(), t.TempDir(), "LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST="+server.URL,
		"LIFEHUB_MODEL="+llmtest.FaultModel, "LIFEHUB_MODE=plan")
	ask := exec.Command(os.Args[0], "ask", "-q", "how many are there?")
	ask.Env = env
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	lifehub := func(arg ...string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("lifehub %v: %v", arg, err)
		}
		return string(out)
	}
	list := ""
	for deadline := time.Now().Add(patience); !strings.Contains(list, "how many"); {
		if list = lifehub("trace", "list"); time.Now().After(deadline) {
			t.Fatalf("the trace of a running turn is not saved: %q", list)
		}
	}
	_ = ask.Process.Kill()
	_ = ask.Wait()
	id, _, _ := strings.Cut(list, " ")
	shown := lifehub("trace", "show", id)
	for _, want := range []string{
		`"whole":false`, `{"type":"start"`, `{"type":"prompt"`,
		`{"type":"agent_start"`, `"model":"faulty`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
}
