//go:build linux

package tui

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"lifehub/chat"
	"lifehub/internal/ttytest"
)

// onTerminal is a chat that runs on a pseudo terminal.
type onTerminal struct {
	*watched
	t      *testing.T
	cmd    *exec.Cmd
	tty    *os.File // our end
	slave  *os.File // its end, kept open so that its settings can be read
	before *unix.Termios
	exit   chan int
	sent   recorder // all that the chat sent
}

// recorder keeps what is written while others look.
type recorder struct {
	mu   sync.Mutex
	text []byte
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, p...)
	return len(p), nil
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

func startOnTerminal(t *testing.T, env ...string) *onTerminal {
	t.Helper()
	return startTypedAhead(t, "", env...)
}

// startTypedAhead starts it when something was typed already.
func startTypedAhead(t *testing.T, typed string, env ...string) *onTerminal {
	t.Helper()
	tty, slave, err := pty.Open()
	if err != nil {
		t.Skip("needs a pseudo terminal: ", err)
	}
	pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80})
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(tty, typed)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append([]string{"LIFEHUB_TUI_CHILD=1", "TERM=xterm-256color"}, env...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &onTerminal{
		watched: newWatched(t, 80, 24), t: t, cmd: cmd, tty: tty, slave: slave,
		before: before, exit: make(chan int, 1),
	}
	go io.Copy(io.MultiWriter(&c.sent, c.watched), tty) // ends when the terminal is closed
	go func() {
		cmd.Wait()
		c.exit <- cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		slave.Close()
		tty.Close()
	})
	return c
}

// leaves waits for the end and checks that the terminal is as it was.
func (c *onTerminal) leaves(want int) {
	c.t.Helper()
	select {
	case got := <-c.exit:
		if got != want {
			c.t.Errorf("exit code %d, want %d", got, want)
		}
	case <-time.After(patience):
		c.t.Fatal("it does not end")
	}
	after, err := unix.IoctlGetTermios(int(c.slave.Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	if *after != *c.before {
		c.t.Errorf("terminal settings %+v, before %+v", after, c.before)
	}
	c.until("all that was changed is as before", func() bool { return len(ttytest.Left(c.sent.String())) == 0 })
}

// until waits for a state of the terminal.
func (c *onTerminal) until(what string, reached func() bool) {
	c.t.Helper()
	late := time.After(patience)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !reached() {
		select {
		case <-c.changed:
		case <-look.C:
		case <-late:
			c.t.Fatalf("never: %s; left are %q", what, ttytest.Left(c.sent.String()))
		}
	}
}

func TestLineTypedBeforeStartIsAsked(t *testing.T) {
	c := startTypedAhead(t, "how often do I run?\r")
	c.waitFor(t, "three times")
	io.WriteString(c.tty, "and then\r") // it waits its turn
	c.waitFor(t, "queued: “and then”")
	io.WriteString(c.tty, "\x03\x03\x03")
	c.leaves(10 + int(chat.Interrupted))
}

func TestLinesTypedBeforeStartAreNotSent(t *testing.T) {
	c := startTypedAhead(t, "one\rand another")
	c.waitFor(t, "▌ one")
	c.until("the second line is below", func() bool {
		return strings.Contains(ansi.Strip(c.Render()), "\n  ▌ and another")
	})
	if !strings.Contains(ansi.Strip(c.Render()), "▀▀▀ ▀ ▀   ▀▀▀") { // the welcome
		t.Errorf("it was sent:\n%s", ansi.Strip(c.Render()))
	}
	io.WriteString(c.tty, "\x03\x03\x03")
	c.leaves(10 + int(chat.Quit))
}

func TestTerminalIsRestoredAfterEveryExit(t *testing.T) {
	ends := map[string]struct {
		end  func(c *onTerminal)
		exit int
	}{
		"Ctrl+D":       {func(c *onTerminal) { io.WriteString(c.tty, "\x04") }, 10 + int(chat.Quit)},
		"Ctrl+C twice": {func(c *onTerminal) { io.WriteString(c.tty, "\x03\x03") }, 10 + int(chat.Quit)},
		"/quit":        {func(c *onTerminal) { io.WriteString(c.tty, "/quit\r") }, 10 + int(chat.Quit)},
		"SIGTERM":      {func(c *onTerminal) { c.cmd.Process.Signal(syscall.SIGTERM) }, 10 + int(chat.Terminated)},
		"SIGINT":       {func(c *onTerminal) { c.cmd.Process.Signal(syscall.SIGINT) }, 10 + int(chat.Interrupted)},
		"SIGHUP":       {func(c *onTerminal) { c.cmd.Process.Signal(syscall.SIGHUP) }, 10 + int(chat.Terminated)},
		"SIGQUIT":      {func(c *onTerminal) { c.cmd.Process.Signal(syscall.SIGQUIT) }, 10 + int(chat.Terminated)},
		"SIGTERM in a turn": {func(c *onTerminal) {
			io.WriteString(c.tty, "go\r")
			c.waitFor(c.t, "three times")
			c.cmd.Process.Signal(syscall.SIGTERM)
		}, 10 + int(chat.Terminated)},
	}
	for name, tc := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startOnTerminal(t)
			c.waitFor(t, "▌ Ask")
			tc.end(c)
			c.leaves(tc.exit)
		})
	}
}

func TestAPanicLeavesTheTerminalAsItWas(t *testing.T) {
	c := startOnTerminal(t, "LIFEHUB_TUI_CHILD=panic")
	c.waitFor(t, "▌ Ask")
	c.until("a progress bar is shown", func() bool { return strings.Contains(c.sent.String(), "\x1b]9;4;1;25") })
	io.WriteString(c.tty, "go\r")
	c.leaves(1)
}

func TestEscStopsTheAnswerThatStreams(t *testing.T) {
	c := startOnTerminal(t)
	c.waitFor(t, "▌ Ask")
	io.WriteString(c.tty, "go\r")
	c.waitFor(t, "three times")
	io.WriteString(c.tty, "\x1b")
	c.waitFor(t, "■ stopped") // within 100 ms, by the clock of the agent's TestEscEndsTheTurnAtOnce
	io.WriteString(c.tty, "\x04")
	c.leaves(10 + int(chat.Quit))
}

func TestTheEditorOpensTheDraft(t *testing.T) {
	editor := t.TempDir() + "/my editor"
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nprintf ' in the editor' >> \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := startOnTerminal(t, "EDITOR='"+editor+"'")
	c.waitFor(t, "▌ Ask")
	io.WriteString(c.tty, "written")
	c.waitFor(t, "▌ written")
	io.WriteString(c.tty, "\x07")
	c.waitFor(t, "▌ written in the editor")
	io.WriteString(c.tty, "\x03\x04")
	c.leaves(10 + int(chat.Quit))
}

// stopped reports whether the chat is a stopped process.
func (c *onTerminal) stopped() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	return err == nil && strings.Contains(string(stat), ") T ")
}

func TestSuspendRestoresTheTerminalAndRedraws(t *testing.T) {
	c := startOnTerminal(t)
	c.waitFor(t, "▌ Ask")
	io.WriteString(c.tty, "draft")
	c.waitFor(t, "▌ draft")
	for range 3 {
		c.cmd.Process.Signal(syscall.SIGTSTP)
		c.until("it is stopped", c.stopped)
		// What was written before the stop may still be on its way here.
		c.until("the alternate screen is off", func() bool { return !c.IsAltScreen() })
		c.cmd.Process.Signal(syscall.SIGCONT)
		c.until("the alternate screen is on", c.IsAltScreen)
		c.waitFor(t, "▌ draft")
	}
	io.WriteString(c.tty, "\x03\x04")
	c.leaves(10 + int(chat.Quit))
}

// TestStormOfSizesLeavesTheRightFrame changes the size of the terminal a
// thousand times while a turn runs, as fast as it goes.
func TestStormOfSizesLeavesTheRightFrame(t *testing.T) {
	c := startOnTerminal(t)
	c.waitFor(t, "▌ Ask")
	io.WriteString(c.tty, "go\r")
	c.waitFor(t, "three times")
	any := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		pty.Setsize(c.tty, &pty.Winsize{Cols: uint16(any.IntN(501)), Rows: uint16(any.IntN(301))})
	}
	c.Resize(70, 20)
	pty.Setsize(c.tty, &pty.Winsize{Cols: 70, Rows: 20})
	io.WriteString(c.tty, "\x0c") // what was drawn for other sizes goes
	c.until("the last picture", func() bool {
		rows := strings.Split(strings.TrimRight(ansi.Strip(c.Render()), "\n"), "\n")
		return len(rows) == 20 && strings.HasPrefix(rows[0], "    LifeHub  ") && strings.HasPrefix(rows[16], "  ▌ ") &&
			strings.Contains(rows[19], "esc stops ") && strings.Contains(rows[19], "nothing sent")
	})
	io.WriteString(c.tty, "\x1b")
	c.waitFor(t, "■ stopped")
	io.WriteString(c.tty, "\x04")
	c.leaves(10 + int(chat.Quit))
}

func TestProgramEndsWhenTheTerminalIsClosed(t *testing.T) {
	c := startOnTerminal(t)
	c.waitFor(t, "▌ Ask")
	io.WriteString(c.tty, "go\r")
	c.waitFor(t, "three times")
	c.slave.Close()
	c.tty.Close()
	select {
	case <-c.exit:
	case <-time.After(patience):
		t.Fatal("it goes on without a terminal")
	}
}
