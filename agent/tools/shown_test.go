package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/turn"
	"lifehub/internal/testenv"
	"lifehub/internal/when"
	"lifehub/llm/llmtest"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/encoder"
)

// behind are ways in which a note changes while its dialog is open.
var behind = map[string]func(t *testing.T, dir, file string){
	"a heading comes before the end": func(t *testing.T, _, file string) {
		appendTo(t, file, "\n# Secret\n\n- mine\n")
	},
	"a heading comes first": func(t *testing.T, _, file string) {
		replace(t, file, "# Other\n\n"+strings.Replace(textOf(t, file), "# ", "## ", 1))
	},
	"a line more":      func(t *testing.T, _, file string) { appendTo(t, file, "- mine\n") },
	"a line elsewhere": func(t *testing.T, _, file string) { replace(t, file, "mine\n\n"+textOf(t, file)) },
	"one character": func(t *testing.T, _, file string) {
		replace(t, file, strings.Replace(textOf(t, file), "one", "One", 1))
	},
	"deleted":        func(t *testing.T, _, file string) { remove(t, file) },
	"emptied":        func(t *testing.T, _, file string) { replace(t, file, "") },
	"replaced":       func(t *testing.T, _, file string) { remove(t, file); replace(t, file, "# Another note\n") },
	"renamed":        func(t *testing.T, dir, file string) { rename(t, file, filepath.Join(dir, "renamed.md")) },
	"a folder there": func(t *testing.T, _, file string) { remove(t, file); mkdir(t, file) },
	"a link to another note": func(t *testing.T, dir, file string) {
		rename(t, file, filepath.Join(dir, "target.md"))
		link(t, filepath.Join(dir, "target.md"), file)
	},
	"a link out of the vault": func(t *testing.T, _, file string) {
		outside := filepath.Join(t.TempDir(), "outside.md")
		rename(t, file, outside)
		link(t, outside, file)
	},
	"a title that moved": func(t *testing.T, dir, file string) {
		rename(t, file, filepath.Join(dir, "moved.md"))
		replace(t, file, "# Nothing\n")
	},
}

// changedBack are changes after which the note is as before.
var changedBack = map[string]func(t *testing.T, dir, file string){
	"nothing happens": func(*testing.T, string, string) {},
	"changed and changed back": func(t *testing.T, _, file string) {
		was := textOf(t, file)
		replace(t, file, "other\n")
		replace(t, file, was)
	},
	"renamed and renamed back": func(t *testing.T, _, file string) {
		rename(t, file, file+".away")
		rename(t, file+".away", file)
	},
	"another note": func(t *testing.T, dir, _ string) {
		replace(t, filepath.Join(dir, "other.md"), "# List\n\n- [ ] one\n")
	},
}

func replace(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, file, text string) { t.Helper(); replace(t, file, textOf(t, file)+text) }

func remove(t *testing.T, file string)   { t.Helper(); must(t, os.Remove(file)) }
func rename(t *testing.T, a, b string)   { t.Helper(); must(t, os.Rename(a, b)) }
func link(t *testing.T, to, name string) { t.Helper(); must(t, os.Symlink(to, name)) }
func mkdir(t *testing.T, dir string)     { t.Helper(); must(t, os.Mkdir(dir, 0o755)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// vaultText returns everything in a vault, including links.
func vaultText(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		switch file := filepath.Join(dir, e.Name()); {
		case e.Type()&os.ModeSymlink != 0:
			to, err := os.Readlink(file)
			must(t, err)
			all[e.Name()] = "→ " + to + "\n" + textOf(t, file)
		case e.IsDir():
			all[e.Name()] = "a folder"
		default:
			all[e.Name()] = textOf(t, file)
		}
	}
	return all
}

const listNote = "# List\n\n- [ ] one\n- a fact (2026-10-01, you)\n"

// writing has a call of each tool that writes notes, for a vault with list.md.
var writing = []string{
	`append_note {"path":"list.md","content":"- added"}`,
	`append_note {"path":"List","content":"- added","heading":"List"}`,
	`edit_note {"path":"list.md","old_text":"[ ] one","new_text":"[ ] two"}`,
	`add_task {"text":"added","note":"list"}`,
	`complete_task {"task":"one"}`,
	`remember {"text":"added"}`,
	`forget {"text":"a fact"}`,
}

// whatWasShown lets the model make a call, changes a note while the dialog is open, and
// grants every permission. It returns the vault at the moment of the permission and
// after the turn, and the contents that were shown.
func whatWasShown(t *testing.T, untrusted bool, call, file string,
	do func(t *testing.T, dir, file string),
) (atYes, after, shown map[string]string, asked int) {
	t.Helper()
	b := work(t, map[string]string{"list.md": listNote, "clip.md": "---\nsource: https://evil.example\n---\nmilk is " +
		"cheap\n"})
	dir := b.folders[0].Dir()
	b.deps.Facts = Facts{Place: only{b.folders[0]}, Path: "list.md"}
	tool, args, _ := strings.Cut(call, " ")
	lines := []llmtest.Answer{agenttest.Calling(tool, args), agenttest.Say("Done.")}
	if untrusted {
		lines = slices.Insert(lines, 0, agenttest.Calling("read_note", `{"path":"clip.md"}`))
	}
	kit := All(b.deps)
	a := turn.New(turn.Options{
		Model: llmtest.NewScript(lines...), Session: agenttest.Session{In: agent.LoopMode},
		History: agenttest.Forgetful{}, Tools: agenttest.Tools(kit...),
	})
	for e := range a.Ask(t.Context(), "c1", "do it") {
		switch ask, _ := e.Body.(agent.PermissionAsked); {
		case ask.Reply == nil:
		case asked > 0:
			asked++
			ask.Reply(agent.Reply{Decision: agent.Refuse})
		default:
			asked++
			if untrusted != strings.Contains(ask.Reason, "clip.md") && tool != "forget" { // it always asks
				t.Errorf("it asks because %s", ask.Reason)
			}
			shown = vaultText(t, dir)
			patched, err := applied(shown[filepath.Base(file)], ask.Preview.Diff)
			must(t, err)
			shown[ask.Preview.Path] = patched
			do(t, dir, filepath.Join(dir, file))
			atYes = vaultText(t, dir)
			ask.Reply(agent.Reply{Decision: agent.AllowOnce})
		}
	}
	return atYes, vaultText(t, dir), shown, asked
}

// applied applies a unified diff to a text.
func applied(text, diff string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	var out strings.Builder
	at := 0
	_, hunks, _ := strings.Cut(diff, "\n@@ ")
	for i, line := range strings.SplitAfter("@@ "+hunks, "\n") {
		var from int
		switch {
		case line == "" || line[0] == '\\':
		case strings.HasPrefix(line, "@@ "):
			if _, err := fmt.Sscanf(line, "@@ -%d", &from); err != nil {
				return "", fmt.Errorf("line %d of the diff: %w", i, err)
			}
			for ; at < from-1; at++ {
				out.WriteString(lines[at])
			}
		case line[0] == '+':
			out.WriteString(line[1:])
		case at >= len(lines) || lines[at] != line[1:]:
			return "", fmt.Errorf("the diff does not fit the note: %q", line)
		default:
			if line[0] == ' ' {
				out.WriteString(lines[at])
			}
			at++
		}
	}
	return out.String() + strings.Join(lines[at:], ""), nil
}

// A permission covers what the dialog showed: exactly that is written, or nothing.
func TestOnlyTheShownChangeIsWritten(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, untrusted := range []bool{false, true} {
		for _, call := range writing {
			for name, do := range behind {
				atYes, after, _, asked := whatWasShown(t, untrusted, call, "list.md", do)
				if asked != 1 || !maps.Equal(atYes, after) {
					t.Errorf("%s, after untrusted text %v: %s: asked %d times, and it wrote\n%q\nover\n%q", call,
						untrusted, name, asked, after, atYes)
				}
			}
			for name, do := range changedBack {
				atYes, after, shown, asked := whatWasShown(t, untrusted, call, "list.md", do)
				maps.DeleteFunc(atYes, func(path, _ string) bool { return shown[path] != "" })
				maps.Copy(shown, atYes)
				if asked != 1 || !maps.Equal(shown, after) {
					t.Errorf("%s, after untrusted text %v: %s: asked %d times, and it wrote\n%q\nbut had shown\n%q",
						call, untrusted, name, asked, after, shown)
				}
			}
		}
	}
}

// A new note is created only where none exists.
func TestNewNoteIsCreatedOnlyAsShown(t *testing.T) {
	t.Parallel()
	calls := []string{
		`create_note {"path":"new.md","content":"# New\n\n- [ ] one"}`,
		`create_note {"path":"/new","content":"# New"}`,
	}
	for _, untrusted := range []bool{false, true} {
		for _, call := range calls {
			for name, do := range map[string]func(t *testing.T, dir, file string){
				"somebody else made it": func(t *testing.T, _, file string) { replace(t, file, "# Mine\n") },
				"an empty one":          func(t *testing.T, _, file string) { replace(t, file, "") },
				"a folder":              func(t *testing.T, _, file string) { mkdir(t, file) },
				"a link": func(t *testing.T, dir,
					file string,
				) {
					link(t, filepath.Join(dir, "list.md"), file)
				},
			} {
				if atYes, after, _, asked := whatWasShown(t, untrusted, call, "new.md", do); asked != 1 ||
					!maps.Equal(atYes, after) {
					t.Errorf("%s, after untrusted text %v: %s: asked %d times, and it wrote\n%q\nover\n%q", call,
						untrusted, name, asked, after, atYes)
				}
			}
			nothing := func(*testing.T, string, string) {}
			if _, after, shown, asked := whatWasShown(t, untrusted, call, "new.md", nothing); asked != 1 ||
				!maps.Equal(shown, after) {
				t.Errorf("%s: asked %d times, and it wrote\n%q\nbut had shown\n%q", call, asked, after, shown)
			}
		}
	}
}

// Previewing a prepared change, or preparing another, does not alter it.
func TestNothingAltersAPreparedChange(t *testing.T) {
	t.Parallel()
	for _, call := range writing {
		b := work(t, map[string]string{"list.md": listNote})
		b.deps.Facts = Facts{Place: only{b.folders[0]}, Path: "list.md"}
		kit := All(b.deps)
		name, args, _ := strings.Cut(call, " ")
		tool := kit[slices.IndexFunc(kit, func(t agent.Tool) bool { return t.Spec().Name == name })]
		change := b.of(kit, name, args)
		shown := change.Preview()
		put(b, "list.md", "# Other\n\n- [ ] one\n\n# List\n\n- a fact (2026-10-01, you)\n")
		if _, err := tool.(agent.Preparer).Prepare(t.Context(), json.RawMessage(args)); err != nil {
			t.Fatal(err)
		}
		tool.(agent.Resolver).Places(t.Context(), json.RawMessage(args))
		if _, err := change.Mark(t.Context()); err != nil {
			t.Fatal(err)
		}
		was := b.text("list.md")
		if _, err := change.Apply(t.Context()); err == nil || b.text("list.md") != was ||
			!reflect.DeepEqual(change.Preview(), shown) {
			t.Errorf("%s: %v, and it wrote %q", call, err, b.text("list.md"))
		}
	}
}

// stale is a search whose index still has a note that was deleted.
type stale struct{ found rag.Found }

func (s stale) Search(context.Context, rag.Query) (rag.Found, error) { return s.found, nil }

// A rule names a note of a second folder with the folder's name, also one that is only in the index.
func TestNoteOfASecondFolderThatOnlyTheIndexHasIsHidden(t *testing.T) {
	var folders []*notes.Folder
	for _, name := range []string{"home", "work"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		folder, err := notes.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		folders = append(folders, folder)
	}
	passage := func(folder int) rag.Passage {
		return rag.Passage{Vault: folders[folder].Dir(), Path: "private/diary.md"}
	}
	entry := func(folder int) when.Entry { return when.Entry{Vault: folders[folder].Dir(), Path: "private/diary.md"} }
	search := stale{rag.Found{
		Passages: []rag.Passage{passage(0), passage(1)}, Time: &when.Found{List: []when.Entry{entry(0), entry(1)}},
	}}
	ctx := agent.Hiding(t.Context(), func(path string) bool { return strings.HasPrefix(path, "work/private/") })
	found, err := SearchShown(ctx, search, func() []*notes.Folder { return folders }, rag.Query{Text: "diary"})
	if err != nil || len(found.Passages) != 1 || found.Passages[0].Vault != folders[0].Dir() ||
		len(found.Time.List) != 1 || found.Time.List[0].Vault != folders[0].Dir() {
		t.Errorf("found %+v, %+v, %v", found.Passages, found.Time, err)
	}
}

// What is hidden in one folder is found in another at the same path.
func TestNoteHiddenInOneFolderIsFoundInAnother(t *testing.T) {
	var folders []*notes.Folder
	var library rag.Library
	for _, name := range []string{"home", "work"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(filepath.Join(dir, "private"), 0o755); err != nil {
			t.Fatal(err)
		}
		replace(t, filepath.Join(dir, "private", "diary.md"), "# Diary\n\nThe boiler of "+name+" was loud.\n")
		folder, err := notes.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		index, err := rag.Open(t.TempDir(), rag.Options{Vault: folder.Dir()})
		if err != nil {
			t.Fatal(err)
		}
		defer index.Close()
		if _, err := index.Sync(t.Context(), folder, encoder.Encoder{}, nil); err != nil {
			t.Fatal(err)
		}
		folders, library.Indexes = append(folders, folder), append(library.Indexes, index)
	}
	ctx := agent.Hiding(t.Context(), func(path string) bool { return strings.HasPrefix(path, "work/private/") })
	found, err := SearchShown(ctx, library, func() []*notes.Folder { return folders }, rag.Query{Text: "loud boiler"})
	if err != nil || len(found.Passages) != 1 || found.Passages[0].Vault != folders[0].Dir() ||
		found.Coverage.Indexed != 1 {
		t.Errorf("found %+v, %+v, %v", found.Passages, found.Coverage, err)
	}
}
