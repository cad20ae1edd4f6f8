package rag

import (
	"fmt"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

func TestNotesAreDescribedInALine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"home/boiler.md": "---\ntags: [home, heat]\n---\n# Boiler\n\nThe boiler was repaired and it is warm in the " +
			"house again, which was about time.\n",
		"home/roof.md": "---\ntags: [home]\n---\n# Dach\n\nDas Dach ist undicht und muss von einem Dachdecker " +
			"repariert werden, bevor der Winter kommt.\n",
		"clip/page.md": "---\nsource: https://evil.example\ntags: [obey, obey-me]\n---\n# Page\n\nA page.\n",
		"clip/more.md": "---\nsource: https://evil.example\ntags: [obey]\n---\n# More\n\nA page.\n",
	}
	for day := range 3 {
		files[fmt.Sprintf("journal/2026-03-%02d.md", day+1)] = "# Day\n\nI ran in the park and it was cold, but the " +
			"sun was out for the most of it.\n"
	}
	write(t, dir, files)
	folder, x := openVault(t, dir, t.TempDir())
	if _, err := x.Sync(t.Context(), folder, nil, nil); err != nil {
		t.Fatal(err)
	}
	about(t, x, "7 notes; languages en (4), de (1); folders journal/, home/; tags #home; a note of a day "+
		"journal/2026-03-03.md")
}

// With few notes every language is named, with many only those of one note in twenty.
func TestAllLanguagesOfFewNotesAreNamed(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for many, want := range map[int]string{
		30: "32 notes; languages en (30), de (1), zh (1); tags #run",
		60: "62 notes; languages en (60); tags #run",
	} {
		files := map[string]string{
			"kuchen.md": "# Kuchen\n\nDer Kuchen muss bei mittlerer Hitze gebacken werden, bis er oben braun und in " +
				"der Mitte nicht mehr feucht ist.\n",
			"学中文.md": "# 学中文\n\n每周三晚上七点上课，老师姓陈。\n",
		}
		for day := range many {
			files[fmt.Sprintf("run %d.md", day)] = "---\ntags: run\n---\n# Run\n\nI ran in the park and it was cold, " +
				"but the sun was out for the most of it.\n"
		}
		dir := t.TempDir()
		write(t, dir, files)
		folder, x := openVault(t, dir, t.TempDir())
		if _, err := x.Sync(t.Context(), folder, nil, nil); err != nil {
			t.Fatal(err)
		}
		about(t, x, want)
	}
}

func about(t *testing.T, x *Index, want string) {
	t.Helper()
	got := strings.Join(Library{Indexes: []*Index{x}}.About(t.Context()), "\n")
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
