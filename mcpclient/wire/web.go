package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// newWeb is an HTTP client for one server: it goes to no other host, and
// takes no message longer than maxFrame.
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

// bounded keeps to one host and bounds what is read.
type bounded struct {
	wires *http.Transport
	host  string
}

func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host != b.host {
		return nil, fmt.Errorf("it leads to another host, %s", request.URL.Host)
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

// sessionHeader names the session that a request is part of.
const sessionHeader = "Mcp-Session-Id"

// unknownSession makes 404, as the protocol has it, of the 400 with which many
// servers tell that they do not know a session, most after they were restarted.
func unknownSession(response *http.Response) (*http.Response, error) {
	said, err := io.ReadAll(io.LimitReader(response.Body, MaxWords))
	if err != nil {
		return nil, err
	}
	if bytes.Contains(bytes.ToLower(said), []byte("session")) {
		response.StatusCode, response.Status = http.StatusNotFound, "404 Not Found"
	}
	response.Body = readCloser{io.MultiReader(bytes.NewReader(said), response.Body), response.Body}
	return response, nil
}

// readCloser reads from one place and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

// errTooLong breaks off a message.
var errTooLong = fmt.Errorf("the answer is longer than %d MiB", maxFrame>>20)

// boundedBody reads a body of messages with a blank line after each, or of one
// message, and breaks off one that is longer than maxFrame. It comes no faster
// than what a program writes to its stdout, and without a byte order mark.
type boundedBody struct {
	io.ReadCloser
	in     *bufio.Reader // of the body; nil: nothing was read yet
	size   int           // of the message so far
	empty  bool          // the line so far is
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
			if m.size > 1 { // not one blank line after the other
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
