package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/testenv"
	"lifehub/rag"
)

func TestFirstIndexOfALargeFolderIsBrief(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	changes := rag.Changes{Total: 1200}
	for i := range 1200 {
		changes.Notes = append(changes.Notes, rag.Change{What: "added", Path: fmt.Sprintf("%d.md", i)})
	}
	changes.Notes[900] = rag.Change{What: "skipped", Path: "900.md", Reason: "it is too large"}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := printChanges(&app.Process{Out: out}, "notes", changes, indexFlags{}); err != nil {
		t.Fatal(err)
	}
	stderr, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(stderr)), "\n")
	if len(lines) != 23 || lines[20] != "skipped  900.md: it is too large" ||
		!strings.HasPrefix(lines[21], "… 1,179 more") || !strings.Contains(lines[22], "1,199 added, 1 skipped") {
		t.Errorf("it says\n%s", stderr)
	}
}
