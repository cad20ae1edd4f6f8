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

	"lifehub/internal/neterr"
)

// connectTimeout is how long a model server may take to accept a connection.
const connectTimeout = 3 * time.Second

// Transport is the way to one model server. It counts what leaves this
// machine, and refuses answers that a model server does not give.
type Transport struct {
	Base   http.RoundTripper
	Proxy  func(*http.Request) (*url.URL, error)
	key    Key         // nil: none is sent
	remote func() bool // whether the model runs elsewhere though the server is here
	found  *ownerCheck // nil: a setting names the server, whoever owns it
	Sent   atomic.Int64
}

// NewTransport makes the way to the server of the settings, with its key.
func NewTransport(key Key, remote func() bool) *Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	t := &Transport{key: key, remote: remote, Proxy: http.ProxyFromEnvironment}
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
				return neterr.Status("the proxy", res.StatusCode, "")
			}
			return nil
		},
	}
	return t
}

// OnlyFound says that no setting names the server: from now on it gets only
// connections that a trusted user of this machine answers. allowed is one more
// user, by name or uid; "": nobody.
func (t *Transport) OnlyFound(allowed string) {
	t.found = &ownerCheck{listeners: listeners}
	t.Allow(allowed)
}

// Allow trusts one more user with a server that was only found.
func (t *Transport) Allow(owner string) {
	if t.found != nil {
		t.found.allowed.Store(&owner)
	}
}

// Owner is whose the server is, at the last connection; the zero value where
// a setting names the server.
func (t *Transport) Owner() Owner {
	if t.found != nil {
		if last := t.found.last.Load(); last != nil {
			return *last
		}
	}
	return Owner{}
}

// ProxyOf is the proxy that a request goes through, without its password; "":
// none.
func (t *Transport) ProxyOf(req *http.Request) string {
	if proxy, err := t.Proxy(req); err == nil && proxy != nil {
		return proxy.Redacted()
	}
	return ""
}

// Client has no Timeout, which would cut long answers; deadlines are set by
// who streams. A redirect would carry the prompt to another server.
func (t *Transport) Client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		return &StatusError{Code: http.StatusFound, Message: redirected(via[len(via)-1].URL, req.URL)}
	}}
}

// redirected says what is wrong with a redirect, and which address would do.
func redirected(from, to *url.URL) string {
	switch {
	case !strings.EqualFold(from.Scheme, to.Scheme) || hostPort(from) != hostPort(to):
		return fmt.Sprintf("it redirects to %s://%s, which LifeHub does not follow: set that address instead", to.Scheme, to.Host)
	case from.Path == to.Path:
		return "it redirects to the same address again: it is not a model server, or not set up as one"
	}
	return fmt.Sprintf("it redirects from %s to its path %s, which LifeHub does not follow: check the path of its address", from.Path, to.Path)
}

// hostPort is what is connected to for an address.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port)
}

func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.key != nil {
		key, err := t.key(req.Context())
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context()) // which its sender still owns
		req.Header.Set("Authorization", "Bearer "+key)
	}
	leaves := req.ContentLength > 0 && (!ThisMachine(req.URL) || (t.remote != nil && t.remote()))
	res, err := t.Base.RoundTrip(req)
	var op *net.OpError
	if leaves && (!errors.As(err, &op) || op.Op != "dial" && op.Op != "proxyconnect") { // it got further than the door
		t.Sent.Add(req.ContentLength)
	}
	if err != nil {
		return nil, unreachable(req.URL, t.ProxyOf(req), err)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/html" && res.StatusCode < 300 {
		res.Body.Close()
		return nil, &StatusError{Code: res.StatusCode, Message: "a web page, so " + req.URL.Host + " is not a model server"}
	}
	if res.StatusCode >= http.StatusBadRequest && res.ContentLength == 0 {
		res.Body = io.NopCloser(strings.NewReader("\n")) // Ollama's client takes a refusal without a line for success
	}
	return res, nil
}

// unreachable is an ErrUnreachable with its cause in words. It stays true to
// errors.Is for a cancelled context.
func unreachable(u *url.URL, proxy string, err error) error {
	if errors.Is(err, ErrUnreachable) {
		return err
	}
	where := u.Host
	if proxy != "" {
		where += " through the proxy " + proxy
	}
	return &UnreachableError{where: where, cause: neterr.Explain(err)}
}

// UnreachableError is an ErrUnreachable with its cause in words.
type UnreachableError struct {
	// Start is the command that starts the server; "": unknown, or it runs on
	// another machine.
	Start string
	where string
	cause error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%v at %s: %s", ErrUnreachable, e.where, neterr.Says(e.cause))
}
func (e *UnreachableError) Unwrap() []error { return []error{ErrUnreachable, e.cause} }

// ThisMachine reports whether a request to u stays here.
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
