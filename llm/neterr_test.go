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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
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
	var said []string
	for name, c := range map[string]struct {
		address string
		way     *http.Transport
		fault   error // replaces the error of the network
		cause   string
	}{
		"nobody listens": {address: gone.URL, cause: "connect"},
		"an unknown name": {address: "http://gpu.invalid", fault: &net.DNSError{
			Err:  "no such host",
			Name: "gpu.invalid", IsNotFound: true,
		}, cause: "no such host"},
		"no name server": {address: "http://gpu.invalid", fault: &net.DNSError{
			Err:  "server misbehaving",
			Name: "gpu.invalid", IsTemporary: true,
		}, cause: "misbehaving"},
		"a reset": {address: resets.URL, cause: "read"},
		"an end":  {address: ends.URL, cause: "EOF"},
		"silence": {
			address: silent.URL, way: &http.Transport{ResponseHeaderTimeout: time.Millisecond},
			cause: "timeout",
		},
		"a certificate": {address: secure.URL, cause: "unknown authority"},
		"another's":     {address: secure.URL, way: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusting.RootCAs, ServerName: "elsewhere.invalid"}}, cause: "elsewhere.invalid"},
		"an old one":    {address: secure.URL, way: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusting.RootCAs, Time: func() time.Time { return time.Now().AddDate(200, 0, 0) }}}, cause: "expired"},
		"no TLS":        {address: strings.Replace(plain.URL, "http:", "https:", 1), cause: "HTTPS client"},
		"a proxy is away": {
			address: "http://gpu.example", way: &http.Transport{Proxy: http.ProxyURL(dead)},
			cause: "proxyconnect",
		},
		"nobody knows": {address: plain.URL, fault: errors.New("it is not a public address")},
		"an inner address": {address: plain.URL, fault: &net.OpError{
			Op: "dial", Net: "tcp",
			Err: errors.New("it is not a public address"),
		}, cause: "dial tcp"},
		"it was given up":  {address: plain.URL, fault: context.Canceled},
		"expired in words": {address: plain.URL, fault: &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, cause: "expired"},
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
			said = append(said, name+": "+got.Error())
			if again := Explain(fmt.Errorf("fetch: %w", got)); again.Error() != "fetch: "+got.Error() {
				t.Errorf("twice: %q", again)
			}
			if cause := Cause(got); (c.cause == "") != (cause == "") || !strings.Contains(cause, c.cause) ||
				strings.Contains(cause, "secret") {
				t.Errorf("the cause is %q, want %q", cause, c.cause)
			}
			if request := (*url.Error)(nil); errors.As(raw, &request) && !errors.Is(got, request.Err) {
				t.Error("the cause is lost")
			}
		})
	}
	slices.Sort(said)
	golden.RequireEqual(t, strings.Join(said, "\n")+"\n")
}

type failingTripper func(*http.Request) (*http.Response, error)

func (f failingTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHTTPStatusesAreDescribed(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	for _, code := range []int{401, 403, 404, 407, 418, 429, 503, 599} {
		got := Status("the server", code, "<html>")
		if !strings.Contains(Cause(got), "<html>") {
			t.Errorf("%d: cause %q", code, Cause(got))
		}
		fmt.Fprintln(&said, got)
	}
	for _, wait := range []time.Duration{0, 61 * time.Second, time.Hour, 26 * time.Hour, 8 * 24 * time.Hour} {
		fmt.Fprintln(&said, &StatusError{Code: 429, Message: "busy", RetryAfter: wait})
	}
	golden.RequireEqual(t, said.String())
}

func TestSaysOmitsTheAdvice(t *testing.T) {
	t.Parallel()
	if whole, got := Explain(io.ErrUnexpectedEOF).Error(), Problem(io.ErrUnexpectedEOF); !strings.HasPrefix(whole,
		got+"; ") {
		t.Errorf("got %q of %q", got, whole)
	}
	if err := errors.New("other"); Problem(err) != "other" || Cause(err) != "" || Explain(nil) != nil {
		t.Error("another error is changed")
	}
}
