// Package mcpclient runs the MCP servers of mcp.json and turns what they
// offer into tools of the agent. Begin reading at [Start]; one server's life
// is in server.go, its process in process.go.
//
// Servers are not trusted: whatever one does, the others and LifeHub go on.
// The library (mark3labs/mcp-go) speaks the protocol; processes, their pipes
// and their end are our own, because it would leave grandchildren behind,
// block on a server that does not read, and take messages of any length.
package mcpclient

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

// Options is how servers are run. The zero value works.
type Options struct {
	Timeout  time.Duration          // of a call whose server sets none; 0: 60 s
	Reserved func(name string) bool // names of tools that are not from servers; nil: none
	Files    string                 // folder for images and results too long for the model; "": they are not kept
	Logs     string                 // folder for what servers write to stderr and log, a file each; "": it is not kept
	Tokens   string                 // folder for what consents of servers on the web bring; "": there are none
	Log      *slog.Logger           // what servers do wrong; nil: nowhere
	Trust    *Trust                 // what the user has seen of the servers; nil: all is trusted as it is
	Version  string                 // of LifeHub, told to the servers
	Redact   func(string) string    // takes secrets out of what servers log and what of them is kept in files; nil: nothing

	// Elicit puts a server's form to the user, at the desk of ctx; nil: servers
	// cannot ask.
	Elicit func(ctx context.Context, form Form) (Reply, error)
	// Sample asks the user, and then has the user's model answer a server's
	// request; nil: servers cannot have that.
	Sample func(ctx context.Context, server string, request llm.Request) (Sampled, error)

	start time.Duration // bounds a server's start, up to its first list of tools; 0: 10 s
}

// Servers are the running servers. Make it with [Start]; it is safe for
// concurrent use, and a nil *Servers has none.
type Servers struct {
	Options
	list    []*server
	changes chan struct{}
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Start starts the servers in the background and returns at once. They end
// with Close or with ctx.
func Start(ctx context.Context, config Config, options Options) *Servers {
	ctx, cancel := context.WithCancel(ctx)
	s := &Servers{Options: options, changes: make(chan struct{}, 1), cancel: cancel}
	s.defaults()
	for _, entry := range config.Servers {
		one := newServer(s, entry, filepath.Dir(config.File), config.lookup)
		s.list = append(s.list, one)
		s.running.Go(func() { one.run(ctx) })
	}
	return s
}

// defaults fills in what was left out.
func (s *Servers) defaults() {
	if s.Timeout == 0 {
		s.Timeout = 60 * time.Second
	}
	if s.start == 0 {
		s.start = 10 * time.Second
	}
	if s.Reserved == nil {
		s.Reserved = func(string) bool { return false }
	}
	if s.Redact == nil {
		s.Redact = func(text string) string { return text }
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
}

// Tools are the tools of the servers that run at this moment, by name.
func (s *Servers) Tools() []agent.Tool {
	if s == nil {
		return nil
	}
	var list []agent.Tool
	for _, one := range s.list {
		for _, t := range one.offered() {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b agent.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return list
}

// State tells of every server of the config, in its order.
func (s *Servers) State() []ServerState {
	if s == nil {
		return nil
	}
	var list []ServerState
	for _, one := range s.list {
		list = append(list, one.state())
	}
	return list
}

// Changes receives when a state or the tools have changed since the last
// receive. It is never closed; for a nil *Servers it is nil.
func (s *Servers) Changes() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.changes
}

func (s *Servers) changed() {
	select {
	case s.changes <- struct{}{}:
	default:
	}
}

// Wait returns when every server, or every one that is named, has either
// started or failed to for a first time, or with ctx's error.
func (s *Servers) Wait(ctx context.Context, names ...string) error {
	if s == nil {
		return nil
	}
	for _, one := range s.list {
		if len(names) > 0 && !slices.Contains(names, one.Name) {
			continue
		}
		select {
		case <-one.settled:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close ends all servers and everything that they have started, and returns
// when nothing of it is left, after a few seconds at most.
func (s *Servers) Close() {
	if s == nil {
		return
	}
	s.cancel()
	s.running.Wait()
}

// Restart starts a server again, whether it is running or off. Its entry and
// its program are looked at anew.
func (s *Servers) Restart(server string) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	select {
	case one.again <- struct{}{}:
	default: // it is about to
	}
	return nil
}

// Switch switches a server on or off until the end of LifeHub. [Enable] does
// so for later.
func (s *Servers) Switch(server string, on bool) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	one.mu.Lock()
	one.Disabled = !on
	one.mu.Unlock()
	return s.Restart(server)
}
