//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// shownCommand matches a line that runs LifeHub, also behind settings or a pipe.
var shownCommand = regexp.MustCompile(`^(?:.*\| |(?:[A-Z_]+=\S+ )*)lifehub(?: (.*))?$`)

// TestExamplesRun runs the commands of README.md and docs/*.md that are in blocks of shell commands, and
// compares the output that a console block shows. Each block has an [exampleHome].
func TestExamplesRun(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	root, ran, left := newRoot(&app.Process{}), 0, map[string]int{}
	for _, path := range append(pages, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range guideBlocks(string(text)) {
			var commands []string
			for line := range strings.Lines(b.text) {
				line = strings.Replace(strings.TrimSpace(line), "go run .", "lifehub", 1)
				if b.kind != "sh" || !shownCommand.MatchString(line) {
					continue
				}
				if command, why := runnable(root, line); why == "" {
					commands = append(commands, command)
				} else {
					left[why]++
				}
			}
			if ran += len(commands); len(commands) == 0 && b.kind != "console" {
				continue
			}
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				h, id := exampleHome(t, b.text)
				for _, command := range commands {
					out, code := h.run("", "bash", "-o", "pipefail", "-c", strings.ReplaceAll(command, "3f9c2a", id))
					if code != app.ExitDone {
						t.Errorf("%s:%d: %s: exit %d\n%s", path, b.line, command, code, out)
					}
				}
				if b.kind == "console" {
					h.compare(b)
				}
			})
		}
	}
	if ran < 40 {
		t.Errorf("only %d commands are run", ran)
	}
	t.Logf("%d commands are run; left out, by what they need: %v", ran, left)
}

// runnable returns a command as it is run without a terminal, which says yes where it would ask, or what
// it needs that a test does not have.
func runnable(root *cobra.Command, line string) (command, needs string) {
	cmd, _, err := root.Find(strings.Fields(shownCommand.FindStringSubmatch(line)[1]))
	if err != nil {
		return line, ""
	}
	path := cmd.CommandPath()
	switch {
	case strings.Contains(line, "://") || strings.Contains(line, "npx ") || path == "lifehub mcp consent":
		return "", "the network"
	case strings.HasPrefix(path, "lifehub models") || strings.Contains(line, "--schema"):
		return "", "a model server"
	case strings.Contains(line, "--watch") || path == "lifehub serve":
		return "", "someone who ends it"
	case path == "lifehub chats restore":
		return "", "a backup of another day"
	}
	if cmd.Flags().Lookup("yes") != nil {
		line = strings.Replace(line, path, path+" --yes", 1)
	}
	return line, ""
}

// exampleHome returns a home with the starter notes in ~/notes, indexed, and in the other folders that
// examples name; a report that quotes them; a rule for append_note; a conversation of two turns, whose ID stands for
// 3f9c2a; and, if the text is about MCP, a server called files, and ~/.claude.json. Its folder is a git repository.
func exampleHome(t *testing.T, text string) (h guideHome, id string) {
	t.Helper()
	h = newGuideHome(t)
	apptest.Write(t, filepath.Join(h.home, "report.md"), "“I run three times a week: intervals on Tuesday” "+
		"[running/plan.md:8]\n")
	for _, folder := range []string{"other", "examples/notes"} {
		if err := os.CopyFS(filepath.Join(h.home, folder), os.DirFS("../examples/notes")); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Write(t, filepath.Join(h.home, ".config", "lifehub", "permissions.yaml"),
		"rules:\n  - {tool: append_note, level: confirm}\n")
	setUp := [][]string{
		{"git", "init", "-q"},
		{"lifehub", "index", "notes"},
		{"lifehub", "ask", "-q", "how often do I run?"},
		{"lifehub", "ask", "-q", "-c", "and which shoes?"},
	}
	if strings.Contains(text, "lifehub mcp") {
		apptest.Write(t, filepath.Join(h.home, ".claude.json"),
			`{"mcpServers": {"other": {"command": "lifehub", "args": ["mcp", "serve"]}}}`)
		setUp = append(setUp, append(strings.Fields("lifehub mcp add files -- lifehub mcp serve --notes"),
			filepath.Join(h.home, "notes")))
	}
	for _, args := range setUp {
		if out, code := h.run("", args[0], args[1:]...); code != app.ExitDone {
			t.Fatalf("%v: exit %d\n%s", args, code, out)
		}
	}
	var chats []struct{ ID string }
	out, _ := h.run("", "lifehub", "chats", "list", "--json")
	if err := json.Unmarshal([]byte(out), &chats); err != nil || len(chats) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return h, chats[0].ID
}

// shownSearch matches what a page says that a search finds first in the starter notes.
var shownSearch = regexp.MustCompile("\"([^\"]+)\"\\s+finds\\s+`([^`]+:[0-9]+)`")

func TestDocumentedSearchesFindWhatTheySay(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	h, found := newGuideHome(t), 0
	for _, path := range append(pages, "../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shownSearch.FindAllStringSubmatch(string(text), -1) {
			found++
			if out, _ := h.run("", "lifehub", "search", "--notes", "notes",
				m[1]); !strings.Contains(strings.SplitN(out, "\n", 2)[0], " "+m[2]+" ") {
				t.Errorf("%s: %q finds %s, and not first\n%s", path, m[1], m[2], out)
			}
		}
	}
	if found < 2 {
		t.Errorf("only %d searches are shown", found)
	}
}

// Due are open tasks with a date within a week or past, and that is what the help and README.md say.
func TestDueIsDescribedAsItIs(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	h, tasks := newGuideHome(t), "# Tasks\n\n- [ ] none\n"
	for name, days := range map[string]int{"past": -3, "soon": 5, "later": 10} {
		tasks += "- [ ] " + name + " 📅 " + time.Now().AddDate(0, 0, days).Format(time.DateOnly) + "\n"
	}
	apptest.Write(t, filepath.Join(h.home, "mine", "tasks.md"), tasks)
	out, _ := h.run("", "lifehub", "tasks", "--notes", "mine", "--status", "due")
	for name, due := range map[string]bool{"none": false, "past": true, "soon": true, "later": false} {
		if strings.Contains(out, "- [ ] "+name) != due {
			t.Errorf("%s: due is not %v in\n%s", name, due, out)
		}
	}
	help, _ := h.run("", "lifehub", "tasks", "--help")
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^lifehub tasks --status due.*$`).FindString(string(readme))
	for what, text := range map[string]string{"the help": strings.ToLower(help), "README.md": line} {
		if !strings.Contains(text, "within a week") || !strings.Contains(text, "overdue") {
			t.Errorf("%s describes due as\n%s", what, text)
		}
	}
}
