package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/mcpclient/config"
	"lifehub/mcpclient/wire"
)

// discoverTimeout is how long a server that is new enough to need no
// handshake has to say so. One that ignores the question costs this much.
const discoverTimeout = 2 * time.Second

// session is a connection to a server that has introduced itself.
type session struct {
	client       *client.Client
	about        mcp.Implementation
	instructions string        // of the server, for models; they are pinned and not passed on
	ended        chan struct{} // closed when the connection is gone
	why          func() string // how it ended; after ended
	close        func()        // ends it, and returns when nothing of it is left
	odd          func() int64  // lines of its output that were no messages
	complaint    func() string // the same in words, with the first of them; nil: none can be
	once         sync.Once
}

// lost takes note that the connection is gone.
func (s *session) lost() { s.once.Do(func() { close(s.ended) }) }

// over reports whether the connection is gone.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// connect starts a server and shakes hands. ctx is for its whole life,
// starting for the start.
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
		session.close()
		if odd := session.complaint(); odd != "" {
			err = fmt.Errorf("%w; %s", err, odd)
		}
		return nil, err
	}
	return session, nil
}

// spawn starts a server's program and wires it to a client.
func (s *supervisor) spawn(entry config.Entry) (*session, error) {
	var frames wire.Frames
	fromServer, toClient := io.Pipe()
	session := &session{ended: make(chan struct{}), odd: frames.Garbage.Load, complaint: frames.Complaint}
	running, err := startProcess(entry, s.folder(entry), func(stdout io.Reader) {
		defer session.lost()
		defer toClient.Close()
		defer s.catch(nil)
		if err := frames.Copy(toClient, stdout); err != nil {
			s.hub.Log.Debug("read stdout", "server", s.Entry.Name, "err", err)
		}
	}, func(stderr io.Reader) { _, _ = io.Copy(s.stderr, &wire.Throttled{Reader: stderr}) })
	if err != nil {
		return nil, startError(entry, err)
	}
	session.client = client.NewClient(wire.Repairing{Stdio: transport.NewIO(fromServer, endless{running.Input}, nil)}, s.capabilities()...)
	session.close = func() {
		_ = session.client.Close()
		_ = toClient.Close() // the reader comes to its end, and no writer waits for it
		running.Close()
		session.lost()
	}
	session.why = func() string {
		select {
		case <-running.Exited:
		case <-time.After(Graceful):
			return "it closed its output"
		}
		return withLastWords(running.Ending(), s.stderr.Last())
	}
	return session, nil
}

// startError says why a program could not be started.
func startError(entry config.Entry, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w %q in PATH", errNoProgram, entry.Command)
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(entry.Command); errors.Is(err, fs.ErrNotExist) { // and not the folder to run it in
			return fmt.Errorf("%w %s", errNoProgram, entry.Command)
		}
	}
	return fmt.Errorf("start %s: %w", entry.Command, err)
}

// errNoProgram: trying again would not bring it.
var errNoProgram = errors.New("no such program")

func withLastWords(ending, last string) string {
	if last == "" {
		return ending
	}
	return ending + "; its last output: " + last
}

// endless is an input whose end is the process's own affair.
type endless struct{ io.Writer }

func (endless) Close() error { return nil }

// notified takes note of what a server tells. It is on the reader's
// goroutine: never wait here, never call the client.
func (s *supervisor) notified(n mcp.JSONRPCNotification) {
	defer s.catch(nil)
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationResourcesListChanged, mcp.MethodNotificationPromptsListChanged:
		s.touch()
	case "notifications/progress":
		s.progress.took(n.Params.AdditionalFields)
	case string(mcp.MethodNotificationMessage):
		s.log(n.Params.AdditionalFields)
	}
}

// log keeps a message that the server logs by protocol with its stderr.
func (s *supervisor) log(fields map[string]any) {
	text, ok := fields["data"].(string)
	if !ok {
		raw, _ := json.Marshal(fields["data"]) // it came from JSON
		text = string(raw)
	}
	_, _ = fmt.Fprintf(s.stderr, "[%v] %s\n", fields["level"], text)
}

// greet shakes hands and has the client report changes.
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
	session.about, session.instructions = result.ServerInfo, result.Instructions
	if s.Entry.LogLevel != "" && session.client.GetServerCapabilities().Logging != nil {
		var level mcp.SetLevelRequest
		level.Params.Level = mcp.LoggingLevel(s.Entry.LogLevel)
		//lint:ignore SA1019 servers of the protocol before 2026 have no other way
		if err := session.client.SetLevel(starting, level); err != nil {
			s.hub.Log.Warn("set the log level", "server", s.Entry.Name, "err", err)
		}
	}
	return nil
}

// explain turns an error of the library into one that says what happened to
// the server: ctx's cause, its end, or what it answered, which may be long.
func (s *session) explain(ctx context.Context, err error) error {
	if errors.Is(err, transport.ErrTransportClosed) {
		return errors.New(s.why())
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var wrapped *transport.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	err = wire.InWords(err)
	if words := err.Error(); len(words) > wire.MaxWords {
		return errors.New(text.Cut(words, wire.MaxWords))
	}
	return err
}

// ask asks a running server for something, within the time of one call. Its
// errors say what happened.
func ask[T any](ctx context.Context, s *supervisor, question func(context.Context, *client.Client) (T, error)) (T, error) {
	var none T
	asking, done, err := s.clock.limit(ctx, s.Entry.Timeout,
		fmt.Errorf("no answer within %v; the call was cancelled; what it did until then is not known", s.Entry.Timeout))
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
			return none, fmt.Errorf("MCP server %s ended during the call; what it did until then is not known: %s", s.Entry.Name, session.why())
		}
		if s.Entry.Transport != config.Stdio && asking.Err() == nil && s.lostBy(err) {
			session.lost()
			if errors.Is(err, transport.ErrSessionTerminated) && !again {
				continue // a session that the server has forgotten: it did not take the call
			}
		}
		err = session.explain(asking, err)
		if s.Entry.Transport != config.Stdio {
			err = s.explainHTTP(s.Entry, err)
		}
		return none, fmt.Errorf("MCP server %s: %w", s.Entry.Name, err)
	}
}

// lostBy reports whether an error below the protocol says that a session by HTTP
// is over. Over streamable HTTP one that the server answers with does not,
// except one: it may be asked too much, or have broken on this call only.
func (s *supervisor) lostBy(err error) bool {
	var below *transport.Error
	var web *url.Error
	if s.Entry.Transport == config.SSE {
		return errors.As(err, &below)
	}
	return errors.Is(err, transport.ErrSessionTerminated) || errors.As(err, &web) || wantsToKnow(err)
}
