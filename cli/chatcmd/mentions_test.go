package chatcmd

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/agent/gate"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/rag"
)

func TestMentionsAreAttached(t *testing.T) {
	vault, files := apptest.Vault(t), t.TempDir()
	apptest.Write(t, filepath.Join(vault, "recipes", "Apple pie.md"), "# Grandma's apple pie\n\nSix apples.\n")
	apptest.Write(t, filepath.Join(files, "report.txt"), "Sales rose by 4 %.\n")
	apptest.Write(t, filepath.Join(files, "tool.bin"), "\x7fELF\x00\x01\xff\xfe\xfd\xfc\xfb\xfa")
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, filepath.Join(files, "cat.png"), picture.String())
	apptest.Write(t, filepath.Join(files, "damaged.png"), picture.String()[:20])
	a := app.Attached{App: apptest.Open(t, vault)}

	for message, want := range map[string][]string{
		"what does @running.md say?":                           {"running.md"},
		"is it in @running.md, or (@tasks.md)?":                {"running.md", "tasks.md"},
		`how many for @"recipes/Apple pie.md"?`:                {"recipes/Apple pie.md"},
		"@running.md @running.md":                              {"running.md"},
		"see @" + files + "/report.txt.":                       {files + "/report.txt"},
		"ana@running.md wrote, @nobody and @../running.md too": nil,
		"@missing.md @" + files + "/ @" + files + "/missing":   nil,
	} {
		if got, _ := a.Find(message); !slices.Equal(got, want) {
			t.Errorf("%q: found %q, want %q", message, got, want)
		}
	}
	if _, unknown := a.Find("@daily_note: ana@x.org, @missing.md? @running.md @ 5"); !slices.Equal(unknown,
		[]string{"daily_note", "missing.md"}) {
		t.Errorf("unknown are %q", unknown)
	}

	note, err := a.Read(t.Context(), "recipes/Apple pie.md")
	if err != nil || len(note.Sources) != 1 || note.Sources[0].Vault != vault || note.Untrusted ||
		!strings.Contains(note.Text, "Six apples.") {
		t.Errorf("the note: %+v, %v", note, err)
	}
	file, err := a.Read(t.Context(), files+"/report.txt")
	if err != nil || !file.Untrusted || file.Text != "Sales rose by 4 %.\n" {
		t.Errorf("the file: %+v, %v", file, err)
	}
	cat, err := a.Read(t.Context(), files+"/cat.png")
	if err != nil || len(cat.Images) != 1 || string(cat.Images[0]) != picture.String() {
		t.Errorf("the image: %+v, %v", cat, err)
	}
	if _, err := a.Read(t.Context(), files+"/damaged.png"); err == nil ||
		!strings.HasPrefix(err.Error(), "damaged.png: the image is damaged") {
		t.Errorf("the damaged image: %v", err)
	}
	if _, err := a.Read(t.Context(), files+"/tool.bin"); err == nil || err.Error() != "tool.bin is not text" {
		t.Errorf("a file that is no text: %v", err)
	}
}

func TestMentionableNotesAreListed(t *testing.T) {
	vault, files := apptest.Vault(t), t.TempDir()
	apptest.Write(t, filepath.Join(files, "sub", "x.txt"), "x")
	apptest.Write(t, filepath.Join(files, "report.txt"), "Sales rose.")
	apptest.Write(t, filepath.Join(files, ".secret"), "x")
	a := apptest.Open(t, vault)
	for _, v := range a.OpenVaults() {
		if _, err := a.Sync(t.Context(), v, func(rag.Progress) {}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := (&background{App: a}).Mentions(t.Context(), "")
	want := []chat.Mention{{Name: "running.md", Detail: "Running"}, {Name: "tasks.md", Detail: "Tasks"}}
	for _, tool := range a.Offered() {
		want = append(want, chat.Mention{Name: tool.Spec().Name, Detail: gistOf(tool.Spec().Description), Tool: true})
	}
	if err != nil || !slices.Equal(list, want) || !slices.ContainsFunc(list,
		func(m chat.Mention) bool { return m.Name == "complete_task" }) {
		t.Errorf("got %v, %v, want %v", list, err, want)
	}
	list, err = (&background{App: a}).Mentions(t.Context(), files+"/")
	if want := []chat.Mention{
		{Name: files + "/sub/", Detail: "folder"},
		{Name: files + "/report.txt", Detail: "11 B"},
	}; err != nil || !slices.Equal(list, want) {
		t.Errorf("got %v, %v, want %v", list, err, want)
	}
	if list, err := (&background{App: a}).Mentions(t.Context(), files+"/none/"); err != nil || list != nil {
		t.Errorf("a folder that is not there: %v, %v", list, err)
	}
	bg := &background{App: a}
	if got, err := bg.Note(t.Context(), "running.md", ""); err != nil || !strings.HasPrefix(got.Text, "# Running\n") ||
		got.Path != "running.md" {
		t.Errorf("a note: %+v, %v", got, err)
	}
	if got, err := bg.Note(t.Context(), files+"/report.txt", ""); err != nil || got.Text != "Sales rose." {
		t.Errorf("a file: %+v, %v", got, err)
	}
	if home, err := os.UserHomeDir(); err == nil && app.AtHome("~/x") != filepath.Join(home, "x") {
		t.Errorf("~/x is %s", app.AtHome("~/x"))
	}
}

// An image in a folder of notes is a note with the text in it, and an image for models that can
// see.
func TestImageInNotesIsAttachedWithItsText(t *testing.T) {
	testenv.Program(t, "tesseract", "tesseract-ocr")
	scan, err := os.ReadFile("../../notes/pdf/testdata/offer.png")
	if err != nil {
		t.Fatal(err)
	}
	var cat bytes.Buffer
	if err := png.Encode(&cat, image.NewRGBA(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	vault := t.TempDir()
	apptest.Write(t, filepath.Join(vault, "in", "scan.png"), string(scan))
	apptest.Write(t, filepath.Join(vault, "in", "cat.png"), cat.String())
	a := apptest.Open(t, vault)
	v := a.OpenVaults()[0]
	if _, err := v.Index.SyncImages(t.Context(), v.Folder, nil, nil); err != nil {
		t.Fatal(err)
	}
	list, err := (&background{App: a}).Mentions(t.Context(), "")
	list = slices.DeleteFunc(list, func(m chat.Mention) bool { return m.Tool })
	if want := []chat.Mention{{Name: "in/scan.png", Detail: "scan"}}; err != nil || !slices.Equal(list, want) {
		t.Errorf("got %v, %v, want %v", list, err, want)
	}
	attached := app.Attached{App: a}
	for name, text := range map[string]string{
		"in/scan.png": "The boiler keeps a pressure",
		"in/cat.png":  "the image cat.png is", filepath.Join(vault, "in", "scan.png"): "the image scan.png is",
	} {
		got, err := attached.Read(t.Context(), name)
		if err != nil || len(got.Images) != 1 || !strings.Contains(got.Text, text) ||
			len(got.Sources) > 0 && !got.Sources[0].Untrusted {
			t.Errorf("%s: %q, %d images, %v", name, got.Text, len(got.Images), err)
		}
	}
	bg := &background{App: a}
	if got, err := bg.Note(t.Context(), "scan.png", ""); err != nil || got.File != "" ||
		!strings.HasPrefix(got.Text, "1. (read by OCR) The boiler") {
		t.Errorf("it is opened as %+v, %v", got, err)
	}
}

// A note that a rule hides from read_note cannot be opened by name or link, or attached to a
// message.
func TestHiddenNoteIsNotOpened(t *testing.T) {
	vault := apptest.Vault(t)
	apptest.Write(t, filepath.Join(vault, "private", "diary.md"), "# Diary\n\nA secret.\n")
	t.Chdir(vault)
	a := apptest.Open(t, vault)
	hide, err := gate.Parse("permissions.yaml", []byte("rules:\n  - {tool: read_note, args: {path: {under: "+
		"private}}, level: deny}\n"))
	if err != nil {
		t.Fatal(err)
	}
	bg := &background{App: a}
	for _, all := range []*gate.Rules{nil, hide} {
		a.Rules = all
		for _, name := range []string{
			"private/diary.md", "private/diary", "diary", "Diary", "./private/diary.md",
			"./private/../private/diary.md", filepath.Join(vault, "private", "diary.md"),
			vault + "/private//diary.md",
		} {
			for _, from := range []string{"", filepath.Join(vault, "running.md")} {
				if got, err := bg.Note(t.Context(), name, from); (err == nil) != (all == nil) ||
					strings.Contains(got.Text, "secret") != (all == nil) {
					t.Errorf("%s from %q: %q, %v", name, from, got.Text, err)
				}
			}
			if found, _ := (app.Attached{App: a}).Find("see @" + name); all != nil && len(found) > 0 {
				t.Errorf("%s goes along with a message", name)
			}
		}
		list, err := bg.Mentions(t.Context(), "")
		if err != nil || slices.ContainsFunc(list, func(m chat.Mention) bool { return m.Name == "private/diary.md" }) != (all == nil) {
			t.Errorf("listed: %v, %v", list, err)
		}
	}
}

func TestLinkInATitleShowsItsText(t *testing.T) {
	for title, want := range map[string]string{
		"Running": "Running", "See [the plan](https://a.example/x) *now*": "See the plan now", "[ ] open": "[ ] open",
	} {
		if got := plainTitle(title); got != want {
			t.Errorf("%q becomes %q, want %q", title, got, want)
		}
	}
}
