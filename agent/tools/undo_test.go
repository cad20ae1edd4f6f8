package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/notes"
)

func TestUndoReversesOnlyTheTurnsChanges(t *testing.T) {
	const gone = "\x00"
	for name, test := range map[string]struct {
		now     string // the note at the time of the undo
		changes [][2]string
		what    UndoResult
		want    string // the note after the undo
	}{
		"a changed note":                {"two", [][2]string{{"one", "two"}}, UndoRestored, "one"},
		"a note changed twice":          {"three", [][2]string{{"one", "two"}, {"two", "three"}}, UndoRestored, "one"},
		"the second change was cut":     {"two", [][2]string{{"one", "two"}, {"two", "three"}}, UndoRestored, "one"},
		"the only change was cut":       {"one", [][2]string{{"one", "two"}}, UndoNothing, "one"},
		"a made note":                   {"new", [][2]string{{gone, "new"}}, UndoTrashed, gone},
		"a made note, then changed":     {"more", [][2]string{{gone, "new"}, {"new", "more"}}, UndoTrashed, gone},
		"a made note that was never":    {gone, [][2]string{{gone, "new"}}, UndoNothing, gone},
		"an empty note that was filled": {"x", [][2]string{{"", "x"}}, UndoRestored, ""},
		"a note the user changed since": {"mine", [][2]string{{"one", "two"}}, UndoChanged, "mine"},
		"a made note the user changed":  {"mine", [][2]string{{gone, "new"}}, UndoChanged, "mine"},
		"a note the user deleted since": {gone, [][2]string{{"one", "two"}}, UndoChanged, gone},
		"undone once more":              {"one", [][2]string{{"one", "two"}, {"two", "three"}}, UndoNothing, "one"},
		"changed between two of a turn": {
			"three",
			[][2]string{{"one", "two"}, {"mine", "three"}},
			UndoChanged,
			"three",
		},
		"there and back in the one turn": {"one", [][2]string{{"one", "two"}, {"two", "one"}}, UndoNothing, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "sub", "a.md")
			if test.now != gone {
				lay(t, file, test.now)
			}
			folder, err := notes.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			var changes []agent.NoteChange
			for _, c := range test.changes {
				change := agent.NoteChange{Vault: folder.Dir(), Path: "sub/a.md", After: sum([]byte(c[1]))}
				if c[0] != gone {
					change.Before = []byte(c[0])
				}
				changes = append(changes, change)
			}
			done := Undo([]*notes.Folder{folder}, changes)
			if len(done) != 1 || done[0].What != test.what || done[0].Err != nil {
				t.Fatalf("got %+v", done)
			}
			got := gone
			if text, err := os.ReadFile(file); err == nil {
				got = string(text)
			}
			if got != test.want {
				t.Errorf("the note holds %q, want %q", got, test.want)
			}
			if test.what == UndoTrashed {
				if text, err := os.ReadFile(filepath.Join(dir, done[0].Trash)); err != nil || string(text) != test.now {
					t.Errorf("the trash holds %q, %v", text, err)
				}
			}
			if test.what == UndoChanged {
				if test.now != gone && !strings.Contains(done[0].Diff, "\n+"+test.now) {
					t.Errorf("what is in the note now is no addition:\n%s", done[0].Diff)
				}
				restored := Restore([]*notes.Folder{folder}, changes)
				if restored[0].Err != nil || done[0].Diff == "" && test.now != gone {
					t.Fatalf("got %+v after %+v", restored, done)
				}
				if test.now != gone {
					if text, err := os.ReadFile(filepath.Join(dir, restored[0].Trash)); err != nil ||
						string(text) != test.now {
						t.Errorf("the newer text is lost: %q, %v", text, err)
					}
				}
			}
		})
	}
}

func lay(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTrashHoldsNotesOfTheSameName(t *testing.T) {
	dir := t.TempDir()
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	var places []string
	for _, text := range []string{"a", "b", "c"} {
		lay(t, filepath.Join(dir, "n.md"), text)
		place, err := folder.Trash("n.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, place)
	}
	if got, want := strings.Join(places, ", "), ".trash/n.md, .trash/n 2.md, .trash/n 3.md"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
