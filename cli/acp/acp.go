// Package acp runs the chat inside an editor, as an agent of the Agent Client Protocol on stdin and
// stdout. It is a front end like the screen and the plain chat. Start with [New].
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/cli/chatcmd"
	"lifehub/cli/settings"
)

// New returns `lifehub acp`.
func New(sh *app.Process) *cobra.Command {
	f := chatcmd.NewFlags(sh)
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Run inside an editor (Agent Client Protocol)",
		Long: "Run inside an editor: an agent of the Agent Client Protocol on stdin and stdout, which the editor " +
			"starts.\n" +
			"It has the notes, tools, permission rules and conversations of the chat.",
		Example: "  lifehub acp                          # as the command of an agent, in the settings of an editor\n" +
			"  lifehub acp --notes ~/notes --mode loop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			// report an editor that is gone as a write error instead of dying of SIGPIPE
			gone := make(chan os.Signal, 1)
			signal.Notify(gone, syscall.SIGPIPE)
			defer signal.Stop(gone)
			return f.Serve(cmd.Context(), func(ctx context.Context, a *app.App, o chat.Options) error {
				return Serve(ctx, a, o, sh.In, sh.Out)
			})
		},
	}
	app.RegisterRun(&f.RunFlags, cmd)
	return cmd
}

// maxSessions bounds the number of open sessions.
const maxSessions = 256

// suspendPatience bounds how long the end waits for turns to be saved if the editor no longer
// reads.
const suspendPatience = 10 * time.Second

// server is the agent side of one connection.
type server struct {
	App     *app.App
	options chat.Options
	ctx     context.Context // parent of every turn's context
	conn    *acp.Connection
	ready   chan struct{} // closed once conn is set
	begun   chan struct{} // receives when a prompt can be cancelled

	mu         sync.Mutex // guards the fields below
	client     acp.ClientCapabilities
	sessions   map[acp.SessionId]*session
	offered    map[string]bool // names of the client's MCP servers that the user was asked about
	images     string          // folder of the images of prompts; "" if there were none
	imageCount int             // images in that folder
	turns      sync.WaitGroup
	over       bool // no further turn may begin

	begins sync.Mutex // held while a turn begins in the mode of its session
}

// Serve answers a client until in or ctx ends. Running turns are then suspended, as by a signal,
// and can be resumed.
func Serve(ctx context.Context, a *app.App, o chat.Options, in io.Reader, out io.Writer) error {
	s := &server{
		App: a, options: o, ctx: ctx,
		ready: make(chan struct{}), begun: make(chan struct{}, 1),
		sessions: map[acp.SessionId]*session{}, offered: map[string]bool{},
	}
	s.conn = acp.NewConnection(s.handle, out, s.inOrder(in))
	s.conn.SetLogger(slog.New(slog.DiscardHandler)) // the SDK would log what the user wrote
	close(s.ready)
	select {
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.over = true
	for _, session := range s.sessions {
		session.stop(agent.ErrShutdown)
	}
	s.mu.Unlock()
	saved := make(chan struct{})
	go func() { s.turns.Wait(); close(saved) }() // ends with the turns
	select {
	case <-saved:
	case <-time.After(suspendPatience):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return os.RemoveAll(s.images)
}

// handle answers one request. The SDK calls it in a goroutine per request and serially for
// notifications; it cancels ctx once the answer is written.
func (s *server) handle(ctx context.Context, method string, params json.RawMessage) (answer any, why *acp.RequestError) {
	<-s.ready // the first request may come before conn is set
	var err error
	func() {
		defer agent.Catch(&err)
		answer, err = s.dispatch(ctx, method, params)
	}()
	if err != nil && !errors.As(err, &why) {
		errors.As(refused(failed, "%s", s.App.Secrets.Text(err.Error())), &why)
	}
	return answer, why
}

func (s *server) dispatch(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case acp.AgentMethodInitialize:
		return call(ctx, params, s.initialize)
	case acp.AgentMethodAuthenticate:
		return acp.AuthenticateResponse{}, nil
	case acp.AgentMethodSessionNew:
		return call(ctx, params, s.newSession)
	case acp.AgentMethodSessionLoad:
		return call(ctx, params, s.loadSession)
	case acp.AgentMethodSessionResume:
		return call(ctx, params, s.resumeSession)
	case acp.AgentMethodSessionList:
		return call(ctx, params, s.listSessions)
	case acp.AgentMethodSessionClose:
		return call(ctx, params, s.closeSession)
	case acp.AgentMethodSessionSetMode:
		return call(ctx, params, s.setMode)
	case acp.AgentMethodSessionSetConfigOption:
		return call(ctx, params, s.setOption)
	case acp.AgentMethodSessionPrompt:
		begun := sync.OnceFunc(s.hasBegun)
		defer begun()
		return call(ctx, params, func(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
			return s.prompt(ctx, p, begun)
		})
	case acp.AgentMethodSessionCancel:
		return call(ctx, params, s.cancel)
	}
	if method == tooLong {
		return nil, refused(invalid, "a message may have %d MiB at most; none of it was read", maxLine>>20)
	}
	return nil, acp.NewMethodNotFound(method)
}

// call decodes and validates the parameters of a method and calls it.
func call[P, A any](ctx context.Context, params json.RawMessage,
	method func(context.Context, P) (A, error),
) (any, error) {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, refused(invalid, "%v", err)
	}
	if checked, ok := any(&p).(interface{ Validate() error }); ok {
		if err := checked.Validate(); err != nil {
			return nil, refused(invalid, "%v", err)
		}
	}
	return method(ctx, p)
}

func (s *server) initialize(_ context.Context, p acp.InitializeRequest) (acp.InitializeResponse, error) {
	s.mu.Lock()
	s.client = p.ClientCapabilities
	s.mu.Unlock()
	return acp.InitializeResponse{
		ProtocolVersion: acp.ProtocolVersionNumber,
		AgentInfo:       &acp.Implementation{Name: "lifehub", Title: acp.Ptr("LifeHub"), Version: settings.Version()},
		AuthMethods:     []acp.AuthMethod{},
		AgentCapabilities: acp.AgentCapabilities{
			LoadSession:        true,
			McpCapabilities:    acp.McpCapabilities{Http: true, Sse: true},
			PromptCapabilities: acp.PromptCapabilities{EmbeddedContext: true, Image: true},
			SessionCapabilities: acp.SessionCapabilities{
				List: &acp.SessionListCapabilities{}, Resume: &acp.SessionResumeCapabilities{},
				Close: &acp.SessionCloseCapabilities{},
			},
		},
	}, nil
}

// Error codes of rejected requests.
const (
	wrong   = -32600 // not possible now
	invalid = -32602
	failed  = -32603
	unknown = -32002 // no such session
)

func refused(code int, format string, args ...any) error {
	return &acp.RequestError{Code: code, Message: shown(fmt.Sprintf(format, args...))}
}
