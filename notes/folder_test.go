package notes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/notes/pdf"
)

// vault creates a folder of notes from names and texts, and opens it.
func vault(t testing.TB, files map[string]string) *Folder {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	folder.ReadWith(pdf.Reader{Cache: testenv.CompiledPDFium(t)})
	t.Cleanup(func() { folder.Close() })
	return folder
}

func list(t testing.TB, folder *Folder) (paths []string, problems []Problem) {
	t.Helper()
	entries, problems, err := folder.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	return paths, problems
}

func TestListFindsOnlyNotes(t *testing.T) {
	folder := vault(t, map[string]string{
		"b.md": "", "a b.md": "", "a/z.MD": "", "a/deep/x.Markdown": "", "a.md": "",
		".hidden.md": "", ".obsidian/x.md": "", ".trash/x.md": "", ".git/x.md": "", "a/.x/y.md": "",
		"logseq/bak/x.md": "", "graph/logseq/version-files/x.md": "",
		"site/node_modules/p/README.md": "", "#recycle/x.md": "",
		"notes.txt": "", "a/x.ORG": "", "paper.pdf": "", "md": "", "txt": "", "a/pic.md.png": "", "a/talk.mp3": "",
		"a/x.odt": "", "a/x.md~": "",
	})
	got, problems := list(t, folder)
	same(t, "paths", got, []string{
		"a b.md", "a.md", "a/deep/x.Markdown", "a/x.ORG", "a/z.MD", "b.md",
		"notes.txt", "paper.pdf",
	})
	same(t, "problems", problems, nil)
	_, _, others, err := folder.Survey(t.Context())
	if summary := others.String(); err != nil || summary != "6 files left out: 3 other files, 1 image, 1 office "+
		"document, 1 recording" {
		t.Errorf("it says %q, %v", summary, err)
	}
}

func TestImagesAreNotesOnlyIfTheyAreRead(t *testing.T) {
	huge := strings.Repeat("x", maxPicture+1)
	files := map[string]string{
		"a.png": "x", "b.JPG": "x", "c.jpeg": "x", "d.gif": "x", "e.webp": "x",
		"huge.png": huge, "n.md": "![](a.png)\n",
	}
	folder := vault(t, files)
	got, _ := list(t, folder)
	same(t, "paths", got, []string{"n.md"})
	if _, _, others, err := folder.Survey(t.Context()); err != nil || others.String() != "6 files left out: 6 images" {
		t.Errorf("it leaves out %q, %v", others, err)
	}
	if _, _, err := folder.Raw("a.png"); err == nil || !strings.Contains(err.Error(), "install tesseract") {
		t.Errorf("it reads an image: %v", err)
	}
	if n, err := folder.Read("n.md"); err != nil || len(n.Links) > 0 {
		t.Errorf("an image is linked as a note: %+v, %v", n.Links, err)
	}

	folder = vault(t, files)
	folder.ReadWith(pdf.Reader{Tesseract: "/no/such/tesseract"})
	got, problems := list(t, folder)
	same(t, "paths", got, []string{"a.png", "b.JPG", "c.jpeg", "d.gif", "n.md"})
	same(t, "problems", problems, nil)
	if _, _, others, err := folder.Survey(t.Context()); err != nil || others.String() != "2 files left out: 2 images" {
		t.Errorf("it leaves out %q, %v", others, err)
	}
	_, _, err := folder.Raw("a.png")
	if unread := (*UnreadError)(nil); !errors.As(err, &unread) || !IsImageReason(Reason(err)) {
		t.Errorf("a damaged image: %v", err)
	}
	if err := folder.Create("new.png", "x"); err == nil {
		t.Error("an image is created")
	}
	if err := folder.Replace("a.png", []byte("x"), []byte("y")); err == nil {
		t.Error("an image is replaced")
	}
}

func TestIgnoredNotesAreNotAccessible(t *testing.T) {
	files := map[string]string{
		".lifehubignore": "# secrets\r\nprivate/\n*.draft.md\n/top.md\nlog/**/old\n!keep.draft.md\nsub/*.md\n" +
			"!sub/yes.md\n[!a-y]z.md\n\\#x.md\n",
		"a/.lifehubignore": "local.md\n!b.draft.md\n",
	}
	want := []string{
		"a/b.draft.md", "a/c/top.md", "a/top.md", "keep.draft.md", "log/2026/new/x.md", "private.md", "sub/deep/no.md",
		"sub/yes.md", "z/az.md", "local.md",
	}
	ignored := []string{
		"private/x.md", "a/private/x.md", "x.draft.md", "a/x.draft.md", "top.md", "log/old/x.md", "log/2026/a/old/x.md",
		"sub/no.md", "zz.md", "#x.md", "a/local.md", "a/c/local.md", "private/keep.draft.md",
	}
	for _, name := range append(slices.Clone(want), ignored...) {
		files[name] = "text\n"
	}
	folder := vault(t, files)
	got, _ := list(t, folder)
	slices.Sort(want)
	same(t, "paths", got, want)
	for _, name := range want {
		if _, _, err := folder.Raw(name); err != nil {
			t.Errorf("read of a listed note: %v", err)
		}
	}
	for _, name := range ignored {
		if _, _, err := folder.Raw(name); err == nil {
			t.Errorf("read %s, which is ignored", name)
		}
		if err := folder.Replace(name, []byte("text\n"), []byte("x")); err == nil {
			t.Errorf("wrote %s, which is ignored", name)
		}
	}
	if err := folder.Create("a/new/private/x.md", ""); err == nil {
		t.Error("made a note in an ignored folder")
	}
}

func TestExcludedFoldersAreNotAccessible(t *testing.T) {
	folder := vault(t, map[string]string{
		"a.md": "", "lifehub/config/instructions.md": "mine", "lifehub/notes.md": "",
		".lifehubignore": "!lifehub/config\n!instructions.md\n",
	})
	folder.LeaveOut(filepath.Join(folder.Dir(), "lifehub", "config"), folder.Dir(), filepath.Dir(folder.Dir()))
	got, _ := list(t, folder)
	same(t, "paths", got, []string{"a.md", "lifehub/notes.md"})
	for _, name := range []string{"lifehub/config/instructions.md", "lifehub/Config/instructions.md"} {
		if _, _, err := folder.Raw(name); err == nil {
			t.Errorf("read %s", name)
		}
		if err := folder.Replace(name, []byte("mine"), []byte("x")); err == nil {
			t.Errorf("wrote %s", name)
		}
	}
	if err := folder.Create("lifehub/config/prompts/help.md", ""); err == nil {
		t.Error("made a file among the settings")
	}
}

func TestPathsOutsideTheFolderAreRejected(t *testing.T) {
	folder := vault(t, map[string]string{"in.md": "in", ".obsidian/x.md": "x", "config.json": "{}"})
	outside := filepath.Join(t.TempDir(), "outside.md")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(folder.Dir(), name)); err != nil {
			t.Skip("links cannot be made here:", err)
		}
	}
	link(outside, "link.md")
	link(filepath.Dir(outside), "linked")
	link(".obsidian", "settings")
	link("in.md", "same.md")

	for _, name := range []string{
		"", ".", "..", "../outside.md", "a/../../outside.md", "a/../in.md", "./in.md", "in.md/", outside, "/in.md",
		"in.md\x00", `..\outside.md`,
		"link.md", "linked/outside.md", "linked/new.md", "settings/x.md", "same.md", ".obsidian/x.md", ".new.md",
		".hidden/new.md", "config.json", "new.txt", "in.md.bak",
	} {
		if raw, _, err := folder.Raw(name); err == nil {
			t.Errorf("read %q: %q", name, raw)
		}
		if err := folder.Create(name, "x"); err == nil {
			t.Errorf("created %q", name)
		}
		if err := folder.Replace(name, []byte("secret"), []byte("x")); err == nil {
			t.Errorf("replaced %q", name)
		}
	}
	if text, _ := os.ReadFile(outside); string(text) != "secret" {
		t.Errorf("the file outside is now %q", text)
	}
	got, problems := list(t, folder)
	same(t, "paths", got, []string{"in.md"})
	if len(problems) != 2 || problems[0].Path != "link.md" || problems[1].Path != "linked" {
		t.Errorf("problems: %v", problems)
	}
}

func TestOpenErrorNamesTheCause(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "no"): "no such folder", file: "it is a file"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestCancelledListStops(t *testing.T) {
	folder := vault(t, map[string]string{"a.md": "", "b/c.md": ""})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := folder.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCreateDoesNotOverwrite(t *testing.T) {
	folder := vault(t, nil)
	if err := folder.Create("new/deep/a.md", "# A\n"); err != nil {
		t.Fatal(err)
	}
	err := folder.Create("new/deep/a.md", "other")
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want fs.ErrExist", err)
	}
	if raw, _, err := folder.Raw("new/deep/a.md"); err != nil || string(raw) != "# A\n" {
		t.Errorf("got %q, %v", raw, err)
	}
	noLeftovers(t, folder)
}

func TestReplaceFailsIfTheNoteChanged(t *testing.T) {
	folder := vault(t, map[string]string{"a.md": "one\n"})
	file := filepath.Join(folder.Dir(), "a.md")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := folder.Replace("a.md", []byte("one\n"), []byte("two\n")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is now %v", info.Mode())
	}
	if err := folder.Replace("a.md", []byte("one\n"), []byte("three\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
	if err := folder.Replace("gone.md", nil, []byte("x")); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
	if raw, _, _ := folder.Raw("a.md"); string(raw) != "two\n" {
		t.Errorf("got %q", raw)
	}
	noLeftovers(t, folder)
}

// TestProtectedNoteIsNotWritten: nor is it removed; what is written keeps its owner.
func TestProtectedNoteIsNotWritten(t *testing.T) {
	folder := vault(t, map[string]string{"a.md": "one\n", "b.md": "one\n"})
	locked, own := filepath.Join(folder.Dir(), "a.md"), filepath.Join(folder.Dir(), "b.md")
	if err := os.Chmod(locked, 0o444); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"replace": folder.Replace("a.md", []byte("one\n"), []byte("two\n")),
		"change":  folder.Change("a.md", func(was []byte) ([]byte, error) { return append(was, 'x'), nil }),
		"remove":  folder.Together(func(w Writing) error { return w.Write("a.md", []byte("one\n"), nil) }),
	} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if raw, err := os.ReadFile(locked); string(raw) != "one\n" {
		t.Errorf("got %q, %v", raw, err)
	}
	const nobody = 65534
	chowned := os.Chown(own, nobody, nobody) == nil
	was, _ := os.Stat(own)
	if err := folder.Replace("b.md", []byte("one\n"), []byte("two\n")); err != nil {
		t.Fatal(err)
	}
	if is, _ := os.Stat(own); chowned && fmt.Sprint(ownerOf(is)) != fmt.Sprint(ownerOf(was)) {
		t.Errorf("the owner is %v, was %v", ownerOf(is), ownerOf(was))
	}
	noLeftovers(t, folder)
}

// ownerOf returns what the system knows of a file's owner: two fields on Unix, none elsewhere.
func ownerOf(info fs.FileInfo) (owner []uint64) {
	status := reflect.Indirect(reflect.ValueOf(info.Sys()))
	for _, name := range []string{"Uid", "Gid"} {
		if field := status.FieldByName(name); field.IsValid() {
			owner = append(owner, field.Uint())
		}
	}
	return owner
}

func noLeftovers(t *testing.T, folder *Folder) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(folder.Dir(), ".lifehub-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestReadersNeverSeeAMixture(t *testing.T) {
	versions := [][]byte{bytes.Repeat([]byte("old "), 50_000), bytes.Repeat([]byte("new! "), 60_000)}
	folder := vault(t, map[string]string{"a.md": string(versions[0])})
	done := make(chan error)
	go func() { // ends after its 40 changes
		for i := range 40 {
			if err := folder.Replace("a.md", versions[i%2], versions[(i+1)%2]); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		raw, _, err := folder.Raw("a.md")
		if err != nil || !bytes.Equal(raw, versions[0]) && !bytes.Equal(raw, versions[1]) {
			t.Fatalf("read %d bytes of neither version: %v", len(raw), err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

func TestConcurrentWritersLoseNothing(t *testing.T) {
	folder := vault(t, map[string]string{"a.md": ""})
	const writers, lines = 4, 10
	done := make(chan error, writers)
	for w := range writers {
		go func() { // ends after its lines are written
			for i := 0; i < lines; {
				was, _, err := folder.Raw("a.md")
				if err != nil {
					done <- err
					return
				}
				err = folder.Replace("a.md", was, fmt.Appendf(was[:len(was):len(was)], "%d.%d\n", w, i))
				if err == nil {
					i++
				} else if !errors.Is(err, ErrChanged) {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	raw, _, _ := folder.Raw("a.md")
	if got := bytes.Count(raw, []byte("\n")); got != writers*lines {
		t.Errorf("%d lines of %d are there", got, writers*lines)
	}
}

func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	old := time.Now().Add(-time.Hour)
	for i := range 10_000 {
		file := filepath.Join(dir, fmt.Sprintf("%02d/%03d/note %d.md", i%10, i%100, i))
		if i < 100 {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(file, []byte("# x\n"), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(file, old, old); err != nil {
			b.Fatal(err)
		}
	}
	folder, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	for b.Loop() {
		if entries, _, err := folder.List(b.Context()); err != nil || len(entries) != 10_000 {
			b.Fatal(len(entries), err)
		}
	}
}

func BenchmarkRaw(b *testing.B) {
	folder := vault(b, map[string]string{"a/b/c.md": strings.Repeat("text\n", 500)})
	for b.Loop() {
		if _, _, err := folder.Raw("a/b/c.md"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	raw := []byte(strings.Repeat(fullNote[strings.Index(fullNote, "# Plan"):], 4))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		Parse(Entry{Path: "a.md"}, raw)
	}
}
