//go:build unix

package llmtest

import (
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// listen listens on a loopback port that can stay reserved while the listener is
// closed. Address "127.0.0.1:0" picks a free port.
func listen(address string) (net.Listener, error) {
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if outer := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}); outer != nil {
			return outer
		}
		return err
	}}
	return shared.Listen(context.Background(), "tcp", address)
}

// keep reserves the port of l by binding a second socket to it without listening.
// While l is closed, connections are refused and no other program can take the
// port.
func keep(l net.Listener) (release func(), err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	address := unix.SockaddrInet4{Port: l.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err == nil {
		err = unix.Bind(fd, &address)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return func() { unix.Close(fd) }, nil
}
