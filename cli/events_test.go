package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// eventNames are the stable names of events that turns emit so far.
var eventNames = []string{
	"start", "plan", "step", "agent_start", "agent_end", "evaluation", "artifact", "tool_start", "tool_progress",
	"tool_end", "input_request", "input_result", "permission_request", "permission_result",
	"thinking", "token", "context_log", "citation", "usage", "notice", "error", "end",
}

func TestEveryTurnBeginsWithStartAndEndsOnce(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault, home := t.TempDir(), t.TempDir()
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run three times a week.\n")
	for _, prompt := range []string{
		"hello", "how often do I run?", "/task buy socks", "@calculate expression=17 * 23", "@list_tasks",
		"@calculate expression=1/0", "@read_note path=nosuch.md", "what do zebras eat?", "你好", "\x1b[31mred?",
	} {
		cmd := exec.Command(os.Args[0], "ask", "--stream-json", "--notes", vault, prompt)
		cmd.Env = asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline")
		out, err := cmd.Output()
		fails := prompt == "@calculate expression=1/0" || prompt == "@read_note path=nosuch.md"
		if code := cmd.ProcessState.ExitCode(); fails && code != app.ExitFailed ||
			!fails && err != nil && code != app.ExitRefused {
			t.Errorf("%q: %v", prompt, err)
		}
		checkEvents(t, prompt, out)
	}
}

func checkEvents(t *testing.T, prompt string, out []byte) {
	t.Helper()
	var types []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		var e struct {
			Type, Turn string
			Seq        int
			Time       time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%q: %s is not JSON: %v", prompt, lines.Text(), err)
		}
		if types = append(types, e.Type); e.Seq != len(types) || e.Turn == "" || e.Time.IsZero() {
			t.Errorf("%q: event %d is %s", prompt, len(types), lines.Text())
		}
		if !slices.Contains(eventNames, e.Type) {
			t.Errorf("%q: %q is no event of the product", prompt, e.Type)
		}
	}
	if len(types) < 2 || types[0] != "start" {
		t.Fatalf("%q: events %v, want start first", prompt, types)
	}
	for i, kind := range types {
		closes := kind == "end" || kind == "error"
		if closes != (i == len(types)-1) {
			t.Errorf("%q: events %v, want one end or error, last", prompt, types)
		}
		if kind == "start" && i > 0 {
			t.Errorf("%q: a second start", prompt)
		}
	}
}
