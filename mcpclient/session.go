package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/mcpclient/config"
)

// discoverTimeout bounds the wait for a server to report that it needs no
// handshake. Servers that ignore the request cause this delay.
const discoverTimeout = 2 * time.Second

// session is an established connection to a server.
type session struct {
	client       *client.Client
	about        mcp.Implementation
	instructions string        // for models; they are compared with what was reviewed, but not passed on
	ended        chan struct{} // closed when the connection is lost
	link         link
	once         sync.Once
}

// link is what a session runs over.
type link interface {
	why(s *session) string // how the session ended; valid after its end
	close(s *session)      // ends the session, and returns when no process is left
}

// lost records the loss of the connection.
func (s *session) lost() { s.once.Do(func() { close(s.ended) }) }

// over reports whether the connection is lost.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// connect starts a server and performs the handshake. ctx applies to the server's
// whole life, starting to the start.
func (s *supervisor) connect(ctx, starting context.Context, entry config.Entry) (*session, error) {
	if entry.Transport != config.Stdio {
		return s.dial(ctx, starting, entry)
	}
	session, err := s.spawn(entry)
	if err != nil {
		return nil, err
	}
	if err := s.greet(ctx, starting, session); err != nil {
		err = session.explain(starting, err)
		session.link.close(session)
		return nil, err
	}
	return session, nil
}

// spawn starts a server's program and connects it to a client.
func (s *supervisor) spawn(entry config.Entry) (*session, error) {
	fromServer, toClient := io.Pipe()
	child := &child{output: toClient, stderr: s.stderr}
	session := &session{ended: make(chan struct{}), link: child}
	running, err := startProcess(entry, s.folder(entry), func(stdout io.Reader) {
		defer session.lost()
		defer toClient.Close()
		defer s.catch(nil)
		child.fault = relay(toClient, &limited{in: stdout, ends: 1})
	}, func(stderr io.Reader) { _, _ = io.Copy(s.stderr, &throttled{in: stderr}) })
	if err != nil {
		return nil, startError(entry, err)
	}
	session.client = client.NewClient(verbatim{transport.NewIO(fromServer, endless{running.Input}, nil), session.ended},
		s.capabilities()...)
	child.process = running
	return session, nil
}

// child is the link to a program that LifeHub started.
type child struct {
	process *process
	output  *io.PipeWriter
	stderr  *tail
	fault   error // of its output; valid after the session's end
}

func (c *child) close(s *session) {
	_ = s.client.Close()
	_ = c.output.Close() // ends the reader and unblocks writers
	c.process.Close()
	s.lost()
}

func (c *child) why(s *session) string {
	if <-s.ended; errors.Is(c.fault, errTooLong) {
		return errTooLong.Error()
	}
	select {
	case <-c.process.Exited:
	case <-time.After(graceful):
		return "it closed its output"
	}
	return withLastWords(c.process.Ending(), c.stderr.Last())
}

// startError explains why a program could not be started.
func startError(entry config.Entry, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w %q in PATH", errNoProgram, entry.Command)
	case errors.Is(err, fs.ErrNotExist):
		// the missing file may be the working directory instead
		if _, err := os.Stat(entry.Command); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w %s", errNoProgram, entry.Command)
		}
	}
	return fmt.Errorf("start %s: %w", entry.Command, err)
}

// errNoProgram is an error for which retrying is useless.
var errNoProgram = errors.New("no such program")

func withLastWords(ending, last string) string {
	if last == "" {
		return ending
	}
	return ending + "; its last output: " + last
}

// endless is the input of a process, which is closed by the process and not by
// the library.
type endless struct{ io.Writer }

func (endless) Close() error { return nil }

// notified handles a notification of a server. It runs on the reader's goroutine,
// so it must neither block nor call the client.
func (s *supervisor) notified(n mcp.JSONRPCNotification) {
	defer s.catch(nil)
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged,
		mcp.MethodNotificationPromptsListChanged:
		s.touch()
	case "notifications/progress":
		s.progress.took(n.Params.AdditionalFields)
	case string(mcp.MethodNotificationMessage):
		s.log(n.Params.AdditionalFields)
	}
}

// log appends a log message of the protocol to the server's stderr log.
func (s *supervisor) log(fields map[string]any) {
	text, ok := fields["data"].(string)
	if !ok {
		raw, _ := json.Marshal(fields["data"]) // always encodable, as it was decoded from JSON
		text = string(raw)
	}
	_, _ = fmt.Fprintf(s.stderr, "[%v] %s\n", fields["level"], text)
}

// greet performs the handshake and subscribes to changes.
func (s *supervisor) greet(ctx, starting context.Context, session *session) error {
	session.client.OnNotification(s.notified)
	if err := session.client.Start(ctx); err != nil {
		return err
	}
	var request mcp.InitializeRequest
	request.Params.ClientInfo = mcp.Implementation{Name: "lifehub", Version: s.hub.Version}
	result, err := session.client.Initialize(starting, request)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	session.client.GetTransport().(verbatim).negotiated(result.ProtocolVersion)
	session.about, session.instructions = result.ServerInfo, result.Instructions
	if s.Entry.LogLevel != "" && session.client.GetServerCapabilities().Logging != nil {
		var level mcp.SetLevelRequest
		level.Params.Level = mcp.LoggingLevel(s.Entry.LogLevel)
		//lint:ignore SA1019 the only method for servers of the protocol before 2026
		if err := session.client.SetLevel(starting, level); err != nil {
			s.hub.Log.Warn("set the log level", "server", s.Entry.Name, "err", err)
		}
	}
	return nil
}

// explain converts an error of the library to one that describes the cause: ctx's
// cause, the end of the server, or its error message, truncated.
func (s *session) explain(ctx context.Context, err error) error {
	if errors.Is(err, transport.ErrTransportClosed) {
		return errors.New(s.link.why(s))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var wrapped *transport.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	err = inWords(err)
	if words := err.Error(); len(words) > maxWords {
		return errors.New(text.Cut(words, maxWords))
	}
	return err
}

// brokenOff is the library's error for a stream that ended without a response.
const brokenOff = "unexpected nil response"

// maxWords bounds the text of a server's error, in bytes.
const maxWords = 4 << 10

// inWords describes an error of the library without Go types and internal names.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if err = llm.Explain(err); err == nil {
		return nil
	}
	for _, library := range []string{
		"request failed with status %d: ", "notification failed with status %d: ",
		"unexpected status code: %d", "unexpected status %d",
	} {
		var code int
		if n, _ := fmt.Sscanf(err.Error(), library, &code); n == 1 {
			return llm.Status("the server", code, text.Cut(err.Error(), maxWords))
		}
	}
	switch {
	case err.Error() == brokenOff:
		return fmt.Errorf("the response was cut off or longer than %d MiB", maxFrame>>20)
	case !errors.As(err, &wrong):
		return err
	}
	what := cmp.Or(wrong.Field, "the result")
	return fmt.Errorf("invalid response: %s has type %q", strings.ToLower(what[:1])+what[1:], wrong.Value)
}

// ask sends a request to a running server, with the timeout of one call. It
// retries once if the session had expired.
func ask[T any](ctx context.Context, s *supervisor, question func(context.Context,
	*client.Client) (T, error),
) (T, error) {
	var none T
	asking, done, err := s.clock.limit(ctx, s.Entry.Timeout,
		fmt.Errorf("no answer within %v; the call was cancelled; outcome unknown", s.Entry.Timeout))
	if err != nil {
		return none, agent.NothingDone{Err: fmt.Errorf("MCP server %s: %w", s.Entry.Name, err)}
	}
	defer done()
	for again := false; ; again = true {
		session, err := s.ready(asking)
		if err != nil {
			return none, agent.NothingDone{Err: fmt.Errorf("MCP server %s: %w", s.Entry.Name, err)}
		}
		answer, err := question(asking, session.client)
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return none, ctx.Err()
		case errors.Is(err, transport.ErrTransportClosed):
			return none, fmt.Errorf("MCP server %s ended during the call, whose effects are unknown: %s", s.Entry.Name,
				session.link.why(session))
		}
		if s.Entry.Transport != config.Stdio && asking.Err() == nil && s.lostBy(err) {
			session.lost()
			if errors.Is(err, transport.ErrSessionTerminated) && !again {
				continue // the session had expired, so the call was not executed
			}
		}
		err = session.explain(asking, err)
		if s.Entry.Transport != config.Stdio {
			err = s.explainHTTP(s.Entry, err)
		}
		return none, fmt.Errorf("MCP server %s: %w", s.Entry.Name, err)
	}
}

// lostBy reports whether a transport error means that an HTTP session is over.
// Over streamable HTTP, error responses do not, except for authentication errors:
// the server may be overloaded, or have failed on this call only.
func (s *supervisor) lostBy(err error) bool {
	var below *transport.Error
	var web *url.Error
	if s.Entry.Transport == config.SSE {
		return errors.As(err, &below)
	}
	return errors.Is(err, transport.ErrSessionTerminated) || errors.As(err, &web) || wantsToKnow(err)
}
