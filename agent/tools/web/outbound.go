package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"lifehub/agent"
)

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Counted returns a dial function that counts the bytes written to other
// machines. sent may be nil.
func Counted(by dial, sent *atomic.Int64) dial {
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
	sent *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// Reporting is a transport that records each request as an effect of the tool
// call it belongs to.
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

// Client returns a client for a service at a fixed address.
func Client(sent *atomic.Int64) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = Counted(transport.DialContext, sent)
	return &http.Client{Transport: Reporting{transport}}
}
