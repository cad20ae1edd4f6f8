package testenv

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
)

// ListenAs listens on TCP with a socket owned by another user. Only root may do
// this, except for the user who runs the test.
func ListenAs(uid int, address string) (net.Listener, error) {
	runtime.LockOSThread() // the owner of new sockets is set per thread
	defer runtime.UnlockOSThread()
	syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(uid), 0, 0)
	defer syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(os.Geteuid()), 0, 0)
	if now, _, _ := syscall.RawSyscall(syscall.SYS_SETFSUID, ^uintptr(0), 0, 0); int(now) != uid {
		return nil, fmt.Errorf("listen as the user with uid %d: only root can", uid)
	}
	return new(net.ListenConfig).Listen(context.Background(), "tcp", address)
}
