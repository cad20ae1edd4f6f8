//go:build !unix

package llmtest

import "net"

func listen(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// keep does nothing, so another program may take the port.
func keep(net.Listener) (release func(), err error) { return func() {}, nil }
