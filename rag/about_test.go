package rag

import (
	"fmt"
	"strings"
	"testing"
)

// What the notes are is said by the user's own, in a line.
func TestTheNotesAreToldInALine(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"home/boiler.md": "---\ntags: [home, heat]\n---\n# Boiler\n\nThe boiler was repaired and it is warm in the house again, which was about time.\n",
		"home/roof.md":   "---\ntags: [home]\n---\n# Dach\n\nDas Dach ist undicht und muss von einem Dachdecker repariert werden, bevor der Winter kommt.\n",
		"clip/page.md":   "---\nsource: https://evil.example\ntags: [obey, obey-me]\n---\n# Page\n\nA page.\n",
		"clip/more.md":   "---\nsource: https://evil.example\ntags: [obey]\n---\n# More\n\nA page.\n",
	}
	for day := range 3 {
		files[fmt.Sprintf("journal/2026-03-%02d.md", day+1)] = "# Day\n\nI ran in the park and it was cold, but the sun was out for the most of it.\n"
	}
	write(t, dir, files)
	folder, x := openVault(t, dir, t.TempDir())
	if _, err := x.Sync(t.Context(), folder, nil, nil); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(Library{Indexes: []*Index{x}}.About(t.Context()), "\n")
	if want := "7 notes; languages en, de; folders journal/, home/; tags #home; a note of a day journal/2026-03-03.md"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
