//go:build !unix

package llmtest

import "net"

func listen(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// keep does nothing: another program may be given the port.
func keep(net.Listener) (release func(), err error) { return func() {}, nil }
