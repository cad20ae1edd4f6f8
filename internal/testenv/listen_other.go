//go:build !linux

package testenv

import (
	"context"
	"errors"
	"net"
	"os"
)

// ListenAs listens on TCP. On this system uid must be the user who runs the test.
func ListenAs(uid int, address string) (net.Listener, error) {
	if uid != os.Geteuid() {
		return nil, errors.New("listen as another user: not supported on this system")
	}
	return new(net.ListenConfig).Listen(context.Background(), "tcp", address)
}
