// Package mcpclient runs the MCP servers of mcp.json and makes their tools
// available to the agent. Start at [Start]; supervisor.go manages the life of one
// server, process.go its process.
//
// Servers are not trusted: a misbehaving one must not affect LifeHub or other
// servers. The library (mark3labs/mcp-go) implements the protocol. Processes and
// pipes are managed here, because the library would leave grandchildren behind,
// block on a server that does not read, and accept messages of any length.
package mcpclient

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/mcpclient/config"
)

// Options configure how servers are run. The zero value works.
type Options struct {
	Timeout time.Duration // of calls to a server whose entry sets none; 0: 60 s
	Builtin []agent.Tool  // tools whose names no server's tool gets
	Files   string        // folder for images and results too long for the model; empty: not saved
	Logs    string        // folder for log files, one per server, of stderr and log messages; empty: not saved
	Tokens  string        // folder for OAuth credentials of web servers; empty: consent is unavailable
	Log     *slog.Logger  // log of server faults; may be nil
	Trust   *config.Trust // what the user has reviewed; nil: everything is trusted
	Version string        // LifeHub's version, sent to servers
	Secrets llm.Redactor  // removes secrets from logs and saved results; may be nil
	User    User          // nil: servers cannot request anything

	start time.Duration // limit of a server's start, including its first list of tools; 0: 10 s
}

// User answers what servers request. It is safe for concurrent use.
type User interface {
	// Ask shows a server's form to the user, on the host in ctx.
	Ask(ctx context.Context, form agent.Question) agent.Input
	// Sample asks the user for permission, and then has the user's model answer a
	// server's request.
	Sample(ctx context.Context, server string, request llm.Request) (model, text string, err error)
	// Roots returns the folders reported to local servers whose entries name none.
	Roots() []string
}

// Client runs the servers of a config. Create it with [Start]. It is safe for
// concurrent use, and a nil *Client has no servers.
type Client struct {
	Options
	changes chan struct{}
	ctx     context.Context // of all servers, also of those that Use adds
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	list   []*supervisor
	closed bool
}

// Start starts the servers in the background and returns immediately. They run
// until Close is called or ctx ends.
func Start(ctx context.Context, config config.Config, options Options) *Client {
	ctx, cancel := context.WithCancel(ctx)
	s := &Client{Options: options, changes: make(chan struct{}, 1), ctx: ctx, cancel: cancel}
	s.defaults()
	s.Use(config)
	return s
}

// launch starts a server as soon as after is closed; nil: immediately.
func (s *Client) launch(one *supervisor, after <-chan struct{}) {
	ctx, end := context.WithCancel(s.ctx)
	one.end = end
	s.running.Go(func() { one.run(ctx, after) })
}

// Use replaces the config and returns one line for each server that was added,
// changed or removed. Servers with unchanged entries keep running. A removed or
// changed server ends after its calls in progress; then a changed one starts with
// its new entry, which must be reviewed first.
func (s *Client) Use(config config.Config) (changes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	before := map[string]*supervisor{}
	for _, one := range s.list {
		before[one.Entry.Name] = one
	}
	s.list = nil
	for _, entry := range config.Servers {
		was := before[entry.Name]
		delete(before, entry.Name)
		if was != nil && reflect.DeepEqual(was.written, entry) {
			s.list = append(s.list, was)
			continue
		}
		one := newSupervisor(s, entry, filepath.Dir(config.File))
		s.list = append(s.list, one)
		if was == nil {
			s.launch(one, nil)
			changes = append(changes, "added "+entry.Name)
			continue
		}
		s.launch(one, was.gone)
		s.retire(was)
		changes = append(changes, "changed "+entry.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		s.retire(before[name])
		changes = append(changes, "removed "+name)
	}
	s.changed()
	return changes
}

// retire ends a server once its last call has ended.
func (s *Client) retire(one *supervisor) {
	one.clock.close()
	s.running.Go(func() { // ends with the server at the latest
		one.clock.running.Wait()
		one.end()
	})
}

// all returns the current servers in the order of the config.
func (s *Client) all() []*supervisor {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// defaults replaces zero values of options.
func (s *Client) defaults() {
	s.Timeout = cmp.Or(s.Timeout, 60*time.Second)
	s.start = cmp.Or(s.start, 10*time.Second)
	s.Log = cmp.Or(s.Log, slog.New(slog.DiscardHandler))
	if s.Secrets == nil {
		s.Secrets = agent.NoSecrets{}
	}
}

// reserved reports whether a name is that of another tool.
func (s *Client) reserved(name string) bool {
	return slices.ContainsFunc(s.Builtin, func(t agent.Tool) bool { return t.Spec().Name == name })
}

// Tools returns the tools of all running servers, sorted by name.
func (s *Client) Tools() []agent.Tool {
	var list []agent.Tool
	for _, one := range s.all() {
		for _, t := range one.offered() {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b agent.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return list
}

// State returns the state of every server in the order of the config.
func (s *Client) State() []ServerState {
	var list []ServerState
	for _, one := range s.all() {
		list = append(list, one.state())
	}
	return list
}

// Changes returns a channel that receives after any state or tool has changed
// since the last receive. It is never closed, and nil for a nil *Client.
func (s *Client) Changes() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.changes
}

func (s *Client) changed() {
	select {
	case s.changes <- struct{}{}:
	default:
	}
}

// Wait blocks until each named server, or every server if none is named, has
// started or failed to start for the first time. It returns ctx's error if ctx
// ends first.
func (s *Client) Wait(ctx context.Context, names ...string) error {
	for _, one := range s.all() {
		if len(names) > 0 && !slices.Contains(names, one.Entry.Name) {
			continue
		}
		select {
		case <-one.settled:
			continue // even if ctx has ended
		default:
		}
		select {
		case <-one.settled:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Unknown returns the servers that have not started yet and whose tools are not
// known from an earlier start, divided into those named in text and the others.
func (s *Client) Unknown(text string) (named, others []string) {
	for _, one := range s.all() {
		one.mu.Lock()
		unknown := one.status == Starting && !one.ran && len(one.tools) == 0
		one.mu.Unlock()
		switch {
		case !unknown:
		case one.namedIn(text):
			named = append(named, one.Entry.Name)
		default:
			others = append(others, one.Entry.Name)
		}
	}
	return named, others
}

// namedIn reports whether text contains the name of the server, or a tool name by
// which the model knows one of its tools, as a whole word in any case.
func (s *supervisor) namedIn(text string) bool {
	name := strings.ReplaceAll(regexp.QuoteMeta(s.Entry.Name), "_", "__?")
	named, err := regexp.MatchString(`(?i)(^|[^\pL\d])`+name+`([^\pL\d]|$)`, text)
	return named && err == nil
}

// Close ends all servers and every process that they started. It returns when
// none is left, after at most a few seconds.
func (s *Client) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.running.Wait()
}

// Restart restarts a server, whether it is running or off, after checking its
// entry and program again.
func (s *Client) Restart(server string) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	select {
	case one.again <- struct{}{}:
	default: // a restart is already pending
	}
	return nil
}

// Recheck restarts servers that wait for review if it was done in another LifeHub
// process.
func (s *Client) Recheck() {
	for _, one := range s.all() {
		one.mu.Lock()
		waits, off := len(one.unseen) > 0, one.status == Off
		one.mu.Unlock()
		switch {
		case waits && off:
			_ = s.Restart(one.Entry.Name) // cannot fail, since the server exists
		case waits:
			one.touch()
		}
	}
}

// Unseen returns the changes of a server that wait for review.
func (s *Client) Unseen(server string) []config.Change {
	one, err := s.find(server)
	if err != nil {
		return nil
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return slices.Clone(one.unseen)
}

// Accept marks the changes in seen as reviewed and continues with the server.
// Changes that came after seen was read stay unreviewed.
func (s *Client) Accept(server string, seen []config.Change) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	if s.Trust == nil {
		return nil
	}
	if err := s.Trust.Accept(server, seen); err != nil {
		return err
	}
	one.mu.Lock()
	off := one.status == Off
	one.mu.Unlock()
	if off {
		return s.Restart(server)
	}
	one.touch()
	return nil
}

func (s *Client) find(name string) (*supervisor, error) {
	for _, one := range s.all() {
		if one.Entry.Name == name {
			return one, nil
		}
	}
	return nil, fmt.Errorf("no MCP server %q", name)
}
