package tools

import (
	"os"
	"path/filepath"
	"testing"

	"lifehub/internal/when"
	"lifehub/notes"
)

// Each kind of finding is found where it was planted, and nothing else.
func TestHealthFindsWhatWasPlanted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index.md": "# Index\n\n[[Shoes]], [[shoess]], [plan](run/plan.md), [gone](gone/away.md), " +
			"[[2027-01-01]], [[#Index]], [[scan.zip]] <https://a.example>\n",
		"run/shoes.md": "# Shoes\n\n[[index]] [[plan]] `[[no link]]`\n\n- [ ] sole 📅 2026-03-01\n- [x] lace 📅 " +
			"2026-03-01\n- [ ] later 📅 2026-11-20\n",
		"run/plan.md":   "---\naliases: [The Plan]\n---\n# Plan\n\n[[index]] and [[The Plann]]\n",
		"b/plan.md":     "# Plan\n\n[[index]]\n",
		"alone.md":      "# Alone\n",
		"2026-01-01.md": "A day without links.\n",
		"run/shoes.sync-conflict-20260101-120000-ABCDEFG.md": "# Shoes\n\n[[nowhere at all]]\n",
		"broken.txt": "MZ\x00\x00\x01",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	today, _ := when.ParseDay("2026-11-29")
	found, err := Health(t.Context(), func() []*notes.Folder { return []*notes.Folder{folder} }, today)
	if err != nil {
		t.Fatal(err)
	}
	type planted struct {
		kind       FindingKind
		path, near string
		line       int
	}
	want := []planted{
		{DeadLink, "index.md", "run/shoes.md", 3},
		{DeadLink, "index.md", "", 3},
		{DeadLink, "run/plan.md", "run/plan.md", 6},
		{SameTitle, "b/plan.md", "run/plan.md", 0},
		{Copy, "run/shoes.sync-conflict-20260101-120000-ABCDEFG.md", "run/shoes.md", 0},
		{Overdue, "run/shoes.md", "", 5},
		{Orphan, "alone.md", "", 0},
		{Unreadable, "broken.txt", "", 0},
	}
	for i, f := range found {
		got := planted{f.Kind, f.Path, "", f.Line}
		if len(f.Near) > 0 {
			got.near = f.Near[0]
		}
		if i >= len(want) || got != want[i] {
			t.Errorf("finding %d is %+v", i, f)
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d findings, want %d", len(found), len(want))
	}
}
