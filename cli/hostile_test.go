//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/hostile"
	"lifehub/tui/safetext"

	"lifehub/internal/testenv"
)

// perNote is the number of hostile texts in a note.
const perNote = 8

// maxHostile excludes texts that are hostile by length: safetext's own tests cover them, and here
// they would only slow down indexing.
const maxHostile = 4 << 10

// hostileVault returns a vault with the hostile texts in tags, headings, paragraphs and tasks.
func hostileVault(t *testing.T) (dir string, notes int) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i < len(hostile.Payloads); i += perNote {
		notes++
		var text strings.Builder
		for n, p := range hostile.Payloads[i:min(i+perNote, len(hostile.Payloads))] {
			if len(p.Text) > maxHostile {
				continue
			}
			word := fmt.Sprintf("preserve%d", i+n)
			fmt.Fprintf(&text, "# Marmalade %s %s\n\n%s says %s and ends.\n\n- [ ] cook %s %s\n\n", word, p.Text,
				word, p.Text, word, p.Text)
		}
		apptest.Write(t, filepath.Join(dir, fmt.Sprintf("marmalade%03d.md", i)), text.String())
	}
	return dir, notes
}

// leak returns the first character that affects a terminal beyond showing text.
func leak(s string) (string, bool) {
	for at, line := range strings.Split(s, "\n") {
		if strings.HasPrefix(line, "{") && !strings.ContainsFunc(line, safetext.Hidden) && utf8.ValidString(line) {
			continue // JSON does not limit combining marks
		}
		if clean := safetext.Source(line); clean != line {
			same := 0
			for same < len(clean) && clean[same] == line[same] {
				same++
			}
			return fmt.Sprintf("%+q in line %d after %q", line[same:min(len(line), same+8)], at+1,
				line[max(0, same-60):same]), true
		}
	}
	return "", false
}

func TestHostileTextIsOnlyTextOnTheTerminal(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	if len(hostile.Payloads) < 60 {
		t.Fatalf("%d hostile texts, want at least 60", len(hostile.Payloads))
	}
	vault, _ := hostileVault(t)
	home := t.TempDir()
	for _, arg := range [][]string{
		{"index", vault},
		{"search", "-n", "300", "marmalade"},
		{"search", "--json", "-n", "300", "marmalade"},
		{"related", "-n", "300", "marmalade000"},
		{"related", "--json", "marmalade000"},
		{"ask", "what does the marmalade say?"},
		{"ask", "--json", "what does the marmalade say?"},
		{"ask", "--stream-json", "what does the marmalade say?"},
		{"ask", "list my open tasks"},
		{"chats", "list"},
		{"chat", "--plain", "what does preserve7 say?"},
	} {
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Env = asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline", "TERM=xterm-256color")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("lifehub %v: %v\n%s", arg, err, out)
		}
		if what, leaks := leak(string(out)); leaks {
			t.Errorf("lifehub %v lets through %s", arg, what)
		}
		if len(out) == 0 {
			t.Errorf("lifehub %v printed nothing", arg)
		}
	}
}

func TestHostileTextDoesNotBreakTheChat(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault, notes := hostileVault(t)
	term := startTerminal(t, 100, 30, []string{"LIFEHUB_PROVIDER=offline"}, "chat", "--notes", vault)
	term.sees(fmt.Sprintf("%d notes", notes))
	for _, question := range []string{
		"what does the marmalade say?", "list my open tasks",
		"what does preserve3 say?",
	} {
		term.types(question)
		term.sees("▌ " + question)
		term.types("\r")
		// A long answer scrolls the question away, so do not wait for that.
		term.waits(func(screen string) bool {
			return (strings.Contains(screen, "anything") || strings.Contains(screen, "takes it")) &&
				(strings.Contains(screen, "ctrl+p commands") || strings.Contains(screen, "to the end"))
		}, "is ready again")
	}
	for _, forbidden := range []string{"\x1b]52", "\x1b]0;pwned", "\x1bc", "\x1b[5n", "\x1bP"} {
		if strings.Contains(term.sent(), forbidden) {
			t.Errorf("the terminal was sent %q", forbidden)
		}
	}
	term.types("\x04")
	if code := term.exits(); code != app.ExitDone {
		t.Errorf("exit code %d, want %d", code, app.ExitDone)
	}
}

// TestHostileTextIsOnlyTextInEveryCommand puts hostile texts into everything untrusted that
// commands print: questions, answers, titles, names of notes, folders and servers, logs, the
// environment, settings, memory, arguments.
func TestHostileTextIsOnlyTextInEveryCommand(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const evil = "a\x1b[2J\x1b]0;owned\a\u009b31m\u202e\u2028\x7f\xff\U000e0041\u200b\u00ad\ufff9z"
	vault, home := filepath.Join(t.TempDir(), "no\x1b[2Jtes\u202e"), t.TempDir()
	apptest.Write(t, filepath.Join(vault, "marm\x1b]0;owned\aalade\u009b.md"),
		"# Marmalade "+evil+"\n\nMarmalade says "+evil+" and ends.\n\n- [ ] cook "+evil+"\n")
	lh := filepath.Join(home, "lh")
	apptest.Write(t, filepath.Join(lh, "mcp.json"), `{"mcpServers":{"x\u001b[2J":{"command":"/bin/sh","args":["-c",`+
		`"printf 'log \\033[2J\\033]0;owned\\007\\n' >&2; exit 1"]},"y":{"command":"/nonexistent\u001b[2J"}}}`)
	id := ""
	lifehub := func(env []string, arg ...string) ([]byte, error) {
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Env = append(asProgram(home, lh, "LIFEHUB_PROVIDER=offline", "TERM=xterm-256color"), env...)
		return cmd.CombinedOutput()
	}
	run := func(env []string, arg ...string) string {
		out, err := lifehub(env, arg...)
		if what, leaks := leak(string(out)); leaks {
			t.Errorf("lifehub %q with %q (%v) lets through %s", arg, env, err, what)
		}
		if len(out) == 0 {
			t.Errorf("lifehub %q with %q (%v) printed nothing", arg, env, err)
		}
		return string(out)
	}
	run(nil, "index", vault)
	run(nil, "ask", "what does the marmalade say? "+strings.ToValidUTF8(evil, "?"))
	if fields := strings.Fields(run(nil, "chats", "list")); len(fields) > 0 {
		id = fields[0]
	}
	if out, err := lifehub(nil, "chats", "rename", id, evil); err != nil || len(out) > 0 {
		t.Errorf("rename: %v, %q", err, out)
	}
	run(nil, "memory", "add", "my cat is "+evil)
	for _, arg := range [][]string{
		{"chats", "show", id},
		{"chats", "export", id},
		{"chats", "export", "--format", "json", id},
		{"chats", "export", "--format", "html", id},
		{"chats", "search", "marmalade"},
		{"chats", "show", evil},
		{"chats", "list"},
		{"memory", "list"},
		{"memory", "search", "cat"},
		{"memory", "forget", evil},
		{"trace", "list"},
		{"trace", "show", id},
		{"trace", "show", evil},
		{"stats"},
		{"stats", "--by", evil},
		{"index", "--status"},
		{"index", "--dry-run"},
		{"index", evil},
		{"search", evil},
		{"related", evil},
		{"search", "--json", "marmalade"},
		{"mcp", "list"},
		{"mcp", "test", "x\x1b[2J"},
		{"mcp", "logs", "x\x1b[2J"},
		{"mcp", "test", "y"},
		{"mcp", "trust", evil},
		{"mcp", "remove", evil},
		{"mcp", "add", "z", "--", evil},
		{"tools"},
		{"tools", evil},
		{"permissions", "list"},
		{"permissions", "test", "add_task text=" + evil},
		{"permissions", "test", evil},
		{"doctor"},
		{"config", "show"},
		{"config", "path"},
		{"models", "list"},
		{"models", "show", evil},
		{"artifacts", "list"},
		{"artifacts", "show", evil},
		{"ask", "--mode", evil, "x"},
		{"ask", "-f", evil, "x"},
		{"chat", "--" + evil},
		{"chat", "--plain", "-r", evil},
		{"chat", "--plain", "--notes", evil},
		{evil},
	} {
		run(nil, arg...)
	}
	for _, env := range []string{
		"LIFEHUB_MODEL=", "LIFEHUB_EMBED_MODEL=", "LIFEHUB_PROVIDER=", "LIFEHUB_MODE=",
		"LIFEHUB_THEME=", "OLLAMA_HOST=", "OPENAI_BASE_URL=", "EDITOR=", "LIFEHUB_HOME=" + home + "/", "LANG=",
	} {
		for _, arg := range [][]string{{"config", "show"}, {"doctor"}, {"ask", "x"}} {
			run([]string{env + strings.ReplaceAll(evil, "\x00", "")}, arg...)
		}
	}
	apptest.Write(t, filepath.Join(lh, "config.yaml"), "model: [\x1b[2J\u202e\nmo\u009bde: x\n"+evil)
	run(nil, "config", "show")
	run(nil, "ask", "x")
	apptest.Write(t, filepath.Join(lh, "config.yaml"), "\"mo\\e[2Jdel\": 1\nmode: \"\\e]0;owned\\a\"\n")
	run(nil, "config", "show")
}
