// Package wire speaks to MCP servers through the library, with what that
// lacks: it bounds and paces what comes in, makes odd answers fit, and answers
// questions. Start at [Dial] for HTTP and at [Frames] for pipes.
package wire

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

// Conn is one of the library's transports by HTTP with what that lacks. Over
// SSE the library takes what a server asks for an answer, so that nobody
// replies; over streamable HTTP it gives a reply 30 s, which is little for a
// form; and over neither does it tell a server of the protocol before 2026
// that a call was called off. So questions are taken out of the streams before
// the library reads them (see strained), and are answered here.
type Conn struct {
	transport.HTTPConnection
	web     *http.Client
	bounded *bounded      // below it
	replyTo func() string // the address
	log     *slog.Logger
	version atomic.Value  // of the protocol, a string
	handler atomic.Value  // of questions, a transport.RequestHandler
	slots   chan struct{} // holds one for each question that is being answered
}

var _ transport.BidirectionalInterface = (*Conn)(nil)

// maxAnswering bounds the questions of one server that are answered at once.
const maxAnswering = 64

// Goodbye is how long a server has to take a notification.
const Goodbye = 5 * time.Second

// replyTime is how long a server may take to take the answer to its question.
const replyTime = 30 * time.Second

// Dial makes a connection as the entry says, with what the server's consent
// has brought; nil: nothing. The answering of its questions ends with ctx.
func Dial(ctx context.Context, entry config.Entry, consent *transport.OAuthConfig, log *slog.Logger) (*Conn, error) {
	web, err := newWeb(entry.URL)
	if err != nil {
		return nil, err
	}
	w := &Conn{web: web, bounded: web.Transport.(*bounded), log: log, slots: make(chan struct{}, maxAnswering)}
	web.Transport = questionTap{w.bounded, func(question transport.JSONRPCRequest, on *http.Request) { w.answer(ctx, question, on) }}
	if entry.Transport == config.SSE {
		sse, err := transport.NewSSE(entry.URL, transport.WithHTTPClient(web), transport.WithHeaders(entry.Headers),
			transport.WithSSELogger(log), transport.WithResponseTimeout(time.Hour)) // each call brings its own bound
		if err != nil {
			return nil, err
		}
		w.HTTPConnection, w.replyTo = sse, func() string { return sse.GetEndpoint().String() }
		return w, nil
	}
	// Listening keeps to the protocol before 2026, in which servers may ask
	// and tell something in addition to their answers.
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

// Host is who is spoken to.
func (w *Conn) Host() string { return w.bounded.host }

func (w *Conn) Close() error {
	defer w.bounded.wires.CloseIdleConnections()
	return w.HTTPConnection.Close()
}

func (w *Conn) SetRequestHandler(handler transport.RequestHandler) { w.handler.Store(handler) }

func (w *Conn) SetProtocolVersion(version string) {
	w.version.Store(version)
	w.HTTPConnection.SetProtocolVersion(version)
}

// SetConnectionLostHandler hands on what only SSE can tell.
func (w *Conn) SetConnectionLostHandler(lost func(error)) {
	if teller, ok := w.HTTPConnection.(*transport.SSE); ok {
		teller.SetConnectionLostHandler(lost)
	}
}

// RequiresLegacyProtocol is asked of streamable HTTP, which listens.
func (w *Conn) RequiresLegacyProtocol() bool {
	streamable, ok := w.HTTPConnection.(*transport.StreamableHTTP)
	return ok && streamable.RequiresLegacyProtocol()
}

// SendRequest tells the server when nobody waits for the answer any more.
func (w *Conn) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := w.HTTPConnection.SendRequest(ctx, request)
	if err != nil && ctx.Err() != nil && w.mayCallOff(request) {
		go agent.Safely(func() { // ends after goodbye
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Goodbye)
			defer cancel()
			var off mcp.JSONRPCNotification
			off.JSONRPC, off.Method = mcp.JSONRPC_VERSION, string(mcp.MethodNotificationCancelled)
			off.Params.AdditionalFields = map[string]any{"requestId": request.ID}
			if err := w.SendNotification(ctx, off); err != nil {
				w.log.Debug("call off a request", "err", err)
			}
		})
	}
	if err == nil && response.Error == nil && fmt.Sprint(response.ID.Value()) != fmt.Sprint(request.ID.Value()) {
		return nil, errors.New("it answers another question than was asked")
	}
	return repair(request.Method, response), err
}

// mayCallOff reports whether a request is called off by a notification: not the
// handshake, not a task, and not where the end of its stream says so.
func (w *Conn) mayCallOff(request transport.JSONRPCRequest) bool {
	version, _ := w.version.Load().(string)
	call, _ := request.Params.(mcp.CallToolParams)
	return version != "" && !mcp.IsModernProtocol(version) && call.Task == nil
}

// answer answers a question that came along with the response to a request.
// It returns at once; the answering ends with ctx.
func (w *Conn) answer(ctx context.Context, question transport.JSONRPCRequest, on *http.Request) {
	select {
	case w.slots <- struct{}{}:
	default:
		w.log.Warn("a question is left unanswered: there are too many at once", "method", question.Method)
		return
	}
	go agent.Safely(func() {
		defer func() { <-w.slots }()
		if err := w.post(ctx, w.reply(ctx, question), on); err != nil {
			w.log.Warn("answer a server's question", "method", question.Method, "err", err)
		}
	})
}

// reply is the answer of the client, an error if need be.
func (w *Conn) reply(ctx context.Context, question transport.JSONRPCRequest) (reply *transport.JSONRPCResponse) {
	refusal := func(code int, err error) *transport.JSONRPCResponse {
		return transport.NewJSONRPCErrorResponse(question.ID, code, err.Error(), nil)
	}
	defer func() {
		if fault := recover(); fault != nil {
			reply = refusal(mcp.INTERNAL_ERROR, fmt.Errorf("LifeHub failed on it: %v", fault))
		}
	}()
	handle, _ := w.handler.Load().(transport.RequestHandler)
	if handle == nil {
		return refusal(mcp.METHOD_NOT_FOUND, errors.New("nobody can be asked yet"))
	}
	reply, err := handle(ctx, question)
	if err != nil {
		return refusal(mcp.INTERNAL_ERROR, err)
	}
	return reply
}

// post sends a reply with the headers of the request on whose stream the
// question came: they name the session.
func (w *Conn) post(ctx context.Context, reply *transport.JSONRPCResponse, on *http.Request) error {
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

// questionTap takes the questions out of the streams that come in.
type questionTap struct {
	http.RoundTripper
	asked func(question transport.JSONRPCRequest, on *http.Request) // does not wait
}

func (a questionTap) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.RoundTripper.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		response.Body = &questionFilter{
			ReadCloser: response.Body, in: bufio.NewReader(response.Body),
			asked: func(question transport.JSONRPCRequest) { a.asked(question, request) },
		}
	}
	return response, nil
}

// questionFilter is a stream of events in which a notification that means nothing
// stands instead of each question. The event's id stays, for that is
// where the stream is taken up again when it breaks off.
type questionFilter struct {
	io.ReadCloser
	in    *bufio.Reader
	asked func(transport.JSONRPCRequest)
	ready []byte // of an event that was looked at
	err   error
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

// placeholder is what stands instead of a question.
const placeholder = ` {"jsonrpc":"2.0","method":"notifications/lifehub/asked"}`

// event reads an event with the blank line that ends it. What is below bounds
// its length. The lines of its data become one: the library would copy what it
// has for each. A stream that breaks off is told as one that has ended, without
// what has come of the last event: then the library takes it up again.
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
		if said, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, ' '), bytes.TrimSpace(said)...)
		} else {
			rest = append(rest, line...)
		}
		if err == nil && len(bytes.TrimRight(line, "\r\n")) > 0 {
			continue
		}
		if question, ok := questionIn(data); ok && err == nil {
			s.asked(question)
			data = []byte(placeholder)
		}
		if data == nil {
			return rest, err
		}
		return slices.Concat([]byte("data:"), data, []byte("\n"), rest), err
	}
}

// questionIn tells a question from an answer, which names no method, and from
// a notification, which has no id.
func questionIn(data []byte) (question transport.JSONRPCRequest, ok bool) {
	if !bytes.Contains(data, []byte(`"method"`)) || json.Unmarshal(data, &question) != nil {
		return question, false
	}
	return question, question.Method != "" && !question.ID.IsNil()
}
