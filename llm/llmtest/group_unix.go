//go:build unix

package llmtest

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a server and the runners that it starts one process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the whole group: runners survive if only the server is killed.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
