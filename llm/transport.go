package llm

import (
	"errors"
	"fmt"
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

// connectTimeout is how long a model server may take to accept a connection.
const connectTimeout = 3 * time.Second

// transport is the way to one model server. It counts what leaves this
// machine, and refuses answers that a model server does not give.
type transport struct {
	base   http.RoundTripper
	remote func() bool // whether the model runs elsewhere though the server is here
	sent   atomic.Int64
}

func newTransport(remote func() bool) *transport {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return &transport{remote: remote, base: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
	}}
}

// client has no Timeout, which would cut long answers; deadlines are set by
// who streams. A redirect would carry the prompt to another server.
func (t *transport) client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		return &StatusError{Code: http.StatusFound, Message: fmt.Sprintf("it sends on to %s, which LifeHub does not follow: set that address instead", req.URL.Host)}
	}}
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	leaves := req.ContentLength > 0 && (!thisMachine(req.URL) || (t.remote != nil && t.remote()))
	res, err := t.base.RoundTrip(req)
	var op *net.OpError
	if leaves && (!errors.As(err, &op) || op.Op != "dial") { // it got further than the door
		t.sent.Add(req.ContentLength)
	}
	if err != nil {
		return nil, unreachable(req.URL, err)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/html" && res.StatusCode < 300 {
		res.Body.Close()
		return nil, &StatusError{Code: res.StatusCode, Message: "a web page, so " + req.URL.Host + " is not a model server"}
	}
	return res, nil
}

// unreachableError is an ErrUnreachable with its cause. It stays true to
// errors.Is for a cancelled context.
type unreachableError struct {
	host  string
	cause error
}

func unreachable(u *url.URL, err error) error {
	if errors.Is(err, ErrUnreachable) {
		return err
	}
	return &unreachableError{u.Host, err}
}

func (e *unreachableError) Error() string {
	why := e.cause
	var op *net.OpError
	if errors.As(why, &op) && op.Op == "dial" { // the address stands before it
		why = op.Err
	}
	var call *os.SyscallError
	if errors.As(why, &call) {
		why = call.Err
	}
	return fmt.Sprintf("%v at %s: %v", ErrUnreachable, e.host, why)
}
func (e *unreachableError) Unwrap() []error { return []error{ErrUnreachable, e.cause} }

// thisMachine tells whether a request to u stays here.
func thisMachine(u *url.URL) bool {
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
