package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/hostile"
)

// printed returns a document as printed on a terminal of 40 columns, or into a pipe.
func printed(t *testing.T, terminal bool, text string, line int) string {
	t.Helper()
	read, write, err := os.Pipe()
	if terminal {
		if read, write, err = pty.Open(); err == nil {
			err = pty.Setsize(read, &pty.Winsize{Cols: 40, Rows: 10})
		}
	}
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	defer read.Close()
	home := t.TempDir()
	sh := &app.Process{Out: write, Err: os.Stderr, Environment: terminalEnvironment{
		apptest.Environment{"LIFEHUB_HOME=" + home, "HOME=" + home, "TERM=xterm-256color"},
	}}
	if sh.In, err = os.Open(os.DevNull); err != nil {
		t.Fatal(err)
	}
	defer sh.In.Close()
	wrote := make(chan error, 1)
	go func() { wrote <- printDocument(sh, text+"\n\nthe end.\n", line); write.Close() }()
	var out strings.Builder
	buffer := make([]byte, 1<<10)
	for !strings.Contains(out.String(), "the end.") {
		n, err := read.Read(buffer)
		if out.Write(buffer[:n]); err != nil {
			break
		}
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// terminalEnvironment is that of a terminal with colours.
type terminalEnvironment struct{ apptest.Environment }

func (terminalEnvironment) Environ() []string { return []string{"TERM=xterm-256color"} }

func TestDocumentIsDrawnOnlyOnATerminal(t *testing.T) {
	text := "# Soup\n\nCook **the lentils** for as long as it takes to read this line."
	if got := printed(t, false, text, 0); !strings.HasPrefix(got, text) {
		t.Errorf("into a pipe goes %q", got)
	}
	got := printed(t, true, text, 3)
	if !strings.Contains(got, "\x1b[") || strings.Contains(got, "**") ||
		!strings.Contains(ansi.Strip(got), "┃ Cook the lentils") {
		t.Errorf("on a terminal it is %q", got)
	}
	for line := range strings.Lines(ansi.Strip(got)) {
		if width := ansi.StringWidth(strings.TrimRight(line, "\r\n")); width > 40 {
			t.Errorf("%d columns: %q", width, line)
		}
	}
}

func TestDocumentCannotControlTheTerminal(t *testing.T) {
	for _, payload := range hostile.Payloads {
		if len(payload.Text) > 3000 {
			continue
		}
		got := printed(t, false, payload.Text, 0)
		if strings.ContainsRune(got, '\x1b') || !strings.Contains(got, hostile.Mark) {
			t.Errorf("%s: %q", payload.Name, got)
		}
	}
}
