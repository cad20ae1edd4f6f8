package chatcmd

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/rag"
	"lifehub/rag/encoder"
	"lifehub/store"
)

func TestDoctorChecksTheConversations(t *testing.T) {
	p := settings.Paths{Data: t.TempDir()}
	if f := checkConversations(p); !f.OK || f.Detail != "none yet" {
		t.Errorf("of none: %+v", f)
	}
	if _, err := os.Stat(p.Database()); err == nil {
		t.Error("looking made a file")
	}
	s, err := store.Open(p.Database())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if f := checkConversations(p); !f.OK || f.Detail != p.Database() {
		t.Errorf("of a sound file: %+v", f)
	}
	db, err := sql.Open("sqlite", p.Database())
	if err == nil {
		_, err = db.Exec("UPDATE schema SET version = 99")
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if f := checkConversations(p); f.OK || !strings.Contains(f.Detail, "newer LifeHub") || f.Fix != "" {
		t.Errorf("of a newer one: %+v", f)
	}
	if err := os.WriteFile(p.Database(), []byte(strings.Repeat("nonsense ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := checkConversations(p); f.OK || !strings.Contains(f.Detail, "chats restore") {
		t.Errorf("of a damaged one: %+v", f)
	}
}

func TestDoctorNamesRefusingFoldersOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	one, other := filepath.Join(file, "one"), filepath.Join(file, "other")
	got := checkFolders(t.TempDir(), one, other)
	if len(got) != 1 || got[0].What != "folders" || got[0].OK || got[0].Fix == "" ||
		!strings.HasSuffix(got[0].Detail, one+", "+other+": not a directory") {
		t.Errorf("got %+v", got)
	}
}

// otherEmbedder is an embedder with another name.
type otherEmbedder struct{ encoder.Encoder }

func (otherEmbedder) Name() string { return "other" }

// embedding is a provider with that embedder.
type embeddingProvider struct{ llm.Provider }

func (embeddingProvider) Embedder(context.Context) (llm.Embedder, error) { return otherEmbedder{}, nil }

func TestDoctorReportsAnotherEmbeddersIndex(t *testing.T) {
	vault := t.TempDir()
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run in the park.\n")
	a := apptest.Open(t, vault)
	if err := a.Ready(t.Context(), "", &app.Bar{}); err != nil {
		t.Fatal(err)
	}
	if f, _ := checkIndex(t.Context(), a); !f.OK || f.Fix != "" || !strings.HasSuffix(f.Detail, "built-in encoder") {
		t.Errorf("of its own embedder: %+v", f)
	}
	apptest.Write(t, filepath.Join(vault, "running.md"), "# Running\n\nI run in the park, and by the river.\n")
	if f, _ := checkIndex(t.Context(), a); !f.OK || f.Fix != "" || !strings.HasPrefix(f.Detail, "0 of 1 note, ") {
		t.Errorf("of a note that changed: %+v", f)
	}
	if err := a.Ready(t.Context(), "", &app.Bar{}); err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, filepath.Join(vault, "part.md"), "---\ntitle: A\na line\n---\n")
	if err := a.Ready(t.Context(), "", &app.Bar{}); err != nil {
		t.Fatal(err)
	}
	if _, files := checkIndex(t.Context(), a); len(checkReadInPart(files)) != 1 ||
		!strings.Contains(checkReadInPart(files)[0].Detail, "part.md: line 3") {
		t.Errorf("of front matter that is read in part: %+v", files)
	}
	if err := os.Remove(filepath.Join(vault, "part.md")); err != nil {
		t.Fatal(err)
	}
	if err := a.Ready(t.Context(), "", &app.Bar{}); err != nil {
		t.Fatal(err)
	}
	a.Provider = embeddingProvider{a.Provider}
	f, _ := checkIndex(t.Context(), a)
	if !f.OK || f.Fix != "lifehub index" || !strings.Contains(f.Detail, "1 of 1 note, ") ||
		!strings.HasSuffix(f.Detail, "other; semantic index 0 of 1 passage") {
		t.Errorf("of another: %+v", f)
	}
}

func TestDoctorSeparatesMachineFromSettings(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		&fs.PathError{Op: "open", Path: "config.yaml", Err: syscall.EMFILE}: "ulimit",
		&fs.PathError{Op: "read", Path: "config.yaml", Err: syscall.EIO}:    "check the disk",
		errors.New("config.yaml:3: unknown setting"):                        "what the caller says",
	} {
		if got := fixFor(err, "what the caller says"); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

func TestDoctorSaysWhoReadsImages(t *testing.T) {
	tesseract := testenv.Program(t, "tesseract", "tesseract-ocr")
	vault := t.TempDir()
	apptest.Write(t, filepath.Join(vault, "a.md"), "# A\n")
	apptest.Write(t, filepath.Join(vault, "a.png"), "damaged")
	for path, want := range map[string]struct{ notes, ocr, fix string }{
		filepath.Dir(tesseract): {": 1 note, 1 image", tesseract, ""},
		t.TempDir():             {": 1 note", "left out", "tesseract"},
	} {
		t.Setenv("PATH", path)
		found := checkNotes(t.Context(), apptest.Open(t, vault))
		notes, ocr := found[0], found[len(found)-1]
		if notes != (Finding{What: "notes", OK: true, Detail: vault + want.notes}) ||
			ocr.What != "ocr" || !ocr.OK || !strings.Contains(ocr.Detail, want.ocr) ||
			(ocr.Fix == "") != (want.fix == "") || !strings.Contains(ocr.Fix, want.fix) {
			t.Errorf("got %+v and %+v, want %+v", notes, ocr, want)
		}
	}
}

// TestCopiesAndPartsAreNamed: a copy of a sync program is named once, apart from the notes that were read in part.
func TestCopiesAndPartsAreNamed(t *testing.T) {
	files := []rag.FileStatus{
		{Path: "a.md", State: "indexed"},
		{Path: "b 2.md", State: "indexed", CopyOf: "b.md", Reason: "a copy"},
		{Path: "c.md", State: "indexed", Reason: "line 3"},
	}
	found := checkReadInPart(files)
	if len(found) != 2 || !strings.Contains(found[0].Detail, "b 2.md of b.md") || found[0].Fix == "" ||
		strings.Contains(found[1].Detail, "b 2.md") || !strings.Contains(found[1].Detail, "c.md: line 3") {
		t.Errorf("%+v", found)
	}
	for range 10 {
		files = append(files, files[1])
	}
	if found := checkReadInPart(files); !strings.Contains(found[0].Detail, "11 files") ||
		!strings.Contains(found[0].Fix, "index --status") {
		t.Errorf("%+v", found)
	}
}
