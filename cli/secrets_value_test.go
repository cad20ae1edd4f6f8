//go:build unix

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/store"
)

// Text typed by the user is saved unchanged, but no command that prints conversations shows a
// secret in it, whatever its name.
func TestConversationsAreShownWithoutSecrets(t *testing.T) {
	testenv.WithoutRace(t)
	home := t.TempDir()
	const pat, inside = "ghx-9fK2mQ7xLw", "Tr0ub4dor-77"
	apptest.Write(t, filepath.Join(home, "config", "mcp.json"),
		`{"mcpServers": {"far": {"command": "x", "env": {"GITHUB_PAT": "`+pat+`", "CONNECTION_STRING": "Server=db;Pwd=`+
			inside+`;Encrypt=true", "LEVEL": "production"}}}}`)
	s, err := store.Open(filepath.Join(home, "data", "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	turn, err := s.Begin(t.Context(), "c0ffee", "is "+pat+" or "+inside+" for production?")
	if err == nil {
		err = errors.Join(s.Finish(t.Context(), turn, agent.Answer{Text: "It is " + inside + "."}), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"chats list", "chats list --json", "chats show c0ffee", "chats show c0ffee --json",
		"chats export c0ffee", "chats export c0ffee --format json", "chats search production",
		"chats search production --json", "chats rm c0ffee",
	} {
		cmd := offScreen(t, strings.Fields(command)...)
		cmd.Env = append(cmd.Env, "LIFEHUB_HOME="+home, "PATH="+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if (err != nil) != strings.HasPrefix(command, "chats rm") {
			t.Errorf("lifehub %s: %v\n%s", command, err, out)
		}
		text := string(out)
		if strings.Contains(text, pat) || strings.Contains(text, inside) || !strings.Contains(text, "[redacted]") ||
			!strings.Contains(text, "production") {
			t.Errorf("lifehub %s prints\n%s", command, text)
		}
	}
}
