//go:build unix

package mcptest

import "syscall"

// leaveGroup has a child go into a session of its own.
func leaveGroup(yes bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: yes} }
