package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// No chat was ever open: the first command leaves a backup, and the next one that finds the conversations emptied says
// so, and restores them after a yes.
func TestEmptiedConversationsAreRestoredWithAYes(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault, database := filepath.Join(home, "vault"), filepath.Join(home, "lh", "data", "lifehub.db")
	tasks := filepath.Join(vault, "tasks.md")
	apptest.Write(t, tasks, "- [ ] first\n")
	add := func(task string) (stderr string, code int) {
		_, stderr, code = capturing(t, home, "", "add", "--yes", "--notes", vault, task)
		return stderr, code
	}
	if stderr, code := add("second"); code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	before, _, _ := capturing(t, home, "", "chats", "list")
	id, _, _ := strings.Cut(before, " ") // the backup may be made before the end of its turn
	for _, empty := range []func() error{
		func() error { return os.Truncate(database, 0) },
		func() error { return os.Remove(database) },
	} {
		if err := empty(); err != nil {
			t.Fatal(err)
		}
		if stderr, code := add("third"); code != 1 || !strings.Contains(stderr, database) ||
			!strings.Contains(stderr, "chats restore") {
			t.Errorf("exit %d, %s", code, stderr)
		}
		if _, stderr, code := capturing(t, home, "", "chats", "list"); code != 1 ||
			!strings.Contains(stderr, "chats restore") {
			t.Errorf("the list: exit %d, %s", code, stderr)
		}
		term := startTerminal(t, 100, 24, []string{
			"HOME=" + home, "LIFEHUB_HOME=" + filepath.Join(home, "lh"),
			"LIFEHUB_PROVIDER=offline",
		}, "add", "--yes", "--notes", vault, "third")
		term.sees("Restore")
		term.types("y\r")
		if code := term.exits(); code != 0 {
			t.Errorf("exit %d\n%s", code, term.text())
		}
		if after, _, _ := capturing(t, home, "", "chats", "list"); id == "" || !strings.Contains(after, id) ||
			!strings.Contains(after, "add second") {
			t.Errorf("restored is\n%s, and there was\n%s", after, before)
		}
	}
	if got := apptest.Read(t, tasks); got != "- [ ] first\n- [ ] second\n- [ ] third\n- [ ] third\n" {
		t.Errorf("the note holds %q", got)
	}
}
