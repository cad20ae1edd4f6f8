package rag

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestCopiesAreSearchedLast: a copy of a sync program ranks below every other note, also
// one that was there before its note, and is an ordinary note without it.
func TestCopiesAreSearchedLast(t *testing.T) {
	t.Parallel()
	const copied = "Boiler.sync-conflict-20261101-101112-ABCDEF.md"
	folder, x := vault(t, map[string]string{
		copied:     "# Boiler\n\nThe boiler pressure is 2.9 bar, boiler pressure.\n",
		"other.md": "Some words on the pressure of a tyre, and the boiler.\n",
	})
	syncNow(t, x, folder, nil)
	if got := paths(t, x, "boiler pressure"); got[0] != copied {
		t.Fatalf("without its note: %v", got)
	}
	write(t, folder.Dir(), map[string]string{
		"Boiler.md":       "# Boiler\n\nThe pressure is 1.4 bar.\n",
		".Gone.md.icloud": "x",
	})
	changes := syncNow(t, x, folder, nil)
	if got := paths(t, x, "boiler pressure"); got[len(got)-1] != copied || len(got) != 3 || got[0] != "Boiler.md" {
		t.Errorf("beside its note: %v", got)
	}
	if !slices.ContainsFunc(changes.Notes, func(c Change) bool { return c.Path == copied && c.Reason != "" }) {
		t.Errorf("the sync reports %v", changes.Notes)
	}
	c, err := x.Coverage(t.Context())
	if err != nil || c.LeftOut.InCloud() == "" {
		t.Errorf("coverage: %+v, %v", c, err)
	}
	remove(t, folder.Dir(), "Boiler.md")
	write(t, folder.Dir(), map[string]string{filepath.Join(".Boiler.md.icloud"): ""})
	syncNow(t, x, folder, nil)
	if got := paths(t, x, "boiler pressure"); !slices.Contains(got, "Boiler.md") {
		t.Errorf("with a placeholder: %v", got)
	}
}
