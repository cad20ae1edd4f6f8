//go:build unix

package llmtest

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a server and the runners it starts into one process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends them all; runners outlive a server that is killed alone.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
