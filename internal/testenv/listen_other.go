//go:build !linux

package testenv

import (
	"context"
	"errors"
	"net"
	"os"
)

// ListenAs listens on TCP as the user that runs the test.
func ListenAs(uid int, address string) (net.Listener, error) {
	if uid != os.Geteuid() {
		return nil, errors.New("listen as another user: this system cannot")
	}
	return new(net.ListenConfig).Listen(context.Background(), "tcp", address)
}
