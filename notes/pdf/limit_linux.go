package pdf

import (
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// withChildren does nothing: confine makes children end with their parent.
func withChildren(*exec.Cmd) {}

// confine has the kernel kill a child when the thread that starts it ends, which
// must be the main thread.
func confine(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// limitChild limits the memory and the processor time of a child.
func limitChild(pid int) {
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: maxScanMemory, Max: maxScanMemory}, nil)
	seconds := uint64(maxScanTime / time.Second)
	_ = unix.Prlimit(pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds}, nil)
}
