//go:build unix && !linux

package pdf

import (
	"os/exec"
	"syscall"
)

// withChildren makes a context that ends also end the children of a process.
func withChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// confine does nothing: withChildren has put a child into the group of its parent.
func confine(*exec.Cmd) {}

// limitChild does nothing: this system limits no memory of another process.
func limitChild(int) {}
