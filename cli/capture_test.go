package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/internal/text"
	"lifehub/store"
)

// capturing runs the program on a vault, without a model, and returns what it prints.
func capturing(t *testing.T, home, web string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := programIn(t, home, web, args...)
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Error(err)
	}
	return out.String(), told.String(), cmd.ProcessState.ExitCode()
}

// programIn returns the program with a home folder, without a model server.
func programIn(t *testing.T, home, web string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = home
	cmd.Env = asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline",
		"LIFEHUB_WEB_SEARCH_URL="+web+"/html/")
	return cmd
}

// pages serves articles, each with its path as title and in its text.
func pages(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Trim(r.URL.Path, "/")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<html><head><title>%[1]s</title></head><body><article><h1>%[1]s</h1>", name)
		for i := range 40 {
			fmt.Fprintf(w, "<p>Paragraph %d of %s tells of hens, and of the fence that holds them in every weather.</p>", i, name)
		}
		fmt.Fprint(w, "</article></body></html>")
	}))
	t.Cleanup(server.Close)
	return server
}

// 100 of each with LIFEHUB_SOAK=1.
func TestConcurrentProcessesLoseNoCapture(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	each := 8
	if os.Getenv("LIFEHUB_SOAK") != "" {
		each = 100
	}
	web, home := pages(t), t.TempDir()
	vault := filepath.Join(home, "vault")
	apptest.Write(t, filepath.Join(vault, "tasks.md"), "# Tasks\n\n- [ ] first\n")
	var running sync.WaitGroup
	for i := range each {
		for _, args := range [][]string{
			{"add", fmt.Sprintf("task %d.", i)},
			{"log", fmt.Sprintf("line %d.", i)},
			{"clip", fmt.Sprintf("%s/page-%d", web.URL, i)},
		} {
			running.Go(func() {
				if _, stderr, code := capturing(t, home, web.URL,
					append(args, "--yes", "--notes", vault)...); code != 0 {
					t.Errorf("%v: exit %d: %s", args, code, stderr)
				}
			})
		}
	}
	running.Wait()
	daily, err := filepath.Glob(filepath.Join(vault, "daily", "*.md"))
	if err != nil || len(daily) == 0 || len(daily) > 2 { // two around midnight
		t.Fatalf("daily notes: %v, %v", daily, err)
	}
	logged := ""
	for _, file := range daily {
		logged += apptest.Read(t, file)
	}
	tasks := apptest.Read(t, filepath.Join(vault, "tasks.md"))
	for i := range each {
		clip := apptest.Read(t, filepath.Join(vault, "clips", fmt.Sprintf("page-%d.md", i)))
		if strings.Count(tasks, fmt.Sprintf("- [ ] task %d.\n", i)) != 1 ||
			strings.Count(logged, fmt.Sprintf("\nline %d.\n", i)) != 1 || !strings.HasSuffix(clip, "every weather.\n") {
			t.Errorf("%d is not there, or not once", i)
		}
	}
	if lines := strings.Count(tasks, "\n"); lines != 3+each {
		t.Errorf("%d lines of tasks, want %d:\n%s", lines, 3+each, tasks)
	}
}

// A page in several parts is saved whole, and is known as untrusted when it is read again.
func TestAClippedPageStaysUntrusted(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	web, home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<html><head><title>Keeping: hens / geese?</title></head><body><article><h1>Keeping: hens / "+
			"geese?</h1>")
		for i := range 1500 {
			fmt.Fprintf(w, "<p>Paragraph %d tells of hens, and of the fence that holds them in every weather.</p>", i)
		}
		fmt.Fprint(w, "</article></body></html>")
	})), t.TempDir()
	t.Cleanup(web.Close)
	vault := filepath.Join(home, "vault")
	apptest.Write(t, filepath.Join(vault, "own.md"), "# Own\n\nI keep three geese behind the barn since March.\n")
	out, stderr, code := capturing(t, home, web.URL, "clip", web.URL+"/hens", "--yes", "--json", "--notes", vault)
	var got captured
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || got.Path != "clips/Keeping hens geese.md" ||
		got.Text != "Keeping: hens / geese?" || got.URL != web.URL+"/hens" {
		t.Fatalf("exit %d, %+v, %v\n%s", code, got, err, stderr)
	}
	note := apptest.Read(t, filepath.Join(vault, filepath.FromSlash(got.Path)))
	if !strings.Contains(note, "\nsource: "+web.URL+"/hens\n") || strings.Contains(note, "The page goes on") {
		t.Errorf("the note begins %q", note[:200])
	}
	for i := range 1500 {
		if strings.Count(note, fmt.Sprintf("Paragraph %d tells", i)) != 1 {
			t.Fatalf("paragraph %d is not there, or not once", i)
		}
	}
	s, err := store.Open(filepath.Join(home, "lh", "data", "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for line, want := range map[string]int{
		"- [ ] Paragraph 1234 tells of hens, and of the fence that holds them in every weather.": 1,
		"I keep three geese behind the barn since March.":                                        0,
	} {
		if from, err := s.MarkedBy(t.Context(), text.LineKeys([]string{line})); err != nil || len(from) != want {
			t.Errorf("%q is from %v, %v", line, from, err)
		}
	}
	a, err := app.OpenNotes(apptest.Process(filepath.Join(home, "lh")),
		app.RunFlags{Notes: []string{vault}, NoIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if read, _, _, err := a.ReadNote(t.Context(), got.Path, ""); err != nil || !read.Untrusted {
		t.Errorf("the note does not say that it is from elsewhere: %v", err)
	}
}

// Whatever the title of a page and whatever is in the way of its note, clip ends, with the note or with
// an error, and the next capture runs.
func TestClipEnds(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, test := range map[string]struct {
		title   string
		prepare func(vault string) error
		saved   bool
	}{
		"four-byte characters": {title: strings.Repeat("𠀀", 64), saved: true},
		"a long title":         {title: strings.Repeat("ab cd ", 100), saved: true},
		"marks":                {title: strings.Repeat("é̂", 200), saved: true},
		"clips is a file": {title: "hens", prepare: func(vault string) error {
			return os.WriteFile(filepath.Join(vault, "clips"), nil, 0o600)
		}},
		"clips is a link": {title: "hens", prepare: func(vault string) error {
			return os.Symlink(t.TempDir(), filepath.Join(vault, "clips"))
		}},
		"clips cannot be read": {title: "hens", prepare: func(vault string) error {
			return os.Symlink("clips", filepath.Join(vault, "clips"))
		}},
		"all names are taken": {title: "hens", prepare: func(vault string) error {
			apptest.Write(t, filepath.Join(vault, "clips", "hens.md"), "x\n")
			for n := 2; n <= maxClipNames; n++ {
				apptest.Write(t, filepath.Join(vault, "clips", fmt.Sprintf("hens %d.md", n)), "x\n")
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, "<html><head><title>%[1]s</title></head><body><article><h1>%[1]s</h1>%[2]s</article></body></html>", test.title,
					strings.Repeat("<p>A paragraph tells of hens, and of the fence that holds them in every "+
						"weather.</p>", 20))
			}))
			t.Cleanup(web.Close)
			home := t.TempDir()
			vault := filepath.Join(home, "vault")
			apptest.Write(t, filepath.Join(vault, "tasks.md"), "- [ ] a\n")
			if test.prepare != nil {
				if err := test.prepare(vault); err != nil {
					t.Fatal(err)
				}
			}
			out, stderr, code := capturing(t, home, web.URL, "clip", web.URL, "--yes", "--json", "--notes", vault)
			if (code == 0) != test.saved || (out == "") == test.saved {
				t.Errorf("exit %d, %s\n%s", code, out, stderr)
			}
			if _, stderr, code := capturing(t, home, "", "add", "b", "--yes", "--notes", vault); code != 0 {
				t.Errorf("add after it: exit %d\n%s", code, stderr)
			}
		})
	}
}

// Lines that were piped in are marked, also by a run that saves no conversation; typed
// ones are not.
func TestPipedLinesAreMarked(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home := t.TempDir()
	vault := filepath.Join(home, "vault")
	apptest.Write(t, filepath.Join(vault, "own.md"), "# Own\n")
	for _, one := range []struct{ args, piped string }{
		{"log --yes", "the first piped line\nthe second piped line\n"},
		{"log --yes --no-save", "a line of a run that saves nothing\n"},
		{"add --yes", "a piped task\n"},
		{"log --yes a typed line", ""},
		{"add --yes a typed task", ""},
	} {
		cmd := programIn(t, home, "", append(strings.Fields(one.args), "--notes", vault)...)
		if one.piped != "" {
			cmd.Stdin = strings.NewReader(one.piped)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", one.args, err, out)
		}
	}
	s, err := store.Open(filepath.Join(home, "lh", "data", "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for line, want := range map[string]bool{
		"the first piped line": true, "- the second piped line": true, "a line of a run that saves nothing": true,
		"- [x] a piped task": true,
		"a typed line":       false, "a typed task": false,
	} {
		if from, err := s.MarkedBy(t.Context(), text.LineKeys([]string{line})); err != nil || len(from) > 0 != want {
			t.Errorf("%q is from %q, %v", line, from, err)
		}
	}
}
