package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/mcpclient/config"
)

// settle is the delay after a change until a server's tools are listed again:
// some servers send several notifications in a row.
const settle = 300 * time.Millisecond

// supervisor manages one server of the config.
type supervisor struct {
	Entry    config.Entry // as written, with the default Timeout if it has none
	written  config.Entry // exactly as written
	hub      *Client
	dir      string // working directory if the entry names none
	stderr   *tail
	dirty    chan struct{} // receives when the server's tools have changed
	again    chan struct{} // receives when the user requests a restart
	asking   chan struct{} // held while the user is being asked
	clock    clock
	progress progress

	settled     chan struct{} // closed after the first start succeeded or failed
	settledOnce sync.Once

	end  context.CancelFunc // ends run
	gone chan struct{}      // closed when run has returned

	mu        sync.Mutex
	status    Status
	why       error // it does not run; nil if nothing is to be said
	since     time.Time
	starts    int      // number of starts so far
	ran       bool     // one of them reached Running
	session   *session // non-nil while it runs
	tools     []*tool  // last known tools
	refused   []string
	unseen    []config.Change
	resources []Resource
	prompts   []Prompt
	calls     figures
	turned    chan struct{} // closed and replaced when the status changes
}

func newSupervisor(hub *Client, entry config.Entry, dir string) *supervisor {
	written := entry
	if entry.Timeout == 0 {
		entry.Timeout = hub.Timeout
	}
	one := &supervisor{
		Entry: entry, written: written, gone: make(chan struct{}), hub: hub, dir: dir,
		status: Starting, since: time.Now(),
		dirty: make(chan struct{}, 1), again: make(chan struct{}, 1), asking: make(chan struct{}, 1),
		settled: make(chan struct{}), turned: make(chan struct{}),
	}
	one.stderr = &tail{secrets: hub.Secrets}
	if hub.Logs != "" {
		one.stderr.path = filepath.Join(hub.Logs, entry.Name+".log")
	}
	one.recallTools()
	return one
}

// recallTools offers the tools that the server listed last and the user has
// reviewed, so that only calls of these tools have to wait for the start.
func (s *supervisor) recallTools() {
	if _, missing := s.Entry.Resolved(os.LookupEnv); s.Entry.Disabled || len(missing) > 0 {
		return
	}
	for name, raw := range s.hub.Trust.LastListed(s.Entry) {
		var l Tool
		if json.Unmarshal([]byte(raw), &l) != nil || l.Name != name || !s.Entry.Offers(name) {
			continue
		}
		if t, err := newTool(s, l); err == nil && s.hub.Trust.Saw(s.Entry.Name, name, t.text) {
			s.tools = append(s.tools, t)
		}
	}
	s.name(s.tools)
}

// run keeps the server running until ctx ends. It first waits for before, which
// is closed when the server that this one replaces has ended; before may be nil.
func (s *supervisor) run(ctx context.Context, before <-chan struct{}) {
	defer close(s.gone)
	defer s.settledOnce.Do(func() { close(s.settled) })
	defer s.stderr.Close()
	if before != nil {
		s.enter(Starting, errors.New("waiting for a running call to end"))
		select {
		case <-before:
		case <-ctx.Done():
			<-before // a later replacement must wait for that end, too
			return
		}
	}
	for {
		entry, why := s.launchable()
		if why == nil {
			why = s.runWithRestarts(ctx, entry)
		}
		if errors.Is(why, errAgain) {
			continue
		}
		s.enter(Off, why)
		select {
		case <-ctx.Done():
			return
		case <-s.again:
		}
	}
}

// errAgain ends a run because the user requested a restart.
var errAgain = errors.New("started again")

// runWithRestarts runs the server, restarting it after failures, and returns why
// it gave up, or errAgain.
func (s *supervisor) runWithRestarts(ctx context.Context, entry config.Entry) error {
	var tries tries
	for {
		err := s.runOnce(ctx, entry)
		switch {
		case ctx.Err() != nil:
			return errEnds
		case errors.Is(err, errAgain), errors.Is(err, errConsent):
			return err
		}
		s.hub.Log.Warn("mcp server ended", "server", s.Entry.Name, "err", err)
		if errors.Is(err, errNoProgram) {
			return err
		}
		delay, more := tries.next(time.Now())
		if !more {
			return fmt.Errorf("%w (%d starts in %v; not tried again)", err, maxTries, triesWithin)
		}
		s.enter(Restarting, err)
		select {
		case <-ctx.Done():
			return errEnds
		case <-s.again:
			return errAgain
		case <-time.After(delay):
		}
	}
}

// launchable returns the entry with its variables expanded, or why the server is not
// to be started.
func (s *supervisor) launchable() (config.Entry, error) {
	if s.Entry.Disabled {
		return config.Entry{}, errSwitchedOff
	}
	entry, missing := s.Entry.Resolved(os.LookupEnv)
	changes, err := s.hub.Trust.Entry(s.Entry)
	if err != nil {
		return config.Entry{}, err
	}
	s.mu.Lock()
	s.unseen = changes
	s.mu.Unlock()
	switch {
	case len(missing) > 0:
		return config.Entry{}, fmt.Errorf("needs %s", strings.Join(missing, ", "))
	case len(changes) > 0 && changes[0].Before == "":
		return config.Entry{}, fmt.Errorf("%w (lifehub mcp trust %s)", errNotSeen, s.Entry.Name)
	case len(changes) > 0:
		return config.Entry{}, fmt.Errorf("%w (lifehub mcp trust %s)", errChanged, s.Entry.Name)
	}
	return entry, nil
}

// folder returns the server's working directory.
func (s *supervisor) folder(entry config.Entry) string {
	if entry.Cwd == "" || filepath.IsAbs(entry.Cwd) {
		return cmp.Or(entry.Cwd, s.dir)
	}
	return filepath.Join(s.dir, entry.Cwd)
}

// runOnce runs the server once and returns the error that ended it.
func (s *supervisor) runOnce(ctx context.Context, entry config.Entry) (err error) {
	defer s.catch(&err)
	s.mu.Lock()
	s.starts++
	before := s.why
	s.mu.Unlock()
	s.enter(Starting, before)
	starting, cancel := context.WithTimeoutCause(ctx, s.hub.start, fmt.Errorf("not started within %v", s.hub.start))
	defer cancel()
	session, err := s.connect(ctx, starting, entry)
	if err != nil {
		return err
	}
	defer session.link.close(session)
	defer s.leave()
	if err := s.relist(starting, session); err != nil {
		return session.explain(starting, err)
	}
	s.mu.Lock()
	s.session, s.ran = session, true
	s.mu.Unlock()
	s.enter(Running, nil)
	return s.attend(ctx, session)
}

// catch, when deferred, logs a panic and, if err is not nil, stores it as an
// error.
func (s *supervisor) catch(err *error) {
	fault := recover()
	if fault == nil {
		return
	}
	s.hub.Log.Error("panic", "server", s.Entry.Name, "fault", fault, "stack", string(debug.Stack()))
	if err != nil {
		*err = fmt.Errorf("internal error: %v", fault)
	}
}

// attend waits for the end of the session, and lists the server's tools again
// after they change.
func (s *supervisor) attend(ctx context.Context, session *session) error {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-session.ended:
			return errors.New(session.link.why(session))
		case <-s.again:
			return errAgain
		case <-s.dirty:
			if again == nil {
				again = time.After(settle)
			}
			continue
		case <-again:
			again = nil
		}
		listing, cancel := context.WithTimeout(ctx, s.hub.start)
		if err := s.relist(listing, session); err != nil {
			s.hub.Log.Warn("list tools again", "server", s.Entry.Name, "err", err)
		}
		cancel()
		s.hub.changed()
	}
}

// relist requests the server's tools, prompts and resources. Only a failure to
// list tools is an error: the rest is optional.
func (s *supervisor) relist(ctx context.Context, session *session) error {
	can := session.client.GetServerCapabilities()
	if can.Tools != nil {
		listed, err := Listed(s.offeredOf(session.client.IterTools(ctx, mcp.ListToolsRequest{})))
		if err != nil && !errors.Is(err, errMore) {
			return fmt.Errorf("list its tools: %w", inWords(err))
		}
		if err := s.admit(listed, err, session.instructions); err != nil {
			return err
		}
	}
	var resources []Resource
	if can.Resources != nil {
		resources = s.listResources(ctx, session.client)
	}
	var prompts []Prompt
	if can.Prompts != nil {
		prompts = s.listPrompts(ctx, session.client)
	}
	s.mu.Lock()
	s.resources, s.prompts = resources, prompts
	s.mu.Unlock()
	return nil
}

// offeredOf omits the tools that are disabled in mcp.json.
func (s *supervisor) offeredOf(all iter.Seq2[mcp.Tool, error]) iter.Seq2[mcp.Tool, error] {
	return func(yield func(mcp.Tool, error) bool) {
		for tool, err := range all {
			if (err != nil || s.Entry.Offers(tool.Name)) && !yield(tool, err) {
				return
			}
		}
	}
}

// admit converts the listed tools, omitting those that are rejected or not as the
// user has reviewed them. more explains why some are not listed; it may be nil.
func (s *supervisor) admit(listed []mcp.Tool, more error, instructions string) error {
	var tools []*tool
	var refused []string
	texts, raw := map[string]string{}, map[string]string{}
	for _, one := range listed {
		var t *tool
		l, err := unwrapped(one)
		if err != nil {
			err = fmt.Errorf("tool %q is refused: %w", l.Name, err)
		} else {
			t, err = newTool(s, l)
		}
		if err == nil && texts[l.Name] != "" {
			err = fmt.Errorf("tool %q is listed twice", l.Name)
		}
		if err != nil {
			refused = append(refused, err.Error())
			continue
		}
		texts[l.Name], raw[l.Name] = t.text, l.JSON()
		tools = append(tools, t)
	}
	s.name(tools)
	if more != nil {
		refused = append([]string{more.Error()}, refused...)
	}
	changes, err := s.hub.Trust.Offer(s.Entry.Name, instructions, texts, raw)
	if err != nil {
		return err
	}
	tools = slices.DeleteFunc(tools, func(t *tool) bool {
		return slices.ContainsFunc(changes, func(c config.Change) bool { return c.Concerns(t.name) })
	})
	s.mu.Lock()
	s.tools, s.refused, s.unseen = tools, refused, changes
	s.mu.Unlock()
	return nil
}

// name sets the names by which the model knows the tools.
func (s *supervisor) name(tools []*tool) {
	own := make([]string, 0, len(tools))
	for _, t := range tools {
		own = append(own, t.name)
	}
	names := config.WireNames(s.Entry.Name, own, s.hub.reserved)
	for _, t := range tools {
		t.spec.Name = names[t.name]
		t.former = config.FormerNames(s.Entry.Name, t.name, t.spec.Name, s.hub.reserved)
	}
}

// current reports whether a tool is unchanged since it was offered.
func (s *supervisor) current(t *tool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.tools, func(now *tool) bool { return now.name == t.name && now.text == t.text })
}

func (s *supervisor) state() ServerState {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := ServerState{
		Name: s.Entry.Name, Transport: s.Entry.Transport, Address: s.hub.Secrets.Known(s.Entry.Address()),
		Status: s.status, why: s.why,
		Since: s.since, Restarts: max(0, s.starts-1), Refused: slices.Clone(s.refused), Unseen: slices.Clone(s.unseen),
		Calls: s.calls.count, Failed: s.calls.failed, P95: s.calls.p95(), Stderr: s.stderr.Last(), Reads: s.Entry.Reads,
	}
	if s.why != nil {
		st.Reason = s.hub.Secrets.Known(s.why.Error())
	}
	if s.session != nil {
		st.About = strings.TrimSpace(s.session.about.Name + " " + s.session.about.Version)
	}
	if s.status == Running || s.ran && s.status != Off {
		for _, t := range s.tools {
			st.Tools = append(st.Tools, t.spec.Name)
			st.Tokens += t.tokens()
		}
	}
	return st
}

// touch schedules a new listing of the tools.
func (s *supervisor) touch() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// enter changes the status and wakes those waiting for it.
func (s *supervisor) enter(status Status, why error) {
	s.mu.Lock()
	s.status, s.why, s.since = status, why, time.Now()
	close(s.turned)
	s.turned = make(chan struct{})
	s.mu.Unlock()
	if status != Starting {
		s.settledOnce.Do(func() { close(s.settled) })
	}
	s.hub.changed()
}

func (s *supervisor) leave() {
	s.mu.Lock()
	s.session = nil
	s.mu.Unlock()
}

// ready returns the session. While the server is starting it waits, and reports
// that on the host in ctx.
func (s *supervisor) ready(ctx context.Context) (*session, error) {
	for reported := false; ; {
		s.mu.Lock()
		session, status, why, turned, ran := s.session, s.status, s.why, s.turned, s.ran
		s.mu.Unlock()
		switch {
		case session != nil && !session.over():
			return session, nil
		case status == Off:
			return nil, fmt.Errorf("it is off: %w", why)
		case status == Restarting && !ran:
			return nil, fmt.Errorf("it has not started yet: %w", why)
		case !reported:
			reported = true
			agent.HostFrom(ctx).Progress(agent.Progress{Message: "waiting for the MCP server " +
				s.Entry.Name + " to start"})
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// offered returns the tools that may be called now. While a server is starting,
// they include its previous tools; calls wait for the start.
func (s *supervisor) offered() []*tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == Off || s.status == Restarting && !s.ran {
		return nil
	}
	return s.tools
}

const (
	// maxTries bounds the starts of a server within triesWithin. After that it is
	// left off with a reason.
	maxTries    = 5
	triesWithin = 3 * time.Minute
	firstDelay  = 500 * time.Millisecond // doubled with each try
)

// tries are the times of a server's recent failed starts.
type tries []time.Time

// next records a start that failed at now. It returns the delay before the next
// start, and reports whether there may be one.
func (t *tries) next(now time.Time) (delay time.Duration, more bool) {
	recent := (*t)[:0]
	for _, at := range *t {
		if now.Sub(at) < triesWithin {
			recent = append(recent, at)
		}
	}
	*t = append(recent, now)
	n := len(*t)
	return firstDelay << (n - 1), n < maxTries
}
