package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/apptest"
	"lifehub/notes"
)

// A deleted note or folder is not a source any more, and not an error.
func TestRereadOfADeletedSource(t *testing.T) {
	dir := apptest.Vault(t)
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() // opened for reading
	a := &app.App{Settings: settings.Defaults(), Vaults: []*app.Vault{{Folder: folder}}}
	running := agent.Source{
		Path: "running.md", Vault: folder.Dir(), Line: 3, EndLine: 3,
		Text: "I run three times a week: Tuesday, Thursday and Sunday.",
	}
	verdict := func() agent.Verdict {
		return citation.Check("“I run three times a week” [1]", []agent.Source{running}, a)[0].Verdict
	}
	if got := verdict(); got != agent.Verified {
		t.Errorf("the note that is there: %s", got)
	}
	if _, ok := a.Reread(agent.Source{Path: "running.md", Line: 4000, EndLine: 4000}); ok {
		t.Error("a line beyond the end is there")
	}
	if err := os.Remove(filepath.Join(dir, "running.md")); err != nil {
		t.Fatal(err)
	}
	if got := verdict(); got != agent.Stale {
		t.Errorf("the note that was deleted: %s", got)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if got := verdict(); got != agent.Stale {
		t.Errorf("the folder that was deleted: %s", got)
	}
}
