//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"lifehub/internal/hostile"
)

// perNote is how many hostile texts one note holds.
const perNote = 8

// maxHostile leaves out texts that are hostile by their length: the sanitiser's
// own tests have them, and here they would only be indexed for long.
const maxHostile = 4 << 10

// hostileVault holds the hostile texts, in tags, headings, paragraphs and tasks.
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
			fmt.Fprintf(&text, "# Marmalade %s %s\n\n%s says %s and ends.\n\n- [ ] cook %s %s\n\n", word, p.Text, word, p.Text, word, p.Text)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("marmalade%03d.md", i)), text.String())
	}
	return dir, notes
}

// leak is the first character that does more to a terminal than show text.
func leak(s string) (string, bool) {
	for i, r := range s {
		if r == '\n' {
			continue
		}
		bidi := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		if unicode.IsControl(r) || bidi || r >= 0xe0000 && r <= 0xe007f {
			return fmt.Sprintf("%U after %q", r, s[max(0, i-60):i]), true
		}
	}
	return "", false
}

func TestHostileTextChangesNothingButTextOnTheTerminal(t *testing.T) {
	if len(hostile.Payloads) < 60 {
		t.Fatalf("%d hostile texts, want at least 60", len(hostile.Payloads))
	}
	vault, _ := hostileVault(t)
	home := t.TempDir()
	for _, arg := range [][]string{
		{"index", vault},
		{"search", "-n", "300", "marmalade"},
		{"search", "--json", "-n", "300", "marmalade"},
		{"ask", "what does the marmalade say?"},
		{"ask", "--json", "what does the marmalade say?"},
		{"ask", "--stream-json", "what does the marmalade say?"},
		{"ask", "list my open tasks"},
		{"chats", "list"},
		{"chat", "--plain", "what does preserve7 say?"},
	} {
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Env = []string{runAsProgram, "HOME=" + home, "LIFEHUB_HOME=" + filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline", "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
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
	vault, notes := hostileVault(t)
	term := startTerminal(t, 100, 30, []string{"LIFEHUB_PROVIDER=offline"}, "chat", "--notes", vault)
	term.sees(fmt.Sprintf("%d notes", notes))
	for _, question := range []string{"what does the marmalade say?", "list my open tasks", "what does preserve3 say?"} {
		term.types(question)
		term.sees("> " + question)
		term.types("\r")
		// A long answer scrolls the question away, so that is not looked for.
		term.waits(func(screen string) bool {
			return strings.Contains(screen, "Ask anything") && strings.Contains(screen, "enter send")
		}, "is ready again")
	}
	for _, forbidden := range []string{"\x1b]52", "\x1b]0;pwned", "\x1bc", "\x1b[5n", "\x1bP"} {
		if strings.Contains(term.sent(), forbidden) {
			t.Errorf("the terminal was sent %q", forbidden)
		}
	}
	term.types("\x04")
	if code := term.exits(); code != exitDone {
		t.Errorf("exit code %d, want %d", code, exitDone)
	}
}
