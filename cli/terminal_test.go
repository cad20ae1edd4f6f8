//go:build unix

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// terminal is a real terminal in which the program runs.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	pty  *os.File
	home string

	mu      sync.Mutex
	screen  *vt.SafeEmulator
	raw     strings.Builder // every byte that was sent
	changed chan struct{}
	ended   chan struct{} // closed when the program has exited

	storming atomic.Bool // frames may be for another size

	line  line
	there chan due // to the program, over a slow line
	back  chan due // and from it
}

// line is the connection between the program and the terminal.
type line struct {
	delay  time.Duration // each way
	silent bool          // the terminal answers no query
}

// due is what arrives at a time.
type due struct {
	at   time.Time
	text []byte
}

// deliver passes on what is due, in order, until the channel is closed.
func deliver(from <-chan due, to func([]byte)) {
	for d := range from {
		<-time.After(time.Until(d.at))
		to(d.text)
	}
}

// startTerminal runs the program in a pty of the given size, in an empty home. env is added to the
// environment. The program is killed when the test ends.
func startTerminal(t *testing.T, width, height int, env []string, arg ...string) *terminal {
	t.Helper()
	return startTerminalOver(t, line{}, width, height, env, arg...)
}

// startTerminalOver is like startTerminal with a line in between.
func startTerminalOver(t *testing.T, over line, width, height int, env []string, arg ...string) *terminal {
	t.Helper()
	home := t.TempDir()
	term := &terminal{
		t: t, home: home, line: over, there: make(chan due, 1<<12), back: make(chan due, 1<<12),
		screen: vt.NewSafeEmulator(width, height), changed: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	term.cmd = exec.Command(os.Args[0], arg...)
	term.cmd.Dir = home
	term.cmd.Env = append(asProgram(home, filepath.Join(home, ".lifehub"), "TERM=xterm-256color", "LANG=C.UTF-8",
		"OLLAMA_HOST=127.0.0.1:1"), env...)
	var err error
	term.pty, err = pty.StartWithSize(term.cmd, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)})
	if err != nil {
		t.Fatalf("start in a terminal: %v", err)
	}
	go deliver(term.there, func(text []byte) { _, _ = term.pty.Write(text) }) // both run until the test binary exits
	go deliver(term.back, term.draw)
	go term.read()
	go term.answer()
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		<-term.ended
		term.pty.Close()
	})
	return term
}

// read draws the program's output until it exits.
func (term *terminal) read() {
	defer close(term.ended)
	buffer := make([]byte, 32<<10)
	for {
		n, err := term.pty.Read(buffer)
		term.mu.Lock()
		term.raw.Write(buffer[:n])
		term.mu.Unlock()
		if text := bytes.Clone(buffer[:n]); term.line.delay > 0 {
			term.back <- due{time.Now().Add(term.line.delay), text}
		} else {
			term.draw(text)
		}
		if err != nil {
			_ = term.cmd.Wait()
			return
		}
	}
}

// draw draws what has arrived.
func (term *terminal) draw(text []byte) {
	if term.storming.Load() {
		for i := range text {
			term.drawStorm(text[i : i+1])
		}
	} else {
		_, _ = term.screen.Write(text)
	}
	select {
	case term.changed <- struct{}{}:
	default:
	}
}

// drawStorm draws frames that may be for another size, for which the emulator may panic.
func (term *terminal) drawStorm(text []byte) {
	defer func() { _ = recover() }()
	_, _ = term.screen.Write(text)
}

// answer replies to queries like a terminal.
func (term *terminal) answer() {
	buffer := make([]byte, 1024)
	for {
		n, err := term.screen.Read(buffer)
		if err != nil {
			return
		}
		if !term.line.silent {
			term.send(bytes.Clone(buffer[:n]))
		}
	}
}

// text returns the text on the screen.
func (term *terminal) text() string { return ansi.Strip(term.screen.Render()) }

// sent returns every byte that the program wrote so far.
func (term *terminal) sent() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.raw.String()
}

// sees waits until the screen shows all of the texts.
func (term *terminal) sees(want ...string) {
	term.t.Helper()
	term.waits(func(screen string) bool {
		for _, w := range want {
			if !strings.Contains(screen, w) {
				return false
			}
		}
		return true
	}, "shows "+strings.Join(want, " and "))
}

// waits waits until the screen satisfies ok.
func (term *terminal) waits(ok func(screen string) bool, what string) {
	term.t.Helper()
	deadline := time.After(patience)
	for {
		screen := term.text()
		if ok(screen) {
			return
		}
		select {
		case <-term.changed:
		case <-term.ended:
			if ok(term.text()) {
				return
			}
			term.t.Fatalf("the program ended before the screen %s; it was:\n%s", what, term.text())
		case <-deadline:
			term.t.Fatalf("the screen never %s; it is:\n%s", what, screen)
		}
	}
}

// types sends keys.
func (term *terminal) types(keys string) {
	term.t.Helper()
	if err := term.send([]byte(keys)); err != nil {
		term.t.Fatalf("type %q: %v", keys, err)
	}
}

// send sends keys, or replies, to the program.
func (term *terminal) send(text []byte) error {
	if term.line.delay > 0 {
		term.there <- due{time.Now().Add(term.line.delay), text}
		return nil
	}
	_, err := term.pty.Write(text)
	return err
}

// exits waits for the end of the program and returns its exit code.
func (term *terminal) exits() int {
	term.t.Helper()
	select {
	case <-term.ended:
		return term.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		term.t.Fatalf("the program does not end; the screen is:\n%s", term.text())
		return -1
	}
}
