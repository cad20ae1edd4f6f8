//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

// A guideBlock is a fenced block of a page.
type guideBlock struct {
	kind, text string
	line       int
}

var guideFence = regexp.MustCompile("(?ms)^ *```([a-z]+)\n(.*?)^ *```$")

func guideBlocks(page string) []guideBlock {
	var blocks []guideBlock
	for _, at := range guideFence.FindAllStringSubmatchIndex(page, -1) {
		blocks = append(blocks, guideBlock{page[at[2]:at[3]], page[at[4]:at[5]], 1 + strings.Count(page[:at[0]], "\n")})
	}
	return blocks
}

// TestGuideShowsWhatTheProgramPrints runs the pages of docs/guide. Each page starts in an empty
// home with the starter notes in ~/notes, indexed except on the first page, which does that itself.
// Its blocks run one after the other:
//
//	console  each line after "$ " is a shell command; the lines below it are its output
//	chat     a chat with --plain; text after "> " or after a dialog's question is typed
//	other    a file, ~/FILE, whose name is the last in backticks in the paragraph above
//
// The home is shown as /home/me. "…" stands for any text or, on a separate line, for any lines.
func TestGuideShowsWhatTheProgramPrints(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	pages, err := filepath.Glob("../docs/guide/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	commands := 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page := string(text)
		if n := strings.Count(page, "\n"); n > 130 {
			t.Errorf("%s has %d lines, at most 130 are read", path, n)
		}
		commands += strings.Count(page, "\n$ ")
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) { runGuidePage(t, page) })
	}
	if commands < len(pages) {
		t.Errorf("only %d commands are shown", commands)
	}
}

// guideTyped matches what a user types in a chat, after the prompt or a dialog's question.
var guideTyped = regexp.MustCompile(`(?m)^(?:> |(?:y allow once|why not|its new wording|N shows a branch).*?: )(.*)$`)

var guideFile = regexp.MustCompile("`~/([^`\n]+)`[^`]*\n\n?$")

// A guideHome is the empty home in which a page is run, with the starter notes in ~/notes and no model server.
type guideHome struct {
	t    *testing.T
	home string
}

func newGuideHome(t *testing.T) guideHome {
	t.Helper()
	h := guideHome{t, t.TempDir()}
	if err := os.CopyFS(filepath.Join(h.home, "notes"), os.DirFS("../examples/notes")); err != nil {
		t.Fatal(err)
	}
	return h
}

// run runs a program and returns what it prints, with the home as /home/me, and its exit code.
func (h guideHome) run(stdin string, name string, arg ...string) (shown string, code int) {
	h.t.Helper()
	cmd := exec.Command(name, arg...)
	cmd.Dir, cmd.Stdin = h.home, strings.NewReader(stdin)
	cmd.Env = asProgram(h.home, "", "TMPDIR="+h.t.TempDir(), "LANG=C.UTF-8", "TZ=UTC",
		"OLLAMA_HOST=127.0.0.1:1", "EDITOR=true") // nothing listens there
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(&out, "\n%s: %v\n", name, err)
	}
	shown = strings.ReplaceAll(out.String(), h.home, "/home/me")
	h.t.Logf("%s %s\n%s", name, strings.Join(arg, " "), shown) // with -v, for authors of pages
	return shown, cmd.ProcessState.ExitCode()
}

// installed matches where the tests have the program; pages show it in /usr/local/bin.
var installed = regexp.MustCompile(`'/[^\s']*/lifehub'`)

// compare runs the commands of a console block and compares what they print.
func (h guideHome) compare(b guideBlock) {
	h.t.Helper()
	for example := range strings.SplitSeq("\n"+b.text, "\n$ ") {
		command, want, _ := strings.Cut(example, "\n")
		if command == "" {
			continue
		}
		shown, _ := h.run("", "sh", "-c", command)
		if diff := guideDiffers(want, installed.ReplaceAllString(shown, "'/usr/local/bin/lifehub'")); diff != "" {
			h.t.Errorf("line %d: $ %s: %s", b.line, command, diff)
		}
	}
}

func runGuidePage(t *testing.T, page string) {
	h := newGuideHome(t)
	run := func(stdin string, name string, arg ...string) string {
		shown, _ := h.run(stdin, name, arg...)
		return shown
	}
	if !strings.Contains(page, "\n$ lifehub index notes\n") {
		run("", "lifehub", "index", "notes")
	}
	rest := page
	for _, b := range guideBlocks(page) {
		above, below, _ := strings.Cut(rest, "```"+b.kind+"\n"+b.text+"```")
		rest = below
		switch b.kind {
		case "console":
			h.compare(b)
		case "chat":
			var typed strings.Builder
			for _, m := range guideTyped.FindAllStringSubmatch(b.text, -1) {
				typed.WriteString(m[1] + "\n")
			}
			if diff := guideDiffers(b.text, run(typed.String(), "lifehub", "chat", "--plain")); diff != "" {
				t.Errorf("line %d: %s", b.line, diff)
			}
		default:
			m := guideFile.FindStringSubmatch(above)
			if m == nil {
				t.Errorf("line %d: no file is named above this block", b.line)
				continue
			}
			file := filepath.Join(h.home, m[1])
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// guideNoise matches lines that may appear at any time: an empty prompt, and the notice that there
// is no model.
var guideNoise = regexp.MustCompile(`(?m)^(>|note: no model: .*|)[ \t]*\n`)

// guideDiffers describes how a command's output differs from the page, ignoring empty lines, or
// returns "".
func guideDiffers(want, got string) string {
	want, got = guideNoise.ReplaceAllString(want+"\n", ""), guideNoise.ReplaceAllString(got+"\n", "")
	pattern := regexp.QuoteMeta(want)
	pattern = regexp.MustCompile(`(?m)^[ \t]*…\n`).ReplaceAllLiteralString(pattern, `(?:.*\n)*?`)
	pattern = strings.ReplaceAll(pattern, "…", `[^\n]*?`)
	if regexp.MustCompile(`^` + pattern + `$`).MatchString(got) {
		return ""
	}
	return fmt.Sprintf("the page shows\n%s\nand it prints\n%s", want, got)
}

func TestGuideDiffFindsDifferences(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"a … c\n", "a b c\n", true},
		{"a … c\n", "a b\nc\n", false},
		{"a\n…\nd\n", "a\nb\nc\nd\n", true},
		{"a\n", "a\nb\n", false},
		{"", "a\n", false},
		{"", "", true},
		{"a\n", "\n> \na\nnote: no model: whatever\n", true},
	} {
		if diff := guideDiffers(c.want, c.got); (diff == "") != c.same {
			t.Errorf("%q and %q: %q", c.want, c.got, diff)
		}
	}
}
