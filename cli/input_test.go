//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// A program that starts LifeHub may leave its standard input open and never write to it.
func TestAQuestionDoesNotWaitForSilentInput(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home, vault := t.TempDir(), apptest.Vault(t)
	for _, args := range [][]string{
		{"ask", "--json", "--notes", vault, "how often do I run?"},
		{"-p", "--notes", vault, "how often do I run?"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			cmd := programIn(t, home, "", args...)
			held, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			if !strings.Contains(stdout.String(), "three times a week") ||
				!strings.Contains(stderr.String(), app.ErrNoInput.Error()) {
				t.Errorf("stdout %s\nstderr %s", &stdout, &stderr)
			}
			if args[0] == "ask" {
				var result askResult
				if err := json.Unmarshal([]byte(stdout.String()), &result); err != nil ||
					!slices.Contains(result.Notices, app.ErrNoInput.Error()) {
					t.Errorf("%v, notices %q", err, result.Notices)
				}
			}
		})
	}
}

func TestDashWaitsForTheEndOfStandardInput(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	cmd := programIn(t, t.TempDir(), "", "ask", "--json", "--notes", apptest.Vault(t), "-f", "-", "how often do I run?")
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	stderr, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := bufio.NewReader(stderr)
	if line, err := told.ReadString('\n'); err != nil || !strings.Contains(line, "waiting") {
		t.Errorf("%q, %v", line, err)
	}
	_, _ = io.WriteString(stdin, "I swim on Mondays.\n")
	stdin.Close()
	go func() { _, _ = io.Copy(io.Discard, told) }()
	var result askResult
	if err := json.NewDecoder(stdout).Decode(&result); err != nil || len(result.Notices) > 0 {
		t.Errorf("%v, notices %q", err, result.Notices)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A signal ends a command whatever it is blocked in: a pipe that stays silent, a file that nobody
// writes to, a question on the terminal.
func TestASignalEndsABlockedCommand(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	const fifo = "fifo"
	for _, args := range [][]string{
		{"ask"},
		{"ask", "-"},
		{"-p", "-"},
		{"log"},
		{"add"},
		{"ask", "-f", "-", "why?"},
		{"ask", "-f", fifo, "why?"},
		{"ask", "--schema", fifo, "why?"},
	} {
		for signal, code := range map[syscall.Signal]int{
			syscall.SIGTERM: app.ExitTerminated,
			syscall.SIGINT:  app.ExitInterrupted,
		} {
			t.Run(strings.Join(args, " ")+signal.String(), func(t *testing.T) {
				t.Parallel()
				cmd := programIn(t, t.TempDir(), "", append(args, "--notes", vault)...)
				pipe := filepath.Join(cmd.Dir, fifo)
				if err := syscall.Mkfifo(pipe, 0o600); err != nil {
					t.Fatal(err)
				}
				held, _ := cmd.StdinPipe()
				defer held.Close()
				ready, _ := cmd.StderrPipe()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if slices.Contains(args, fifo) {
					writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // it waits for the reader
					if err != nil {
						t.Fatal(err)
					}
					defer writer.Close()
				} else {
					_, _ = bufio.NewReader(ready).ReadString('\n') // it says that it waits
				}
				go func() { _, _ = io.Copy(io.Discard, ready) }()
				if err := cmd.Process.Signal(signal); err != nil {
					t.Error(err)
				}
				_ = cmd.Wait()
				if got := cmd.ProcessState.ExitCode(); got != code {
					t.Errorf("exit code %d, want %d", got, code)
				}
			})
		}
	}
}
