package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// connectTimeout bounds the time a model server may take to accept a connection.
const connectTimeout = 3 * time.Second

// keepAlive ends a dead connection, while a model that works is waited for without
// a clock.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 4}

// Transport is the HTTP transport to one model server. It counts the bytes sent
// to other machines, and rejects responses that cannot come from a model server.
type Transport struct {
	Base  http.RoundTripper
	Proxy func(*http.Request) (*url.URL, error)
	key   Key         // may be nil
	model Placed      // may be nil
	found *ownerCheck // nil: a setting names the server, so its owner is not checked
	Sent  atomic.Int64
}

// Placed is a model whose server may run it elsewhere. *ollama.Provider is the real one.
type Placed interface {
	RunsElsewhere() bool // reports whether the server, which may be on this machine, has it run on another one
}

// NewTransport returns the transport to the server of a model, which may be nil.
func NewTransport(key Key, model Placed) *Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAliveConfig: keepAlive}
	t := &Transport{key: key, model: model, Proxy: http.ProxyFromEnvironment}
	t.Base = &http.Transport{
		Proxy: func(req *http.Request) (*url.URL, error) { return t.Proxy(req) },
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil || t.found == nil {
				return conn, err
			}
			if err := t.found.connected(conn); err != nil {
				conn.Close()
				return nil, &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: err}
			}
			return conn, nil
		},
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
			if res.StatusCode != http.StatusOK {
				return Status("the proxy", res.StatusCode, "")
			}
			return nil
		},
	}
	return t
}

// OnlyFound declares that no setting names the server: from now on it is used
// only if a trusted user of this machine owns its listener. allowed, a name or
// uid, adds a trusted user; it may be empty.
func (t *Transport) OnlyFound(allowed string) {
	t.found = &ownerCheck{sockets: linuxTables}
	t.Allow(allowed)
}

// Allow adds a trusted user for a server that was found automatically.
func (t *Transport) Allow(owner string) {
	if t.found != nil {
		t.found.allowed.Store(&owner)
	}
}

// Owner returns the owner of the server at the last connection. It is the zero
// value if a setting names the server.
func (t *Transport) Owner() Owner {
	if t.found != nil {
		if last := t.found.last.Load(); last != nil {
			return *last
		}
	}
	return Owner{}
}

// ProxyOf returns the proxy of a request, without its password, or "".
func (t *Transport) ProxyOf(req *http.Request) string {
	if proxy, err := t.Proxy(req); err == nil && proxy != nil {
		return proxy.Redacted()
	}
	return ""
}

// Client returns a client without a Timeout, which would interrupt long answers;
// callers set deadlines. It follows no redirects, which would send the prompt to
// another server.
func (t *Transport) Client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		to := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path} // the rest may hold a secret
		return &StatusError{
			Code:    http.StatusFound,
			Message: Short("it redirects to " + to.String() + ", which LifeHub does not follow: check its address"),
		}
	}}
}

func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.key != nil {
		key, err := t.key(req.Context())
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context()) // RoundTrip must not modify the caller's request
		req.Header.Set("Authorization", "Bearer "+key)
	}
	leaves := req.ContentLength > 0 && (!ThisMachine(req.URL) || (t.model != nil && t.model.RunsElsewhere()))
	res, err := t.Base.RoundTrip(req)
	var op *net.OpError
	// the connection was made, so data may have been sent
	if leaves && (!errors.As(err, &op) || op.Op != "dial" && op.Op != "proxyconnect") {
		t.Sent.Add(req.ContentLength)
	}
	if err != nil {
		return nil, unreachable(req.URL, t.ProxyOf(req), err)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/html" && res.StatusCode < 300 {
		res.Body.Close()
		return nil, &StatusError{Code: res.StatusCode, Message: "a web page, so " + req.URL.Host +
			" is not a model server"}
	}
	if res.StatusCode >= http.StatusBadRequest && res.ContentLength == 0 {
		res.Body = io.NopCloser(strings.NewReader("\n")) // Ollama's client treats an error without a body as success
	}
	return res, nil
}

// unreachable converts a connection error to an UnreachableError. The result
// still matches context.Canceled if the context was cancelled.
func unreachable(u *url.URL, proxy string, err error) error {
	if errors.Is(err, ErrUnreachable) {
		return err
	}
	where := u.Host
	if proxy != "" {
		where += " through the proxy " + proxy
	}
	return &UnreachableError{where: where, cause: Explain(err)}
}

// UnreachableError is an ErrUnreachable with the cause in plain words.
type UnreachableError struct {
	// Start is the command that starts the server; empty if it is unknown or the
	// server runs on another machine.
	Start string
	where string
	cause error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%v at %s: %s", ErrUnreachable, e.where, Problem(e.cause))
}
func (e *UnreachableError) Unwrap() []error { return []error{ErrUnreachable, e.cause} }

// ThisMachine reports whether requests to u stay on this machine.
func ThisMachine(u *url.URL) bool {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if name, err := os.Hostname(); err == nil && host == strings.ToLower(name) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, addr := range own {
		if n, ok := addr.(*net.IPNet); ok {
			if mine, ok := netip.AddrFromSlice(n.IP); ok && mine.Unmap() == ip {
				return true
			}
		}
	}
	return false
}
