package rag

import (
	"strings"
	"testing"

	"lifehub/notes"
)

// An exported answer is not a source of later answers, wherever it was exported to.
func TestExportedConversationIsNotIndexed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"boat.md": "# Boat\n\nThe boat leaks.\n",
		"talk.md": "# Talk\n\nThe boat leaks, you wrote.\n\n- [ ] mend the boat\n",
	})
	folder, x := openVault(t, dir, t.TempDir())
	syncNow(t, x, folder, nil)
	for _, want := range []string{"boat.md talk.md", "boat.md"} {
		found, err := x.Search(t.Context(), Query{Text: "boat leaks"})
		var paths []string
		for _, p := range found.Passages {
			paths = append(paths, p.Path)
		}
		if got := strings.Join(paths, " "); err != nil || got != want {
			t.Errorf("found %s, want %s, %v", got, want, err)
		}
		write(t, dir, map[string]string{"talk.md": notes.ExportedFront +
			"# Talk\n\nThe boat leaks, you wrote.\n\n- [ ] mend the boat\n"})
		syncNow(t, x, folder, nil)
	}
	c, err := x.Coverage(t.Context())
	if err != nil || c.Total != 1 || c.Indexed != 1 || c.LeftOut.String() != "1 file left out: 1 exported conversation" {
		t.Errorf("coverage is %+v, %v", c, err)
	}
	if note, err := folder.Read("talk.md"); err != nil || note.Title != "Talk" || len(note.Tasks) > 0 {
		t.Errorf("it reads as %+v, %v", note, err)
	}
}
