//go:build unix

package mcpclient

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// niceness is the priority of servers, from -20 to 19: the chat, which has 0,
// is not to wait behind them.
const niceness = 10

// lowerPriority does so for a process, its threads and whatever it starts. It
// is done after the start, not before: the thread that starts a process stands
// still until that runs, and one of low priority may be long in coming.
func lowerPriority(leader *os.Process) {
	_ = syscall.Setpriority(syscall.PRIO_PGRP, leader.Pid, niceness)
}

// terminateGroup asks a process and its children to end.
func terminateGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGTERM) }

// killGroup ends them. Without a group left it does nothing.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// guard outlives LifeHub: a shell that waits for the end of its stdin, which
// comes with LifeHub's end, however that was, and then kills the server's
// group and, on Linux, whoever has left the group but carries the server's tag.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File // open as long as LifeHub lives
	tag  string
}

// guardScript gets the group's id and the tag.
const guardScript = `read -r _
kill -s KILL -- "-$1"
for f in $(grep -ls -- "$2" /proc/[0-9]*/environ); do
	f=${f#/proc/}
	kill -s KILL "${f%%/*}"
done`

func newGuard(leader *os.Process, tag string) (guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return guard{}, err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", guardScript, "lifehub-mcp-guard", strconv.Itoa(leader.Pid), tag)
	cmd.Stdin = r
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // signals of the terminal are not for it
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return guard{}, fmt.Errorf("start /bin/sh: %w", err)
	}
	return guard{cmd: cmd, pipe: w, tag: tag}, nil
}

// end kills whoever of the server's descendants has left its group, after the
// server's own end, and calls off the guard: as the last, for LifeHub may be
// killed before.
func (g guard) end() {
	killTagged(g.tag)
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	_ = g.pipe.Close()
}
