//go:build unix

package tui

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// endings are the signals that end the screen.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// jobControl tells whether a shell waits that can bring us back after a
// suspend: the parent is in our session, in another process group.
func jobControl() bool {
	parent := unix.Getppid()
	ours, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	theirs, err := unix.Getsid(parent)
	if err != nil || theirs != ours {
		return false
	}
	group, err := unix.Getpgid(parent)
	return err == nil && group != unix.Getpgrp()
}
