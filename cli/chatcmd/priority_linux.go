package chatcmd

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// niceness is the priority of background work, from -20 to 19. The screen has 0 and must not wait
// for it.
const niceness = 10

// lowerPriority locks the calling goroutine to a thread of low priority; on Linux priorities are
// per thread. The thread ends with the goroutine, because its priority cannot be raised again.
func lowerPriority() {
	runtime.LockOSThread()
	// of the calling thread; the kernel returns 20 minus the niceness
	if was, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-was+niceness)
	}
}
