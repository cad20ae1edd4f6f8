package testenv

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
)

// ListenAs listens on TCP as another user, whose the socket then is. Only root
// can; anybody can as the user that runs the test.
func ListenAs(uid int, address string) (net.Listener, error) {
	runtime.LockOSThread() // the user of files and sockets is the thread's
	defer runtime.UnlockOSThread()
	syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(uid), 0, 0)
	defer syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(os.Geteuid()), 0, 0)
	if now, _, _ := syscall.RawSyscall(syscall.SYS_SETFSUID, ^uintptr(0), 0, 0); int(now) != uid {
		return nil, fmt.Errorf("listen as the user with uid %d: only root can", uid)
	}
	return new(net.ListenConfig).Listen(context.Background(), "tcp", address)
}
