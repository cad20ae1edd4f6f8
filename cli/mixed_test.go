//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"lifehub/internal/apptest"
	"lifehub/internal/pdftest"
	"lifehub/rag"

	"lifehub/internal/testenv"
)

// mixed returns a folder of 200 files as found on a user's machine.
func mixed(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, text string) { apptest.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text) }
	for i := range 50 {
		write(fmt.Sprintf("notes/%d.md", i), fmt.Sprintf("# Walk %d\n\nWe walked over hill %d.\n", i, i))
		write(fmt.Sprintf("text/%d.txt", i), fmt.Sprintf("Log %d\n\nThe barometer stood at %d.\n", i, 980+i))
	}
	for i := range 40 {
		write(fmt.Sprintf("org/%d.org", i), fmt.Sprintf("#+TITLE: Recipe %d\n#+FILETAGS: :kitchen:\n* Dough %d\n** "+
			"TODO Buy yeast :shop:\nTake %d grams of rye.\n", i, i, 100+i))
	}
	for i := range 39 {
		write(fmt.Sprintf("papers/%d.pdf", i), string(pdftest.Make(
			fmt.Sprintf("Report %d of the observatory", i), fmt.Sprintf("Telescope %d measures the\nred shift of "+
				"galaxies.", i), "Thanks.")))
	}
	latin, err := charmap.Windows1252.NewEncoder().String("Der Prüfstand läuft “ruhig”.\n")
	wide, err2 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("Łódź lies west of " +
		"Warszawa.\n")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	write("text/latin.txt", latin)
	write("text/wide.txt", wide)
	for name, text := range map[string]string{
		"bad/empty.pdf": "", "bad/cut.pdf": string(pdftest.Make("cut", "short")[:300]),
		"bad/zeroes.pdf":  strings.Repeat("\x00", 5000),
		"bad/picture.pdf": "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 200),
		"bad/scan1.pdf":   string(pdftest.Make("", "")), "bad/scan2.pdf": string(pdftest.Make("")),
		"bad/locked.pdf": string(pdftest.Encrypted()), "bad/binary.txt": "MZ\x00\x00\x01", "bad/binary.org": "* a\x00b",
		"img/a.png": "x", "img/b.JPG": "x", "img/c.webp": "x", "a.mp3": "x", "letter.odt": "x",
		"data.json": "{}", "go.mod": "x",
	} {
		write(name, text)
	}
	write("bad/huge.pdf", "%PDF-1.4\n")
	write("bad/huge.txt", "long\n")
	for _, name := range []string{"bad/huge.pdf", "bad/huge.txt"} {
		if err := os.Truncate(filepath.Join(dir, filepath.FromSlash(name)), 100<<20); err != nil {
			t.Fatal(err)
		}
	}
	write("extra.md", "An extra note.\n")
	return dir
}

// TestAFolderOfMixedFiles follows a user who points LifeHub at Documents.
func TestAFolderOfMixedFiles(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir, home := mixed(t), t.TempDir()
	apptest.SharePDFium(t, filepath.Join(home, ".lifehub"))
	files := 0
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, _ error) error {
		if !e.IsDir() {
			files++
		}
		return nil
	})
	if files != 200 {
		t.Fatalf("it is %d files", files)
	}
	run := func(arg ...string) (out, stderr string) {
		t.Helper()
		cmd := exec.Command(os.Args[0], arg...)
		var errs strings.Builder
		cmd.Dir, cmd.Stderr = home, &errs
		cmd.Env = asProgram(home, filepath.Join(home, ".lifehub"), "LIFEHUB_PROVIDER=offline", "TERM=dumb", "PATH=")
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", arg, err, errs.String())
		}
		return string(text), errs.String()
	}
	holds := func(what, text string, all ...string) {
		t.Helper()
		for _, part := range all {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q:\n%s", what, part, text)
			}
		}
	}
	const left = "18 files left out: 4 damaged PDFs, 4 unreadable files, 3 images, 2 other files, 2 scanned PDFs, 1 " +
		"encrypted PDF, 1 office document, 1 recording"
	out, _ := run("index", dir)
	holds("index", out, left+"\n", "182 added, 11 skipped", "bad/locked.pdf: encrypted PDF: ",
		"bad/scan1.pdf: scanned PDF: ",
		"bad/picture.pdf: damaged PDF: ", "bad/binary.txt: not text",
		"bad/huge.pdf: is too long: 100 MiB")
	if again, _ := run("index"); !strings.Contains(again, left) || !strings.Contains(again, "11 skipped\n") ||
		strings.Contains(again, "added") {
		t.Errorf("a second index says\n%s", again)
	}
	report, _ := run("doctor", "--json")
	holds("doctor", report, "182 of 182 notes", left)

	for query, want := range map[string]string{
		`"red shift" telescope 7`: "papers/7.pdf p. 2", "barometer 1009": "text/29.txt:",
		"how many grams of rye for recipe 12": "org/12.org:",
		"Prüfstand":                           "text/latin.txt:1", "Łódź Warszawa": "text/wide.txt:1", "tag:shop dough 113": "org/13.org:",
	} {
		found, _ := run("search", query, "-n", "3")
		holds(query, found, want)
	}
	_, stderr := run("search", "the price of cobalt in Kinshasa")
	holds("a search that finds nothing", stderr, "12 files left out: 4 damaged PDFs, 4 unreadable files, 2 scanned "+
		"PDFs, 1 encrypted PDF, 1 office document")
	if !strings.Contains(stderr, "cobalt, Kinshasa: in no note") {
		t.Errorf("a search that finds nothing says\n%s", stderr)
	}
	page, _ := run("note", "papers/7.pdf p. 2")
	holds("note", page, "Report 7 of the observatory\nTelescope 7 measures the\nred shift of galaxies.\nThanks.\n")
	heading, _ := run("note", "Recipe 3")
	holds("a note of Org", heading, "title:: Recipe 3\ntags:: kitchen\n# Dough 3\n## TODO Buy yeast #shop\n")

	// Moved files keep their entries in the index, changed files are read again, deleted ones
	// removed.
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := os.Rename(at("papers/7.pdf"), at("papers/seven.pdf")); err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, at("papers/8.pdf"), string(pdftest.Make("Now it is about quasars")))
	apptest.Write(t, at("bad/scan2.pdf"), string(pdftest.Make("The scan was read by a machine since")))
	if err := os.Remove(at("bad/locked.pdf")); err != nil {
		t.Fatal(err)
	}
	out, _ = run("index", "--json")
	var changes rag.Changes
	if err := json.Unmarshal([]byte(out), &struct{ *rag.Changes }{&changes}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range changes.Notes {
		if c.What != "skipped" {
			lines = append(lines, c.What+" "+c.Path)
		}
	}
	if !slices.Equal(lines, []string{"added bad/scan2.pdf", "changed papers/8.pdf", "moved papers/seven.pdf"}) ||
		changes.LeftOut["encrypted PDF"] != 0 || changes.LeftOut["scanned PDF"] != 1 {
		t.Errorf("it did %q, left out %v", lines, changes.LeftOut)
	}
	found, _ := run("search", "quasars")
	holds("what a PDF became", found, "papers/8.pdf p. 1")
}

// A file denied by a rule cannot be found by any command or name, whatever its kind.
func TestDeniedFileIsNowhere(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	apptest.SharePDFium(t, filepath.Join(home, ".lifehub"))
	for name, text := range map[string]string{
		"secret/x.pdf": string(pdftest.Make("The zebra code is 4711.", "Another page.")),
		"secret/y.txt": "The zebra code is 4711\n",
		"secret/z.org": "#+TITLE: Zebra\n* TODO keep the code 4711\n", "secret/m.md": "The zebra code is 4711\n",
		"open.md": "# Zebras\n\nThey live on [[x.pdf]], [[secret/y.txt]] and [[Zebra]].\n",
	} {
		apptest.Write(t, filepath.Join(dir, name), text)
	}
	for _, arg := range [][]string{
		{"search", "zebra code"},
		{"search", "--json", "4711"},
		{"search", "path:secret"},
		{"related", "open.md"},
		{"related", "secret/x.pdf"},
		{"note", "secret/x.pdf"},
		{"note", "x.pdf p. 1"},
		{"note", "secret/y.txt:1"},
		{"note", "Zebra"},
		{"note", dir + "/secret/m.md"},
		{"ask", "zebra code"},
		{"ask", "What does @secret/x.pdf say?"},
		{"ask", "What does @" + dir + "/secret/y.txt say?"},
		{"ask", `@read_note path="x.pdf p. 1"`},
		{"ask", "@read_note path=SECRET/Y.TXT"},
		{"ask", "@read_note path=Zebra"},
		{"ask", "@list_tasks"},
		{"ask", "@list_notes"},
		{"ask", "@search_notes query=path:secret"},
	} {
		cmd := offScreen(t, append(arg, "--notes", dir)...)
		// the folder is read once
		cmd.Env = append(cmd.Env, "LIFEHUB_PROVIDER=offline", "LIFEHUB_HOME="+filepath.Join(home, ".lifehub"))
		apptest.Write(t, filepath.Join(home, ".lifehub", "config", "permissions.yaml"),
			"rules:\n  - {tool: read_note, args: {path: {glob: \"secret/*\"}}, level: deny}\n")
		output, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if said := string(output); strings.Contains(said, "code is") || strings.Contains(said, "keep the code") {
			t.Errorf("%s shows\n%s", arg, output)
		}
	}
}
