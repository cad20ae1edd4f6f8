//go:build unix

package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/store"
)

// A read-only command works although files it does not need are broken, and reports each in one
// line.
func TestReadingNeedsNothingElse(t *testing.T) {
	testenv.WithoutRace(t)
	home, vault := t.TempDir(), apptest.Vault(t)
	s, err := store.Open(filepath.Join(home, "data", "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	turn, err := s.Begin(t.Context(), "c0ffee", "how often do I run?")
	if err == nil {
		err = s.Finish(t.Context(), turn, agent.Answer{Text: "You run three times a week."})
	}
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	apptest.Write(t, filepath.Join(home, "config", "mcp.json"), "{\n\"mcpServers\": [\n")
	apptest.Write(t, filepath.Join(home, "config", "permissions.yaml"), "rules:\n- [\n")
	for command, lines := range map[string][]string{
		"chats list": {"mcp.json:3"}, "chats show c0ffee": {"mcp.json:3"}, "chats export c0ffee": {"mcp.json:3"},
		"search --notes " + vault + " run":      {"mcp.json:3", "permissions.yaml:2"},
		"note --notes " + vault + " running.md": {"mcp.json:3", "permissions.yaml:2"},
	} {
		cmd := offScreen(t, strings.Fields(command)...)
		cmd.Env = append(cmd.Env, "LIFEHUB_HOME="+home, "LIFEHUB_PROVIDER=offline")
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "run") {
			t.Errorf("lifehub %s: %v\n%s%s", command, err, &out, &stderr)
		}
		for _, line := range lines {
			if strings.Count(stderr.String(), line) != 1 {
				t.Errorf("lifehub %s: %s is not said once:\n%s", command, line, &stderr)
			}
		}
		if n := strings.Count("\n"+stderr.String(), "\n! "); n != len(lines) {
			t.Errorf("lifehub %s: %d lines, want %d:\n%s", command, n, len(lines), &stderr)
		}
	}
}
