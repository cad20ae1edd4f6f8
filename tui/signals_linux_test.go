package tui

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A program that is stuck ends after a signal, and the terminal is as before.
func TestASignalEndsAStuckProgram(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "LIFEHUB_TUI_CHILD=stuck", "TERM=xterm-256color")
			reached, report, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reached.Close()
			cmd.ExtraFiles = []*os.File{report}
			master, slave, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer master.Close()
			defer slave.Close()
			before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, master) }()
			report.Close()
			_, _ = io.Copy(io.Discard, reached) // until the program is stuck
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 128+int(signal) {
				t.Errorf("exit code %d", got)
			}
			if after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS); err != nil || *after != *before {
				t.Errorf("the terminal was left as %+v, %v", after, err)
			}
		})
	}
}
