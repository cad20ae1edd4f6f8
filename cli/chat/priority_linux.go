package chat

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness is the priority of work that nobody looks at, from -20 to 19: the
// screen, which has 0, is not to wait behind it.
const niceness = 10

// lowerPriority gives the calling goroutine, to its end, a thread of the
// system to itself, of low priority: on Linux each thread has its own. The
// thread ends with the goroutine, because its priority can't be raised again.
func lowerPriority() {
	runtime.LockOSThread()
	if was, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil { // of the calling thread, as 20 less the niceness
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-was+niceness)
	}
}
