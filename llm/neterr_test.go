package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Each failure of a real request is described by what is wrong and what to do.
// The system's own text is only in the cause.
func TestNetworkErrorsAreDescribed(t *testing.T) {
	t.Parallel()
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	breaks := func(linger int) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.(*net.TCPConn).SetLinger(linger)
			conn.Close()
		}))
	}
	resets, ends := breaks(0), breaks(-1)
	defer resets.Close()
	defer ends.Close()
	leave := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-leave }))
	defer silent.Close()
	defer close(leave)
	dead, err := url.Parse("http://me:secret@" + gone.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	trusting := secure.Client().Transport.(*http.Transport).TLSClientConfig
	for name, c := range map[string]struct {
		address string
		way     *http.Transport
		fault   error // replaces the error of the network
		says    string
		cause   string
	}{
		"nobody listens":   {address: gone.URL, says: "connection refused; check the address, and that it is running", cause: "connect"},
		"an unknown name":  {address: "http://gpu.invalid", fault: &net.DNSError{Err: "no such host", Name: "gpu.invalid", IsNotFound: true}, says: "the host gpu.invalid was not found; check that this machine is online, and the spelling", cause: "no such host"},
		"no name server":   {address: "http://gpu.invalid", fault: &net.DNSError{Err: "server misbehaving", Name: "gpu.invalid", IsTemporary: true}, says: "the host gpu.invalid was not found; check that this machine is online, and the spelling", cause: "misbehaving"},
		"a reset":          {address: resets.URL, says: "the server closed the connection; try again, or check the address", cause: "read"},
		"an end":           {address: ends.URL, says: "the server closed the connection; try again, or check the address", cause: "EOF"},
		"silence":          {address: silent.URL, way: &http.Transport{ResponseHeaderTimeout: time.Millisecond}, says: "the server did not answer in time; try again later, or check the address", cause: "timeout"},
		"a certificate":    {address: secure.URL, says: "the server's certificate is not accepted; check the host and the date of this machine; SSL_CERT_FILE names a file of further certificates", cause: "unknown authority"},
		"another's":        {address: secure.URL, way: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusting.RootCAs, ServerName: "elsewhere.invalid"}}, says: "the server's certificate is not accepted; check the host and the date of this machine; SSL_CERT_FILE names a file of further certificates", cause: "elsewhere.invalid"},
		"an old one":       {address: secure.URL, way: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusting.RootCAs, Time: func() time.Time { return time.Now().AddDate(200, 0, 0) }}}, says: "the server's certificate is not accepted; check the host and the date of this machine; SSL_CERT_FILE names a file of further certificates", cause: "expired"},
		"no TLS":           {address: strings.Replace(plain.URL, "http:", "https:", 1), says: "the server does not use TLS at this address; write it with http://, or use its TLS port", cause: "HTTPS client"},
		"a proxy is away":  {address: "http://gpu.example", way: &http.Transport{Proxy: http.ProxyURL(dead)}, says: "the proxy cannot be reached; correct it in HTTPS_PROXY or HTTP_PROXY, or list the server's host in NO_PROXY", cause: "proxyconnect"},
		"nobody knows":     {address: plain.URL, fault: errors.New("it is not a public address"), says: "it is not a public address"},
		"an inner address": {address: plain.URL, fault: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("it is not a public address")}, says: "it is not a public address", cause: "dial tcp"},
		"it was given up":  {address: plain.URL, fault: context.Canceled, says: "context canceled"},
		"expired in words": {address: plain.URL, fault: &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, says: "the server's certificate is not accepted; check the host and the date of this machine; SSL_CERT_FILE names a file of further certificates", cause: "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.address+"/?key=secret", nil)
			if err != nil {
				t.Fatal(err)
			}
			way := http.RoundTripper(http.DefaultTransport)
			if c.way != nil {
				way = c.way
			}
			if c.fault != nil {
				way = failingTripper(func(*http.Request) (*http.Response, error) { return nil, c.fault })
			}
			response, raw := (&http.Client{Transport: way}).Do(request)
			if raw == nil {
				response.Body.Close()
				t.Fatal("it did not fail")
			}
			got := Explain(raw)
			if got.Error() != c.says {
				t.Errorf("%v\nsays %q\nwant %q", raw, got, c.says)
			}
			if again := Explain(fmt.Errorf("fetch: %w", got)); again.Error() != "fetch: "+c.says {
				t.Errorf("twice: %q", again)
			}
			if cause := Cause(got); (c.cause == "") != (cause == "") || !strings.Contains(cause, c.cause) || strings.Contains(cause, "secret") {
				t.Errorf("the cause is %q, want %q", cause, c.cause)
			}
			if request := (*url.Error)(nil); errors.As(raw, &request) && !errors.Is(got, request.Err) {
				t.Error("the cause is lost")
			}
		})
	}
}

type failingTripper func(*http.Request) (*http.Response, error)

func (f failingTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHTTPStatusesAreDescribed(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		401: "the server requires signing in (401 Unauthorized)",
		403: "the server refuses access (403 Forbidden)",
		404: "the server has nothing at this address (404 Not Found)",
		407: "the server requires signing in (407 Proxy Authentication Required); put the user name and password into HTTPS_PROXY or HTTP_PROXY",
		418: "the server answered 418 I'm a teapot",
		429: "the server was asked too often (429 Too Many Requests); try again later",
		503: "the server has a problem (503 Service Unavailable); try again later",
		599: "the server has a problem (599); try again later",
	} {
		if got := Status("the server", code, "<html>"); got.Error() != want || !strings.Contains(Cause(got), "<html>") {
			t.Errorf("%d: %q, want %q; cause %q", code, got, want, Cause(got))
		}
	}
}

func TestSaysOmitsTheAdvice(t *testing.T) {
	t.Parallel()
	if got := Problem(io.ErrUnexpectedEOF); got != "the server closed the connection" {
		t.Errorf("got %q", got)
	}
	if err := errors.New("other"); Problem(err) != "other" || Cause(err) != "" || Explain(nil) != nil {
		t.Error("another error is changed")
	}
}
