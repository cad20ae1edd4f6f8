//go:build unix

package terminal

import (
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// stopSignal asks us to suspend, sizeSignal says that the terminal's size changed.
var stopSignal, sizeSignal os.Signal = syscall.SIGTSTP, syscall.SIGWINCH

// Suspend asks for the stop signal, as the terminal does when it is not ours.
func Suspend() tea.Msg {
	_ = syscall.Kill(os.Getpid(), syscall.SIGTSTP)
	return nil
}

// halt stops this process until the shell continues it. A caught SIGTSTP no
// longer stops a Go program, whatever signal.Reset says.
func halt() {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if syscall.Kill(os.Getpid(), syscall.SIGSTOP) == nil {
		<-goesOn // the stop may reach the other threads before this one
	}
}

// JobControl reports whether a shell waits that can bring us back after a
// suspend: the parent is in our session, in another process group.
func JobControl() bool {
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
