//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

func TestRealServersToolsAreListedAndCalled(t *testing.T) {
	testenv.WithoutRace(t)
	server := testenv.Npm(t, "mcp-server-everything")
	home := t.TempDir()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"everything": map[string]any{"command": server, "args": []string{"stdio"}},
		"broken":     map[string]any{"command": "/nonexistent/server"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, filepath.Join(home, "lh", "config", "mcp.json"), string(config))
	run := func(arg ...string) (string, int) {
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Env = asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline")
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, _ := run("tools"); !strings.Contains(out, "everything_echo") {
		t.Errorf("the server's tools are not listed:\n%s", out)
	}
	if out, _ := run("mcp", "list"); !strings.Contains(out, "everything") || !strings.Contains(out, "broken") {
		t.Errorf("the servers are not listed:\n%s", out)
	}
	if out, code := run("ask", "@everything_echo message=marmalade"); code != app.ExitRefused ||
		strings.Contains(out, "Echo: marmalade") {
		t.Errorf("a server's tool ran without being allowed, or exit code %d is not %d:\n%s",
			code, app.ExitRefused, out)
	}
	if out, code := run("ask", "--allow", "everything_echo",
		"@everything_echo message=marmalade"); code != app.ExitDone || !strings.Contains(out, "marmalade") {
		t.Errorf("exit code %d, want the echo:\n%s", code, out)
	}
}

// everything returns a function that runs the program in a home whose mcp.json has the real
// server-everything.
func everything(t *testing.T) func(arg ...string) (string, int) {
	t.Helper()
	server := testenv.Npm(t, "mcp-server-everything")
	home := t.TempDir()
	apptest.Write(t, filepath.Join(home, "lh", "config", "mcp.json"),
		`{"mcpServers": {"everything": {"command": "`+server+`"}}}`)
	return func(arg ...string) (string, int) {
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Env = asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline")
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
}

func TestProgressAndQuestionsOfServersAreEvents(t *testing.T) {
	testenv.WithoutRace(t)
	run := everything(t)
	for call, want := range map[string][]string{
		"@everything_trigger-long-running-operation duration=1 steps=4": {
			`"type":"tool_progress"`,
			`"done":4,"total":4`, "Long running operation completed",
		},
		"@everything_trigger-elicitation-request": {
			`"type":"input_request"`, `"kind":"form"`, `"message":"Please provide inputs`, `"schema":{`,
			`"type":"input_result"`, `"action":"decline"`,
		},
		"@everything_trigger-sampling-request prompt=why": {"no model"},
	} {
		out, code := run("ask", "--allow", "everything_*", "--stream-json", call)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: exit code %d, no %s in\n%s", call, code, w, out)
			}
		}
	}
}

func TestMentionedResourceIsAttached(t *testing.T) {
	testenv.WithoutRace(t)
	run := everything(t)
	vault := t.TempDir()
	apptest.Write(t, filepath.Join(vault, "a.md"), "# Rowing\n\nI row.\n")
	out, code := run("ask", "--stream-json", "--notes", vault,
		"what is in @everything:demo://resource/static/document/features.md?")
	if code != app.ExitDone || !strings.Contains(out, `"name":"read_resource",`+
		`"input":{"name":"everything:demo://resource/static/document/features.md"}`) || !strings.Contains(out, "Everything Server - Features") {
		t.Errorf("exit code %d:\n%.3000s", code, out)
	}
	out, _ = run("ask", "--notes", vault, "what is in @everything:demo://nothing and mail@everything:x.org and "+
		"@nobody:x?")
	if strings.Count(out, "· read_resource everything") != 1 ||
		!strings.Contains(out, "read_resource failed: read demo://nothing") {
		t.Errorf("got\n%s", out)
	}
}
