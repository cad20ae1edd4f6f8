package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"

	"lifehub/agent"
)

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Counted is a dial whose connections to other machines tell how much is
// written to them; a nil sent is told nothing.
func Counted(by dial, sent func(bytes int)) dial {
	if sent == nil {
		return by
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := by(ctx, network, address)
		if err != nil || isLoopback(connection.RemoteAddr()) {
			return connection, err
		}
		return countedConn{connection, sent}, nil
	}
}

func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

type countedConn struct {
	net.Conn
	sent func(bytes int)
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent(n)
	return n, err
}

// Reporting is a transport that reports to the call of a request what was
// sent, and where.
type Reporting struct{ http.RoundTripper }

func (t Reporting) RoundTrip(r *http.Request) (*http.Response, error) {
	host, name := agent.HostFrom(r.Context()), r.URL.Hostname()
	if host == nil {
		return t.RoundTripper.RoundTrip(r)
	}
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{WroteHeaders: func() {
		host.Did(agent.Effect{Kind: agent.RequestSent, Host: name, Count: 1})
	}})
	return t.RoundTripper.RoundTrip(r.WithContext(ctx))
}

// Client is the client of a service whose address is not in doubt.
func Client(sent func(bytes int)) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = Counted(transport.DialContext, sent)
	return &http.Client{Transport: Reporting{transport}}
}
