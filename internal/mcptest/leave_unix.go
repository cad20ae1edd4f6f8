//go:build unix

package mcptest

import "syscall"

// leaveGroup starts a child in its own session.
func leaveGroup(yes bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: yes} }
