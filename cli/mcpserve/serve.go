// Package mcpserve implements `lifehub mcp serve`: it serves the notes to other programs over MCP.
// Start with [NewCommand]; call.go handles a call.
//
// Another program's model is trusted less than LifeHub's own: what it reads passes the same gate
// and rules, and each change needs the user's permission.
package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/rag"
)

// options are the flags of the command.
type options struct {
	RunFlags app.RunFlags
	writes   bool
	config   string
}

// NewCommand returns `lifehub mcp serve`.
func NewCommand(sh *app.Process) *cobra.Command {
	o := options{RunFlags: app.RunFlags{Alone: true}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve your notes to other programs, as an MCP server",
		Long: "Serve your notes to other programs, as an MCP server on stdin and stdout: search, reading, links, " +
			"tasks,\n" +
			"and the check of citations. Your rules hold, and notes that a rule denies are not there. With --writes they\n" +
			"may also ask to add tasks, notes and facts; you are asked each time, in that program.",
		Example: "  lifehub mcp serve --print-config claude-code   # the entry for a client's settings\n" +
			"  lifehub mcp serve --notes ~/notes              # what that entry runs",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.config != "" {
				return printConfig(sh, o)
			}
			return o.serve(cmd.Context(), sh)
		},
	}
	app.RegisterNotes(&o.RunFlags, cmd)
	cmd.Flags().BoolVar(&o.writes, "writes", false, "offer tools that change notes; each call asks you, in the client")
	cmd.Flags().StringVar(&o.config, "print-config", "", "print the entry for the settings of a client: "+clientNames())
	return cmd
}

// serve runs until the client or a signal ends it.
func (o options) serve(ctx context.Context, sh *app.Process) error {
	o.RunFlags.NoSave = !o.writes
	a, err := app.Open(ctx, sh, o.RunFlags)
	if err != nil {
		return err
	}
	defer a.Close()
	sh.Notice(a.Notices("serving")...)
	if len(a.OpenVaults()) == 0 {
		return settings.UsageError{Err: errors.New("there are no notes to serve: give --notes DIR, or add a folder " +
			"with `lifehub index DIR`")}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := newServer(ctx, a, o.writes)
	s.follow(ctx)
	s.running.Go(func() {
		var err error
		defer recovered("find out who runs the model server", &err)
		sh.Notice(a.FoundServer(ctx))
	})
	defer s.running.Wait()
	defer cancel(nil)
	return s.serveStdio(ctx, sh.In, sh.Out)
}

const (
	// maxLine bounds a message of a client, in bytes.
	maxLine = 4 << 20
	// grace bounds how long calls may run after the client is gone or a signal came. A client that
	// never reads must not keep the process alive.
	grace = 2 * time.Second
)

// serveStdio serves a client on two pipes. Its goroutine ends with the client, or with the process
// if the client does not read.
func (s *notesServer) serveStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	stdio := server.NewStdioServer(s.mcp)
	server.WithErrorLogger(log.New(logged{}, "", 0))(stdio)
	server.WithWorkerPoolSize(maxWaiting + 2*maxReading)(stdio)
	server.WithQueueSize(10_000)(stdio)
	input := &boundedLines{Reader: in, ended: make(chan struct{})}
	over := make(chan error, 1)
	go func() {
		var err error
		defer func() { over <- err }()
		defer recovered("serve the client", &err)
		err = stdio.Listen(ctx, input, out)
	}()
	select {
	case err := <-over:
		return endOf(err)
	case <-input.ended:
	case <-ctx.Done():
	}
	select {
	case err := <-over:
		return endOf(err)
	case <-time.After(grace):
		return nil
	}
}

func endOf(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// boundedLines is a reader that cuts lines after maxLine bytes. A cut line is not a valid message
// and is answered with an error.
type boundedLines struct {
	io.Reader
	line  int
	done  atomic.Bool
	ended chan struct{} // closed at the end of the input
}

func (b *boundedLines) Read(p []byte) (int, error) {
	for {
		n, err := b.Reader.Read(p)
		bounded := p[:0]
		for _, c := range p[:n] {
			if b.line++; c == '\n' {
				b.line = 0
			}
			if b.line <= maxLine {
				bounded = append(bounded, c)
			}
		}
		if err != nil && !b.done.Swap(true) {
			close(b.ended)
		}
		if len(bounded) > 0 || err != nil { // callers give up on a reader that often returns 0, nil
			return len(bounded), err
		}
	}
}

// logged writes the library's log to LifeHub's.
type logged struct{}

func (logged) Write(line []byte) (int, error) {
	slog.Warn("serve MCP", "said", string(line))
	return len(line), nil
}

// recovered turns a panic into an error and logs it.
func recovered(what string, err *error) {
	if fault := recover(); fault != nil {
		slog.Error(what, "fault", fault, "stack", string(debug.Stack()))
		*err = fmt.Errorf("%s: %v; see the log", what, fault)
	}
}

// follow keeps the indexes up to date, and the list of notes. Its goroutines end
// with ctx.
func (s *notesServer) follow(ctx context.Context) {
	spawn := func(what string, f func()) {
		s.running.Go(func() {
			var err error
			defer recovered(what, &err)
			f()
		})
	}
	for _, v := range s.App.OpenVaults() {
		v.Behind.Store(true)
		spawn("index the notes", func() {
			_, err := s.App.Sync(ctx, v, nil)
			v.Behind.Store(false)
			if err != nil && ctx.Err() == nil {
				slog.Warn("index the notes", "error", err)
			}
			// Watch returns when ctx ends
			_ = v.Index.Watch(ctx, v.Folder, s.App, func(rag.Changes, error) { s.refresh(ctx) })
		})
	}
}
