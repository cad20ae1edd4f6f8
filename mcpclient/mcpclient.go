// Package mcpclient runs the MCP servers of mcp.json and turns what they
// offer into tools of the agent. Begin reading at [Start]; one server's life
// is in supervisor.go, its process in package process.
//
// Servers are not trusted: whatever one does, the others and LifeHub go on.
// The library (mark3labs/mcp-go) speaks the protocol; processes, their pipes
// and their end are our own, because it would leave grandchildren behind,
// block on a server that does not read, and take messages of any length.
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
	"lifehub/mcpclient/trust"
)

// Options is how servers are run. The zero value works.
type Options struct {
	Timeout  time.Duration          // of a call whose server sets none; 0: 60 s
	Reserved func(name string) bool // names of tools that are not from servers; nil: none
	Files    string                 // folder for images and results too long for the model; "": they are not kept
	Logs     string                 // folder for what servers write to stderr and log, a file each; "": it is not kept
	Tokens   string                 // folder for what consents of servers on the web bring; "": there are none
	Log      *slog.Logger           // what servers do wrong; nil: nowhere
	Trust    *trust.Trust           // what the user has seen of the servers; nil: all is trusted as it is
	Version  string                 // of LifeHub, told to the servers
	Roots    func() []string        // folders that servers on this machine are told of when they ask and their entry names none; nil: none
	Redact   func(string) string    // takes secrets out of what servers log and what of them is kept in files; nil: nothing

	// Ask puts a server's form to the user, at the host of ctx; nil: servers
	// cannot ask.
	Ask func(ctx context.Context, form agent.Question) agent.Input
	// Sample asks the user, and then has the user's model answer a server's
	// request; nil: servers cannot have that.
	Sample func(ctx context.Context, server string, request llm.Request) (model, text string, err error)

	start time.Duration // bounds a server's start, up to its first list of tools; 0: 10 s
}

// Client runs the servers of a config. Make it with [Start]; it is safe for
// concurrent use, and a nil *Client has none.
type Client struct {
	Options
	changes chan struct{}
	cancel  context.CancelFunc
	running sync.WaitGroup
	launch  func(one *supervisor, after <-chan struct{})

	mu     sync.Mutex // guards what follows
	list   []*supervisor
	closed bool
}

// Start starts the servers in the background and returns at once. They end
// with Close or with ctx.
func Start(ctx context.Context, config config.Config, options Options) *Client {
	ctx, cancel := context.WithCancel(ctx)
	s := &Client{Options: options, changes: make(chan struct{}, 1), cancel: cancel}
	s.defaults()
	s.launch = func(one *supervisor, after <-chan struct{}) {
		ctx, end := context.WithCancel(ctx)
		one.end = end
		s.running.Go(func() { one.run(ctx, after) })
	}
	s.Use(config)
	return s
}

// Use makes the servers those of config, and returns a line for each that was
// added, changed or removed. One whose entry is as it was goes on undisturbed.
// Calls under way end before their server does; a changed one starts after that,
// and must be seen like any other.
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
		one := newSupervisor(s, entry, filepath.Dir(config.File), config.Lookup)
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

// retire ends a server when its last call has ended.
func (s *Client) retire(one *supervisor) {
	idle := one.clock.drain()
	s.running.Go(func() { // ends with the server at the latest
		select {
		case <-idle:
			one.end()
		case <-one.gone:
		}
	})
}

// all are the servers of this moment, in the order of the config.
func (s *Client) all() []*supervisor {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// defaults fills in what was left out.
func (s *Client) defaults() {
	s.Timeout = cmp.Or(s.Timeout, 60*time.Second)
	s.start = cmp.Or(s.start, 10*time.Second)
	s.Log = cmp.Or(s.Log, slog.New(slog.DiscardHandler))
	if s.Reserved == nil {
		s.Reserved = func(string) bool { return false }
	}
	if s.Redact == nil {
		s.Redact = func(text string) string { return text }
	}
}

// Tools are the tools of the servers that run at this moment, by name.
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

// State returns the state of every server of the config, in its order.
func (s *Client) State() []ServerState {
	var list []ServerState
	for _, one := range s.all() {
		list = append(list, one.state())
	}
	return list
}

// Changes receives when a state or the tools have changed since the last
// receive. It is never closed; for a nil *Client it is nil.
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

// Wait returns when every server, or every one that is named, has either
// started or failed to for a first time, or with ctx's error.
func (s *Client) Wait(ctx context.Context, names ...string) error {
	for _, one := range s.all() {
		if len(names) > 0 && !slices.Contains(names, one.Entry.Name) {
			continue
		}
		select {
		case <-one.settled:
			continue // also when ctx has ended
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

// Unknown are the servers that have yet to start and whose tools are not known
// from an earlier start: those that a text names, and the others.
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

// namedIn reports whether a text names the server or, by their name for the
// model, one of its tools: as a whole word, in any case.
func (s *supervisor) namedIn(text string) bool {
	name := strings.ReplaceAll(regexp.QuoteMeta(s.Entry.Name), "_", "__?")
	named, err := regexp.MatchString(`(?i)(^|[^\pL\d])`+name+`([^\pL\d]|$)`, text)
	return named && err == nil
}

// Close ends all servers and everything that they have started, and returns
// when nothing of it is left, after a few seconds at most.
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

// Restart starts a server again, whether it is running or off. Its entry and
// its program are looked at again.
func (s *Client) Restart(server string) error {
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

// Recheck looks again at what the user has seen of servers that wait for that:
// another LifeHub may have shown it.
func (s *Client) Recheck() {
	for _, one := range s.all() {
		one.mu.Lock()
		waits, off := len(one.unseen) > 0, one.status == Off
		one.mu.Unlock()
		switch {
		case waits && off:
			_ = s.Restart(one.Entry.Name) // it is there
		case waits:
			one.touch()
		}
	}
}

// Unseen are the changes of a server that wait to be seen.
func (s *Client) Unseen(server string) []trust.Change {
	one, err := s.find(server)
	if err != nil {
		return nil
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return slices.Clone(one.unseen)
}

// Accept takes a server's changes, as the user has seen them, and resumes
// it. A change that came after seen was read stays unseen.
func (s *Client) Accept(server string, seen []trust.Change) error {
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
	return nil, fmt.Errorf("there is no MCP server %q", name)
}
