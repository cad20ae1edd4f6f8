//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// A folder that is renamed while a chat is open is not written to, whatever is in its place, and is
// used again when it is back.
func TestAFolderMayBeRenamedUnderAChat(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := filepath.Join(t.TempDir(), "vault")
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run three times a week.\n")
	term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	term.sees("1 note")
	for task, change := range []func() error{
		func() error { return os.Rename(vault, vault+" away") },
		func() error { return os.Mkdir(vault, 0o700) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		message := fmt.Sprint("/task number ", task)
		term.types(message + "\r")
		term.waits(func(screen string) bool {
			_, answer, _ := strings.Cut(screen, message)
			return strings.Contains(answer, "! nothing")
		}, "says that nothing was written")
	}
	if left, _ := filepath.Glob(filepath.Join(vault, "*")); len(left) > 0 {
		t.Errorf("written where the folder should be: %q", left)
	}
	for _, err := range []error{os.Remove(vault), os.Rename(vault+" away", vault)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	term.types("how often do I run?\r")
	term.sees("three times a week", "running.md:3")
	term.types("\x04")
	term.exits()
}
