//go:build unix

package cli

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/store"
)

// TestNotesAndFactsWithoutConversations runs commands about notes and facts next to conversations
// that this LifeHub cannot open, because they are of a newer version or damaged. The files stay
// untouched.
func TestNotesAndFactsWithoutConversations(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, file string){
		"of a newer LifeHub": func(t *testing.T, file string) {
			db, err := sql.Open("sqlite", file)
			if err == nil {
				_, err = db.Exec(`UPDATE schema SET version = 99`)
			}
			if err == nil {
				err = db.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"damaged": func(t *testing.T, file string) { apptest.Write(t, file, "no database") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, vault := t.TempDir(), apptest.Vault(t)
			file := filepath.Join(home, ".lifehub", "data", "lifehub.db")
			lifehub := func(arg ...string) (string, error) {
				cmd := exec.Command(os.Args[0], arg...)
				cmd.Dir = home
				cmd.Env = asProgram(home, filepath.Join(home, ".lifehub"), "LIFEHUB_PROVIDER=offline")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			spoil(t, file)
			before := apptest.Read(t, file)
			for _, run := range []struct {
				arg  []string
				want string
			}{
				{[]string{"index", vault}, "2 notes"},
				{[]string{"search", "three", "times"}, "running.md"},
				{[]string{"search", "--notes", vault, "plumber"}, "tasks.md"},
				{[]string{"memory", "add", "my cat is called Whiskers"}, "Whiskers"},
				{[]string{"memory", "list"}, "Whiskers"},
			} {
				if out, err := lifehub(run.arg...); err != nil || !strings.Contains(out, run.want) {
					t.Errorf("lifehub %s: %v\n%s", strings.Join(run.arg, " "), err, out)
				}
			}
			if out, err := lifehub("chats", "list"); err == nil {
				t.Errorf("conversations that cannot be opened are listed:\n%s", out)
			}
			if apptest.Read(t, file) != before {
				t.Error("the file of conversations was changed")
			}
		})
	}
}
