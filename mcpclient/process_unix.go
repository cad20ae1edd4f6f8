//go:build unix

package mcpclient

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// niceness is the priority of servers, from -20 to 19. The chat, at 0, takes
// precedence.
const niceness = 10

// lowerPriority sets niceness for a process, its threads and later children. It
// is called after the start: the thread that starts a process waits until that
// runs, which could take long at low priority.
func lowerPriority(leader *os.Process) {
	_ = syscall.Setpriority(syscall.PRIO_PGRP, leader.Pid, niceness)
}

// terminateGroup asks all processes of the group to exit.
func terminateGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGTERM) }

// killGroup kills all processes of the group, if any.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// reaper is a shell that outlives LifeHub. Its stdin is closed when LifeHub ends
// for any reason; then it kills the server's group and, on Linux, all other
// processes with the server's tag.
type reaper struct {
	cmd  *exec.Cmd
	pipe *os.File // open while LifeHub lives
	tag  string
}

// reaperScript gets the process group ID and the tag as arguments.
const reaperScript = `read -r _
kill -s KILL -- "-$1"
for f in $(grep -ls -- "$2" /proc/[0-9]*/environ); do
	f=${f#/proc/}
	kill -s KILL "${f%%/*}"
done`

func newReaper(leader *os.Process, tag string) (reaper, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return reaper{}, err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", reaperScript, "lifehub-mcp-guard", strconv.Itoa(leader.Pid), tag)
	cmd.Stdin = r
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	// detached from the terminal, so that its signals do not reach the reaper
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return reaper{}, fmt.Errorf("start /bin/sh: %w", err)
	}
	return reaper{cmd: cmd, pipe: w, tag: tag}, nil
}

// end kills descendants that left the group after the server itself has ended. It
// stops the reaper last, since LifeHub may be killed before.
func (g reaper) end() {
	killTagged(g.tag)
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	_ = g.pipe.Close()
}
