package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// newWeb returns an HTTP client for one server, which rejects requests to other
// hosts and messages longer than maxFrame.
func newWeb(address string) (*http.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: &bounded{wires: http.DefaultTransport.(*http.Transport).Clone(), host: u.Host},
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errors.New("redirected more than 5 times")
			}
			if via[0].URL.Scheme == "https" && request.URL.Scheme != "https" {
				return errors.New("redirected from https to http")
			}
			return nil
		},
	}, nil
}

// bounded restricts requests to one host and limits responses.
type bounded struct {
	wires *http.Transport
	host  string
}

func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host != b.host {
		return nil, fmt.Errorf("redirected to another host, %s", request.URL.Host)
	}
	response, err := b.wires.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = &boundedBody{ReadCloser: response.Body, empty: true}
	if response.StatusCode == http.StatusBadRequest && request.Header.Get(sessionHeader) != "" {
		return unknownSession(response)
	}
	return response, nil
}

// sessionHeader identifies the session of a request.
const sessionHeader = "Mcp-Session-Id"

// unknownSession converts a 400 to a 404 if it means that the session is unknown.
// Many servers send 400 after a restart, where the protocol requires 404.
func unknownSession(response *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxWords))
	if err != nil {
		return nil, err
	}
	if bytes.Contains(bytes.ToLower(body), []byte("session")) {
		response.StatusCode, response.Status = http.StatusNotFound, "404 Not Found"
	}
	response.Body = readCloser{io.MultiReader(bytes.NewReader(body), response.Body), response.Body}
	return response, nil
}

// readCloser reads from one source and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

// errTooLong ends a message longer than maxFrame.
var errTooLong = fmt.Errorf("the response is longer than %d MiB", maxFrame>>20)

// boundedBody reads a body that is one message, or several separated by blank
// lines, and fails on a message longer than maxFrame. It is throttled like the
// stdout of a program, and drops a byte order mark.
type boundedBody struct {
	io.ReadCloser
	in     *bufio.Reader // the body; nil before the first read
	size   int           // bytes of the current message
	empty  bool          // the current line is empty so far
	frames pace
	bytes  pace
}

func (m *boundedBody) Read(p []byte) (int, error) {
	if m.in == nil {
		m.in = bufio.NewReader(m.ReadCloser)
		if mark, _ := m.in.Peek(3); string(mark) == "\ufeff" {
			_, _ = m.in.Discard(3)
		}
	}
	n, err := m.in.Read(p)
	m.bytes.take(n, bytesPerSecond)
	for _, c := range p[:n] {
		m.size++
		switch {
		case c == '\n' && m.empty:
			if m.size > 1 { // ignore repeated blank lines
				m.frames.take(1, framesPerSecond)
			}
			m.size = 0
		case c == '\n':
			m.empty = true
		case c != '\r':
			m.empty = false
		}
		if m.size > maxFrame {
			return 0, errTooLong
		}
	}
	return n, err
}
