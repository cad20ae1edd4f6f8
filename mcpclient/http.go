package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"

	"lifehub/mcpclient/config"
)

// dial connects to a server by HTTP. One whose transport was guessed is tried
// as SSE when its answer says that it is an old server.
func (s *server) dial(ctx, starting context.Context, entry config.Server) (*session, error) {
	session, err := s.dialAs(ctx, starting, entry)
	if entry.Guessed && errors.Is(err, transport.ErrLegacySSEServer) {
		entry.Transport = config.SSE
		return s.dialAs(ctx, starting, entry)
	}
	return session, err
}

func (s *server) dialAs(ctx, starting context.Context, entry config.Server) (*session, error) {
	web, err := newWeb(entry.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx) // for what the server asks
	bounded := web.Transport.(*bounded)
	wire := &wire{web: web, log: s.hub.Log, slots: make(chan struct{}, maxAnswering)}
	web.Transport = asking{bounded, func(question transport.JSONRPCRequest, on *http.Request) { wire.answer(ctx, question, on) }}
	if err := s.wireUp(wire, entry); err != nil {
		cancel()
		return nil, err
	}
	session := &session{ended: make(chan struct{}), odd: func() int64 { return 0 }}
	session.why = func() string { return "the connection to " + bounded.host + " was lost" }
	session.client = client.NewClient(wire, s.capabilities()...)
	session.client.OnConnectionLost(func(error) { session.lost() })
	session.close = func() {
		session.lost()
		cancel()
		done := make(chan struct{})
		go func() { // it says goodbye to the server, which may not listen; ends after 5 s
			defer close(done)
			_ = session.client.Close()
			bounded.CloseIdleConnections()
		}()
		select {
		case <-done:
		case <-time.After(graceful):
		}
	}
	if err := s.greet(ctx, starting, session); err != nil {
		err = s.explainHTTP(entry, session.explain(starting, err))
		session.close()
		return nil, err
	}
	return session, nil
}

// wireUp gives a wire the library's transport.
func (s *server) wireUp(w *wire, entry config.Server) error {
	if entry.Transport == config.SSE {
		sse, err := transport.NewSSE(entry.URL, transport.WithHTTPClient(w.web), transport.WithHeaders(entry.Headers),
			transport.WithSSELogger(s.hub.Log), transport.WithResponseTimeout(time.Hour)) // each call brings its own bound
		if err != nil {
			return err
		}
		w.HTTPConnection, w.replyTo = sse, func() string { return sse.GetEndpoint().String() }
		return nil
	}
	// Listening keeps to the protocol before 2026, in which servers may ask
	// and tell something beside their answers.
	listening := transport.WithContinuousListening() //lint:ignore SA1019 its successor is for servers of the newest protocol only
	options := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(w.web), transport.WithHTTPHeaders(entry.Headers),
		transport.WithHTTPLogger(s.hub.Log), listening,
	}
	if oauth, ok := s.passes(entry).oauth(); ok {
		options = append(options, transport.WithHTTPOAuth(oauth))
	}
	streamable, err := transport.NewStreamableHTTP(entry.URL, options...)
	if err != nil {
		return err
	}
	w.HTTPConnection, w.replyTo = streamable, func() string { return entry.URL }
	return nil
}

// explainHTTP says in words what the library's errors mean.
func (s *server) explainHTTP(entry config.Server, err error) error {
	if wantsToKnow(err) {
		if s.hub.Tokens != "" && entry.Transport == config.HTTP && entry.Headers["Authorization"] == "" {
			return fmt.Errorf("%w (/mcp in the chat, or lifehub mcp consent %s), or a token in headers, such as \"Authorization\": \"Bearer ${TOKEN}\"", errConsent, s.Name)
		}
		return errors.New("it wants to know who asks (401): put a token into headers, such as \"Authorization\": \"Bearer ${TOKEN}\"")
	}
	return err
}

// wantsToKnow tells whether a server asks who is there.
func wantsToKnow(err error) bool {
	return client.IsAuthorizationRequiredError(err) || client.IsOAuthAuthorizationRequiredError(err)
}

// newWeb is an HTTP client for one server: it goes to no other host, and
// takes no message longer than maxFrame.
func newWeb(address string) (*http.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	wires := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{
		Transport: &bounded{wires: wires, host: u.Host},
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
	response.Body = &messages{ReadCloser: response.Body, empty: true}
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
	said, err := io.ReadAll(io.LimitReader(response.Body, maxWords))
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

func (b *bounded) CloseIdleConnections() { b.wires.CloseIdleConnections() }

// errTooLong breaks off a message.
var errTooLong = fmt.Errorf("the answer is longer than %d MiB", maxFrame>>20)

// messages reads a body of messages with a blank line after each, or of one
// message, and breaks off one that is longer than maxFrame. It comes no faster
// than what a program writes to its stdout, and without a byte order mark.
type messages struct {
	io.ReadCloser
	in     *bufio.Reader // of the body; nil: nothing was read yet
	size   int           // of the message so far
	empty  bool          // the line so far is
	frames pace
	bytes  pace
}

func (m *messages) Read(p []byte) (int, error) {
	if m.in == nil {
		m.in = bufio.NewReader(m.ReadCloser)
		if mark, _ := m.in.Peek(3); string(mark) == "\ufeff" {
			_, _ = m.in.Discard(3)
		}
	}
	n, err := m.in.Read(p)
	m.frames.limit, m.bytes.limit = framesPerSecond, bytesPerSecond
	m.bytes.take(n)
	for _, c := range p[:n] {
		m.size++
		switch {
		case c == '\n' && m.empty:
			if m.size > 1 { // not one blank line after the other
				m.frames.take(1)
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
