package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
)

func TestOpenNotesOpensOnlyNotes(t *testing.T) {
	t.Parallel()
	a, err := app.OpenNotes(apptest.Process(t.TempDir()), app.RunFlags{Notes: []string{apptest.Vault(t)}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.Store != nil || a.Builtin != nil || a.Servers != nil {
		t.Errorf("it opened conversations %v, tools %v or servers %v", a.Store, a.Builtin, a.Servers)
	}
	if len(a.OpenVaults()) != 1 {
		t.Errorf("%d vaults, want 1", len(a.OpenVaults()))
	}
}

func TestFolderNamedTwiceIsOpenedOnce(t *testing.T) {
	t.Parallel()
	dir := apptest.Vault(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	a, err := app.OpenNotes(apptest.Process(t.TempDir()), app.RunFlags{Notes: []string{dir, dir + "/", link}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got := len(a.OpenVaults()); got != 1 {
		t.Errorf("%d vaults, want 1", got)
	}
}
