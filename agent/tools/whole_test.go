package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/notes"
)

func TestWholeVault(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write("new.md", "# New\n\nwritten today\n", 0)
	write("a/old.md", "# Old\n\nwritten last year\n", 300*24*time.Hour)
	write("clip.md", "---\nsource: https://example.org\n---\ncopied\n", time.Hour)
	write("secret.md", "the code\n", time.Hour)
	write("ignored/x.md", "ignored\n", time.Hour)
	write(".lifehubignore", "ignored/\n", time.Hour)
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	folders := func() []*notes.Folder { return []*notes.Folder{folder} }
	ctx := agent.Hiding(t.Context(), func(path string) bool { return path == "secret.md" })
	list, err := Whole(ctx, folders, 1000)
	var paths []string
	for _, s := range list {
		paths = append(paths, s.Path)
	}
	if got := strings.Join(paths, " "); err != nil || got != "a/old.md new.md" {
		t.Errorf("notes %s, error %v; want the old and the new one", got, err)
	}
	if list, err := Whole(ctx, folders, 40); err != nil || list != nil {
		t.Errorf("%d notes of a vault that is too large, error %v", len(list), err)
	}
	write("paper.pdf", "%PDF-1.4", 0)
	if list, err := Whole(ctx, folders, 1000); err != nil || list != nil {
		t.Errorf("%d notes of a vault with pages, error %v", len(list), err)
	}
}
