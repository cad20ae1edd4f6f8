//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// stopSignal requests a suspend.
var stopSignal os.Signal = syscall.SIGTSTP

// suspend sends the stop signal to this process, as the terminal does outside raw mode.
func suspend() tea.Msg {
	_ = syscall.Kill(os.Getpid(), syscall.SIGTSTP)
	return nil
}

// halt stops this process until the shell continues it. SIGSTOP is used because a SIGTSTP that was
// caught once no longer stops a Go program, even after signal.Reset.
func halt() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(os.Getpid(), syscall.SIGSTOP) == nil {
		<-continued // other threads may stop before this one
	}
}

// jobControl reports whether a shell can resume the program after a suspend: the parent is in the
// same session but in another process group.
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
