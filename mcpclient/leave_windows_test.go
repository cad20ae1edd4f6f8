package mcpclient

import "syscall"

func leaveGroup(bool) *syscall.SysProcAttr { return nil }
