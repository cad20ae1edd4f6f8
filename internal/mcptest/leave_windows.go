package mcptest

import "syscall"

func leaveGroup(bool) *syscall.SysProcAttr { return nil }
