package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"lifehub/agent"
	"lifehub/internal/neterr"
	"lifehub/mcpclient/config"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// conn is an HTTP transport of the library with additions. Over SSE, the library
// treats requests from a server as responses, so they are never answered; over
// streamable HTTP, it allows 30 s for an answer, which is too short for a form;
// and over neither does it notify servers of the protocol before 2026 of
// cancelled calls. Therefore questionTap removes such requests from the streams
// before the library reads them, and conn answers them.
type conn struct {
	transport.HTTPConnection
	web     *http.Client
	bounded *bounded      // the HTTP transport below it
	replyTo func() string // returns the address for answers
	log     *slog.Logger
	version atomic.Value  // protocol version, a string
	handler atomic.Value  // handler of requests, a transport.RequestHandler
	slots   chan struct{} // holds one element for each request being answered
}

var _ transport.BidirectionalInterface = (*conn)(nil)

// maxAnswering bounds the concurrent requests of one server.
const maxAnswering = 64

// goodbye is how long a server may take to accept a notification.
const goodbye = 5 * time.Second

// replyTime is how long a server may take to accept an answer to its request.
const replyTime = 30 * time.Second

// dial connects to the server of an entry; consent may be nil. Requests from the
// server are answered until ctx ends.
func dial(ctx context.Context, entry config.Entry, consent *transport.OAuthConfig, log *slog.Logger) (*conn, error) {
	web, err := newWeb(entry.URL)
	if err != nil {
		return nil, err
	}
	w := &conn{web: web, bounded: web.Transport.(*bounded), log: log, slots: make(chan struct{}, maxAnswering)}
	web.Transport = questionTap{w.bounded, func(question transport.JSONRPCRequest, on *http.Request) { w.answer(ctx, question, on) }}
	if entry.Transport == config.SSE {
		sse, err := transport.NewSSE(entry.URL, transport.WithHTTPClient(web), transport.WithHeaders(entry.Headers),
			transport.WithSSELogger(log), transport.WithResponseTimeout(time.Hour)) // each call has its own timeout
		if err != nil {
			return nil, err
		}
		w.HTTPConnection, w.replyTo = sse, func() string { return sse.GetEndpoint().String() }
		return w, nil
	}
	// A standing stream is needed for the protocol before 2026, in which servers
	// send requests and notifications independently of responses.
	listening := transport.WithContinuousListening() //lint:ignore SA1019 its successor is for servers of the newest protocol only
	options := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(web), transport.WithHTTPHeaders(entry.Headers), transport.WithHTTPLogger(log), listening,
	}
	if consent != nil {
		options = append(options, transport.WithHTTPOAuth(*consent))
	}
	streamable, err := transport.NewStreamableHTTP(entry.URL, options...)
	if err != nil {
		return nil, err
	}
	w.HTTPConnection, w.replyTo = streamable, func() string { return entry.URL }
	return w, nil
}

// Host returns the host of the server.
func (w *conn) Host() string { return w.bounded.host }

func (w *conn) Close() error {
	defer w.bounded.wires.CloseIdleConnections()
	return w.HTTPConnection.Close()
}

func (w *conn) SetRequestHandler(handler transport.RequestHandler) { w.handler.Store(handler) }

func (w *conn) SetProtocolVersion(version string) {
	w.version.Store(version)
	w.HTTPConnection.SetProtocolVersion(version)
}

// SetConnectionLostHandler is supported over SSE only.
func (w *conn) SetConnectionLostHandler(lost func(error)) {
	if teller, ok := w.HTTPConnection.(*transport.SSE); ok {
		teller.SetConnectionLostHandler(lost)
	}
}

// RequiresLegacyProtocol reports whether the standing stream is in use.
func (w *conn) RequiresLegacyProtocol() bool {
	streamable, ok := w.HTTPConnection.(*transport.StreamableHTTP)
	return ok && streamable.RequiresLegacyProtocol()
}

// SendRequest sends a request, and notifies the server if ctx is cancelled before
// the response.
func (w *conn) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := w.HTTPConnection.SendRequest(ctx, request)
	if err != nil && ctx.Err() != nil && w.mayCallOff(request) {
		go agent.Safely(func() { // ends after goodbye
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
			defer cancel()
			var off mcp.JSONRPCNotification
			off.JSONRPC, off.Method = mcp.JSONRPC_VERSION, string(mcp.MethodNotificationCancelled)
			off.Params.AdditionalFields = map[string]any{"requestId": request.ID}
			if err := w.SendNotification(ctx, off); err != nil {
				w.log.Debug("cancel a request", "err", err)
			}
		})
	}
	if err == nil && response.Error == nil && fmt.Sprint(response.ID.Value()) != fmt.Sprint(request.ID.Value()) {
		return nil, errors.New("the response has another request's ID")
	}
	return repair(request.Method, response), err
}

// mayCallOff reports whether a request is cancelled with a notification: not the
// handshake, not a task, and not in newer protocols, in which the end of the
// stream cancels it.
func (w *conn) mayCallOff(request transport.JSONRPCRequest) bool {
	version, _ := w.version.Load().(string)
	call, _ := request.Params.(mcp.CallToolParams)
	return version != "" && !mcp.IsModernProtocol(version) && call.Task == nil
}

// answer answers a request from the server. It returns immediately; ctx ends the
// answering.
func (w *conn) answer(ctx context.Context, question transport.JSONRPCRequest, on *http.Request) {
	select {
	case w.slots <- struct{}{}:
	default:
		w.log.Warn("request dropped: too many at once", "method", question.Method)
		return
	}
	go agent.Safely(func() {
		defer func() { <-w.slots }()
		if err := w.post(ctx, w.reply(ctx, question), on); err != nil {
			w.log.Warn("answer a server's request", "method", question.Method, "err", err)
		}
	})
}

// reply returns the client's answer, which may be an error.
func (w *conn) reply(ctx context.Context, question transport.JSONRPCRequest) (reply *transport.JSONRPCResponse) {
	refusal := func(code int, err error) *transport.JSONRPCResponse {
		return transport.NewJSONRPCErrorResponse(question.ID, code, err.Error(), nil)
	}
	defer func() {
		if fault := recover(); fault != nil {
			reply = refusal(mcp.INTERNAL_ERROR, fmt.Errorf("internal error: %v", fault))
		}
	}()
	handle, _ := w.handler.Load().(transport.RequestHandler)
	if handle == nil {
		return refusal(mcp.METHOD_NOT_FOUND, errors.New("not ready for requests"))
	}
	reply, err := handle(ctx, question)
	if err != nil {
		return refusal(mcp.INTERNAL_ERROR, err)
	}
	return reply
}

// post sends a reply with the headers of the request on whose stream the question
// arrived, which identify the session.
func (w *conn) post(ctx context.Context, reply *transport.JSONRPCResponse, on *http.Request) error {
	body, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, replyTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.replyTo(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = on.Header.Clone()
	request.Header.Del("Last-Event-ID")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := w.web.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return neterr.Status("the server", response.StatusCode, "")
	}
	return nil
}

// questionTap removes requests from servers from incoming streams.
type questionTap struct {
	http.RoundTripper
	receive func(question transport.JSONRPCRequest, on *http.Request) // must not block
}

func (a questionTap) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		response.Body = &questionFilter{
			ReadCloser: response.Body, in: bufio.NewReader(response.Body),
			receive: func(question transport.JSONRPCRequest) { a.receive(question, request) },
		}
	}
	return response, nil
}

// questionFilter is an event stream in which each request from the server is
// replaced by a notification without effect. The event keeps its ID, from which
// an interrupted stream is resumed.
type questionFilter struct {
	io.ReadCloser
	in      *bufio.Reader
	receive func(transport.JSONRPCRequest)
	ready   []byte // rest of the current event
	err     error
}

func (s *questionFilter) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.ready, s.err = s.event()
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// placeholder replaces a request in the stream.
const placeholder = ` {"jsonrpc":"2.0","method":"notifications/lifehub/asked"}`

// event reads an event including the blank line that ends it; the reader below
// bounds its length. It joins the lines of its data, because the library copies
// everything for each line. An interrupted stream is reported as ended, without
// its incomplete last event, so that the library resumes it.
func (s *questionFilter) event() ([]byte, error) {
	var data, rest []byte
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			if errors.Is(err, errTooLong) {
				return nil, err
			}
			return nil, io.EOF
		}
		if payload, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, ' '), bytes.TrimSpace(payload)...)
		} else {
			rest = append(rest, line...)
		}
		if err == nil && len(bytes.TrimRight(line, "\r\n")) > 0 {
			continue
		}
		if question, ok := questionIn(data); ok && err == nil {
			s.receive(question)
			data = []byte(placeholder)
		}
		if data == nil {
			return rest, err
		}
		return slices.Concat([]byte("data:"), data, []byte("\n"), rest), err
	}
}

// questionIn reports whether data is a request. Responses have no method, and
// notifications no ID.
func questionIn(data []byte) (question transport.JSONRPCRequest, ok bool) {
	if !bytes.Contains(data, []byte(`"method"`)) || json.Unmarshal(data, &question) != nil {
		return question, false
	}
	return question, question.Method != "" && !question.ID.IsNil()
}
