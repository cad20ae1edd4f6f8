package llm

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// placed says whether a model runs elsewhere.
type placed bool

func (p placed) RunsElsewhere() bool { return bool(p) }

func TestBytesSentToOtherMachinesAreCounted(t *testing.T) {
	fine := func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}}, nil
	}
	noDoor := func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	broken := func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for name, c := range map[string]struct {
		url    string
		remote bool // the local server runs the model on another machine
		base   tripper
		want   int64
	}{
		"to a local server":                      {"http://127.0.0.1:1/api/chat", false, fine, 0},
		"through a local server":                 {"http://127.0.0.1:1/api/chat", true, fine, 5},
		"to a remote server":                     {"https://example.org/v1", false, fine, 5},
		"to a server that never accepted":        {"https://example.org/v1", false, noDoor, 0},
		"to a server that closed the connection": {"https://example.org/v1", false, broken, 5},
		"nothing, to a remote server":            {"https://example.org/v1", false, fine, 0},
	} {
		tr := NewTransport(nil, placed(c.remote))
		tr.Base = c.base
		body := "12345"
		if strings.HasPrefix(name, "nothing") {
			body = ""
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if res, err := tr.RoundTrip(req); err == nil {
			res.Body.Close()
		}
		if got := tr.Sent.Load(); got != c.want {
			t.Errorf("%s: counted %d bytes, want %d", name, got, c.want)
		}
	}
}

// A redirect is not followed, which could send the prompt elsewhere; the error has the address without
// what may be a secret.
func TestRedirectIsAnError(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("http://u:secret@b:8000/login?key=secret", http.StatusFound))
	defer server.Close()
	res, err := NewTransport(nil, nil).Client().Get(server.URL)
	if err == nil {
		res.Body.Close()
	}
	if err = Explain(err); err == nil || !strings.Contains(err.Error(), "it redirects to http://b:8000/login, which") ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}
