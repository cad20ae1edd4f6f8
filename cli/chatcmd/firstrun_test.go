//go:build unix

package chatcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lifehub/chat"
	"lifehub/cli/app"
)

func TestFirstRunFindsFoldersOfNotes(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Chdir(home)
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	offered := func() (list [][3]string) {
		t.Helper()
		offers, err := offers{background: &background{App: &app.App{}}}.Offers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range offers {
			if o.Path == "" {
				o.Detail = "" // of the sample notes: what they are for
			}
			list = append(list, [3]string{o.Name, o.Path, o.Detail})
		}
		return list
	}
	starter := [3]string{"Starter notes", "", ""}
	if got := offered(); !reflect.DeepEqual(got, [][3]string{starter}) {
		t.Errorf("in an empty home: %q", got)
	}

	put("far/away/Wissen/a.md", "# a")
	put("far/away/Wissen/.trash/b.md", "# b")
	put("Documents/Work/.obsidian/app.json", "{}")
	put("Documents/Work/one.md", "1")
	put("Documents/Work/two.markdown", "2")
	put("Notes/log/x.MD", "x")
	put("apuntes/2026/uno.md", "1") // whatever it is called
	put("apuntes/2026/dos.org", "2")
	put("apuntes/foto.jpg", "")
	put("code/README.md", "") // most of it is none
	put("code/main.c", "")
	put("papers/a.pdf", "")
	put("notizen/picture.png", "") // without notes
	put(".config/obsidian/obsidian.json", fmt.Sprintf(`{"vaults":{
		"1":{"path":%q,"ts":9},"2":{"path":%q,"ts":5,"open":true},"3":{"path":"/gone","ts":99}}}`,
		filepath.Join(home, "Documents/Work"), filepath.Join(home, "far/away/Wissen")))
	want := [][3]string{
		{"Obsidian vault", "~/far/away/Wissen", "1 note"},
		{"Obsidian vault", "~/Documents/Work", "2 notes"},
		{"Folder of notes", "~/Notes", "1 note"},
		{"Folder of notes", "~/apuntes", "2 notes"},
		starter,
	}
	if got := offered(); !reflect.DeepEqual(got, want) {
		t.Errorf("offered %q\nwant    %q", got, want)
	}

	put(".config/obsidian/obsidian.json", `{"vaults":[`)
	if err := os.Symlink(home, filepath.Join(home, "Documents", "vault")); err != nil {
		t.Fatal(err)
	}
	if got := offered(); len(got) < 3 {
		t.Errorf("with a list of vaults that is broken: %q", got)
	}
	t.Chdir(filepath.Join(home, "far/away/Wissen"))
	if got := offered(); got[0] != [3]string{"This folder", "~/far/away/Wissen", "1 note"} {
		t.Errorf("in a folder of notes: %q", got)
	}
	err := offers{background: &background{App: &app.App{}}}.Take(t.Context(), chat.Offer{Path: "~/nowhere"})
	if err == nil || err.Error() != "no such folder: ~/nowhere" {
		t.Errorf("taking what is not there: %v", err)
	}
}

func TestASourceRepositoryIsNotAFolderOfNotes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"README.md", "CHANGELOG.md", "main.go", "go.mod", "a.go", ".git/config"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if isMostlyNotes(t.Context(), dir) {
		t.Error("a repository with a README is offered")
	}
	for _, name := range []string{"main.go", "go.mod"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if !isMostlyNotes(t.Context(), dir) {
		t.Error("a folder whose files are mostly notes is not offered")
	}
}

func TestTypedPathIsCompletedAndCounted(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(home)
	for _, name := range []string{
		"Notes/a.md", "Notes/below/b.md", "Notes old/x.txt", "Music/x.ogg",
		".hidden/c.md", "file.md",
	} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte("# x\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]chat.TypedPath{
		"~/n": {Complete: "~/Notes", Begun: []chat.Offer{
			{Name: "Notes", Path: "~/Notes/", Detail: "2 notes"},
			{Name: "Notes old", Path: "~/Notes old/", Detail: "1 note"},
		}},
		"Mu": {Complete: "Music/", Begun: []chat.Offer{{Name: "Music", Path: "Music/", Detail: "no notes"}}},
		"~/Notes/": {
			Detail: "2 notes", Complete: "~/Notes/below/",
			Begun: []chat.Offer{{Name: "below", Path: "~/Notes/below/", Detail: "1 note"}},
		},
		"~/Music/":  {Detail: "no notes"},
		"~/none":    {Detail: "no such folder", Missing: true},
		"~/none/x":  {Detail: "no such folder", Missing: true},
		"~/file.md": {Detail: "a file", Missing: true},
	} {
		got := (offers{}).Typed(t.Context(), path)
		if want.Detail != "" && strings.Contains(got.Detail, want.Detail) {
			got.Detail = want.Detail
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", path, got, want)
		}
	}
}
