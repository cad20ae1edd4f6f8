package openai

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"lifehub/llm"
)

// The advice fits the cause, and the proxy is named without its password.
func TestConnectionErrorAdviceFitsTheCause(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	// the server logs the rejected certificate
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	reset := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}))
	defer reset.Close()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer locked.Close()
	for name, c := range map[string]struct {
		address string
		proxy   string
		dial    error
		says    string // in the error
		advice  string // empty: only to start the server
	}{
		"an untrusted certificate": {address: secure.URL, says: "certificate", advice: "SSL_CERT_FILE"},
		"a server without TLS": {
			address: strings.Replace(plain.URL, "http:", "https:", 1),
			says:    "TLS", advice: "http://",
		},
		"a closed port": {address: gone.URL, says: "connection refused"},
		"a reset": {
			address: reset.URL, says: "closed the connection",
			advice: "check the address",
		},
		"an unknown name": {
			address: "http://gpu.invalid:8000",
			dial:    &net.DNSError{Err: "no such host", Name: "gpu.invalid", IsNotFound: true},
			says:    "gpu.invalid was not found", advice: "the spelling",
		},
		"an unreachable proxy": {
			address: "http://gpu.example:8000",
			proxy:   "http://me:secret@" + gone.Listener.Addr().String(),
			says:    "through the proxy http://me:xxxxx@", advice: "NO_PROXY",
		},
		"a proxy that requires sign-in": {
			address: "https://gpu.example:8000", proxy: locked.URL,
			says: "the proxy requires signing in (407", advice: "HTTPS_PROXY",
		},
		"a proxy that answers with 404": {
			address: "http://gpu.example:8000", proxy: plain.URL,
			says: "(404 Not Found): 404 page not found (through the proxy " + plain.URL + ")",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(llm.Settings{OpenAIURL: c.address, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			p.transport.Proxy = func(*http.Request) (*url.URL, error) {
				if c.proxy == "" {
					return nil, nil
				}
				return url.Parse(c.proxy)
			}
			if c.dial != nil {
				p.transport.Base.(*http.Transport).DialContext = func(context.Context, string,
					string,
				) (net.Conn, error) {
					return nil, &net.OpError{Op: "dial", Net: "tcp", Err: c.dial}
				}
			}
			res, err := p.send(t.Context(), http.MethodGet, "models", nil)
			if err == nil {
				res.Body.Close()
				t.Fatal("it was answered")
			}
			if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
				t.Errorf("it says %q, want %q", err, c.says)
			}
			var network *llm.Error
			if errors.As(err, &network) != errors.Is(err, llm.ErrUnreachable) {
				t.Errorf("%T", err)
			}
			if network != nil && (network.Refused != (c.advice == "") || !strings.Contains(network.Advice, c.advice)) {
				t.Errorf("the advice is %q, want %q", network.Advice, c.advice)
			}
		})
	}
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "0": 0, "-5": 0, "9999999999": 1 << 30 * time.Second, "soon": 0,
		"Tue, 31 Dec 2999 00:00:00 GMT": math.MaxInt64,
		"Sun, 22 Nov 2026 08:05:00 GMT": 5 * time.Minute, "Sun, 22 Nov 2026 07:00:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}
