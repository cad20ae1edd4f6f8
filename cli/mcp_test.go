//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

func TestToolsOfARealServerAreListedAndCalled(t *testing.T) {
	server := testenv.Npm(t, "mcp-server-everything")
	home := t.TempDir()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"everything": map[string]any{"command": server, "args": []string{"stdio"}},
		"broken":     map[string]any{"command": "/nonexistent/server"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "lh", "config", "mcp.json"), string(config))
	run := func(arg ...string) (string, int) {
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Env = []string{runAsProgram, "HOME=" + home, "LIFEHUB_HOME=" + filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline", "PATH=" + os.Getenv("PATH")}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, _ := run("tools"); !strings.Contains(out, "everything_echo") {
		t.Errorf("the server's tools are not listed:\n%s", out)
	}
	if out, _ := run("mcp", "list"); !strings.Contains(out, "everything") || !strings.Contains(out, "broken") {
		t.Errorf("the servers are not listed:\n%s", out)
	}
	if out, code := run("ask", "@everything_echo message=marmalade"); code != exitRefused || strings.Contains(out, "Echo: marmalade") {
		t.Errorf("a server's tool ran without being allowed, or exit code %d is not %d:\n%s", code, exitRefused, out)
	}
	if out, code := run("ask", "--allow", "everything_echo", "@everything_echo message=marmalade"); code != exitDone || !strings.Contains(out, "marmalade") {
		t.Errorf("exit code %d, want the echo:\n%s", code, out)
	}
}
