//go:build unix && !linux

package mcpclient

import "syscall"

// ownGroup starts a child in its own process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killTagged does nothing: this system cannot find processes by their
// environment.
func killTagged(string) {}
