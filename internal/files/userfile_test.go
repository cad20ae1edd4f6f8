package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestReadAcceptsTextFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{
		"":                             "",
		"notes: []\n":                  "notes: []\n",
		"\ufeffnotes: []\r\n":          "notes: []\r\n",
		"a path: /tmp/\xff\xe9\n":      "a path: /tmp/\xff\xe9\n",
		strings.Repeat("x", MaxSize):   strings.Repeat("x", MaxSize),
		"\u202eund\u00fc \U0010FE00\n": "\u202eund\u00fc \U0010FE00\n",
	} {
		got, err := Read(write(t, filepath.Join(dir, "file"), text))
		if err != nil || string(got) != want {
			t.Errorf("%.20q: got %.20q, %v", text, got, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestReadRejectsOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := func(name, to string) string {
		file := filepath.Join(dir, name)
		if err := os.Symlink(to, file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for file, want := range map[string]string{
		dir:                                                   "is a folder",
		link("dangling", dir+"/gone"):                         "is a link to",
		link("loop", dir+"/loop"):                             "too many",
		link("device", os.DevNull):                            "regular file",
		link("endless", "/dev/zero"):                          "regular file",
		write(t, dir+"/nul", "a\nb\x00"):                      "nul:2: the text contains a NUL byte",
		write(t, dir+"/le", "\xff\xfea\x00"):                  "le:1: the text is UTF-16",
		write(t, dir+"/be", "\xfe\xff\x00a"):                  "be:1: the text is UTF-16",
		write(t, dir+"/long", strings.Repeat("x", MaxSize+1)): "long is longer than 1 MiB",
	} {
		if _, err := Read(file); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	link("out", "/etc/hostname")
	for _, name := range []string{"out", "dangling", "nul"} {
		if _, err := ReadIn(root, name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestUnescapeRestoresInvalidBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		if got := Unescape(Escape(text)); got != text {
			t.Fatalf("%q came back as %q", text, got)
		}
	})
}

// Texts that are nested too deep or have too many values are rejected before
// parsing.
func TestHugeTextsAreRejected(t *testing.T) {
	t.Parallel()
	const n = 20_000
	indented := func(step string) string {
		var b strings.Builder
		for i := range 500 {
			fmt.Fprintf(&b, "%sa:\n", strings.Repeat(step, i))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", n), "braces": strings.Repeat("{", n), "both": strings.Repeat("[{", n),
		"closed":      strings.Repeat("[", n) + strings.Repeat("]", n),
		"after a key": "a: " + strings.Repeat("[", n), "in lines": strings.Repeat("[\n", n),
		"closed too often": strings.Repeat("]", n) + strings.Repeat("[", n),
		"lists in a line":  strings.Repeat("- ", n), "keys in a line": strings.Repeat("? ", n),
		"mixed": strings.Repeat("- ? ", n), "tabbed": strings.Repeat("-\t", n),
		"indented": indented(" "), "indented by two": indented("  "),
		"lists by lines": strings.ReplaceAll(indented(" "), "a:", "-"),
		"flat":           strings.Repeat("- a\n", n), "flow": "a: [" + strings.Repeat("1,", n) + "]",
		"anchors": strings.Repeat("&", n), "quotes": strings.Repeat(`"`, n), "apostrophes": strings.Repeat("'", n),
		"comments": strings.Repeat("#\n", n), "documents": strings.Repeat("---\n", n), "empty": strings.Repeat("\n", n),
		"merges": strings.Repeat("<<: ", n), "tags": strings.Repeat("!a ", n),
	} {
		if _, err := ParseYAML("f.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %.80v", name, err)
		}
	}
	for name, err := range map[string]error{
		"JSON":            CheckJSON("f", []byte(strings.Repeat(`{"a":`, n))),
		"JSON, flat":      CheckJSON("f", []byte(strings.Repeat("[],", 3*n))),
		"TOML":            CheckTOML("f", []byte("["+strings.Repeat("a.", n)+"a]")),
		"TOML, a key":     CheckTOML("f", []byte("x = 1\n"+strings.Repeat("a . ", n)+"a = 1")),
		"TOML, a list":    CheckTOML("f", []byte("a = "+strings.Repeat("[", n))),
		"aliases":         CheckWritten("f", []byte("a: &a x\n"+strings.Repeat("- *a\n", 30))),
		"what it repeats": CheckWritten("f", []byte(strings.Repeat("[*a, *b]\n", 30))),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	nested := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, text := range []string{
		"", nested, nested + "\n" + nested,
		strings.Repeat("- {tool: add_task, level: auto}\n", 1000),
		"a = \"" + strings.Repeat(".", 500) + "\"\n" + strings.Repeat(".", 500),
	} {
		if err := errors.Join(CheckYAML("f", []byte(text)), CheckJSON("f", []byte(text)),
			CheckTOML("f", []byte(text))); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// Errors contain the line number and no text of the file.
func TestParseErrorNamesTheLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\nb: [1\n":                "f:2: ",
		"a: 1\na: 2\n":                 "f:2: mapping key \"a\" already defined",
		"a: 1\nb: >swordfish-key\n":    "f:2: ",
		"a: 1\n\"swordfish-key\n":      "f:2: ",
		"\ta: 1\n":                     "f:1: ",
		"a: 1\n- b\n":                  "f:",
		"a: &x swordfish-key\nb: *y\n": "",
	} {
		_, err := ParseYAML("f", []byte(text))
		if want == "" {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
