// Package servers combines all model servers of the settings into one provider.
// SERVER/MODEL names a model on a named server, and MODEL a model on the default
// server. If the settings do not select a kind of server, the default one is
// Ollama while it is reachable, else the offline provider. Start with [Open].
package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/llm"
	"lifehub/llm/offline"
	"lifehub/llm/ollama"
	"lifehub/llm/openai"
)

// listTimeout bounds the time one server may take to list its models. Results of
// other servers are shown meanwhile.
const listTimeout = 10 * time.Second

// Set combines all model servers into one [llm.Provider]. One server answers and
// one embeds; the others only get requests for their list of models.
type Set struct {
	settings llm.Settings
	list     []*server // the default server first
	embeds   *server
	opened   chan struct{} // closed when the list is complete

	mu    sync.Mutex
	now   *server   // the one that answers
	roles []*server // those that answer for a role, each with its own model
}

// Open creates the providers. It makes no connection to the named servers.
func Open(s llm.Settings) (*Set, error) {
	if s.Provider == "offline" { // so that nothing is sent to any server
		s.Servers = nil
	}
	set := &Set{settings: s, list: make([]*server, len(s.Servers)+1), opened: make(chan struct{})}
	defer close(set.opened)
	chat, model := set.split(s.Model)
	embeds, embedding := set.split(s.Embedding)
	for i := len(s.Servers); i >= 0; i-- { // the default server, which may probe in the background, last
		settings := set.of(i)
		settings.Model, settings.Embedding = "", llm.NoEmbedding
		if i == chat {
			settings.Model = model
		}
		if i == embeds {
			settings.Embedding = embedding
		}
		if i == 0 {
			settings.Watcher = set
		}
		one, err := set.open(i, settings)
		if err != nil {
			return nil, err
		}
		set.list[i] = one
	}
	set.now, set.embeds = set.list[chat], set.list[embeds]
	return set, nil
}

// split returns the index of the server that a model name refers to, 0 for the
// default one, and the model's name on that server. If a model of the default
// server has a name that starts with the name of another server, it is written
// with a leading slash: /SERVER/MODEL.
func (s *Set) split(name string) (at int, model string) {
	if own, ok := strings.CutPrefix(name, "/"); ok {
		if _, rest := s.split(own); rest != own {
			return 0, own
		}
	}
	for i, server := range s.settings.Servers {
		if model, ok := strings.CutPrefix(name, server.Name+"/"); ok && model != "" {
			return i + 1, model
		}
	}
	return 0, name
}

// of returns the settings of one server.
func (s *Set) of(at int) llm.Settings {
	settings := s.settings
	settings.Servers, settings.Watcher = nil, nil
	if at > 0 {
		settings.OllamaFound = false
		one := s.settings.Servers[at-1]
		settings.Provider, settings.OpenAIKey = one.Kind, ""
		settings.OllamaHost, settings.OpenAIURL, settings.Key = one.URL, one.URL, one.Key
	}
	return settings
}

// open creates the provider of one server. The server's title and errors never
// contain a password from its address.
func (s *Set) open(at int, settings llm.Settings) (*server, error) {
	one := &server{set: s, title: settings.Provider}
	if at > 0 {
		one.name = s.settings.Servers[at-1].Name
		one.title = one.name
	}
	var err error
	if one.Provider, err = openOne(settings); err != nil && at > 0 {
		return nil, fmt.Errorf("open model server %s of `providers`: %w", one.name, err)
	} else if err != nil {
		return nil, err
	}
	if hosted, ok := one.Provider.(interface{ Host() (string, bool) }); ok {
		host, remote := hosted.Host()
		if one.title += " at " + host; remote {
			one.remote = host
		}
	}
	return one, nil
}

// Role returns a provider that answers with the named model, for one of the jobs
// of a turn. For an empty name it returns nil: the current model does that job.
func (s *Set) Role(name string) (llm.Provider, error) {
	if name == "" || s.settings.Provider == "offline" {
		return nil, nil
	}
	at, model := s.split(name)
	settings := s.of(at)
	settings.Model, settings.Embedding = model, llm.NoEmbedding
	role, err := s.open(at, settings)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.roles = append(s.roles, role)
	return role, nil
}

// foundOwner is implemented by providers that may use an automatically found
// server.
type foundOwner interface {
	Owner(context.Context) llm.Owner
	Allow(ctx context.Context, owner string)
}

// Owner returns the owner of the default server if that is in use and was found
// automatically; else the zero value.
func (s *Set) Owner(ctx context.Context) llm.Owner {
	found, ok := s.list[0].Provider.(foundOwner)
	if !ok || !s.settings.OllamaFound || s.current() != s.list[0] && s.embeds != s.list[0] {
		return llm.Owner{}
	}
	return found.Owner(ctx)
}

// Allow permits the use of a default server that belongs to this user, given by
// name or uid.
func (s *Set) Allow(ctx context.Context, owner string) {
	s.mu.Lock()
	all := slices.Concat(s.list[:1], s.roles)
	s.mu.Unlock()
	for _, server := range all {
		if found, ok := server.Provider.(foundOwner); ok {
			found.Allow(ctx, owner)
		}
	}
}

// Changed forwards changes of the default server, unless another server answers.
func (s *Set) Changed(state llm.State) {
	if s.settings.Watcher == nil {
		return
	}
	<-s.opened
	if s.current() != s.list[0] {
		first := state.First
		state = s.State()
		state.First, state.Text, state.Lacks = first, "", ""
	}
	s.settings.Watcher.Changed(state)
}

func (s *Set) current() *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Stream implements [llm.Model].
func (s *Set) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return s.current().Stream(ctx, req)
}

// State implements [llm.Provider]. Remote lists all other machines that receive
// data: questions, or notes to embed.
func (s *Set) State() llm.State {
	s.mu.Lock()
	now, list, users := s.now, slices.Concat(s.list, s.roles), append([]*server{s.now}, s.roles...)
	s.mu.Unlock()
	state := now.State()
	state.Sent = 0
	for _, server := range list {
		state.Sent += server.State().Sent
	}
	if embeds := s.embeds.State(); embeds.Provider == "ollama" || s.settings.Embedding != "" {
		users = append(users, s.embeds)
	}
	var hosts []string
	for _, server := range users {
		if host := server.State().Remote; host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	state.Remote = strings.Join(hosts, ", ")
	return state
}

// Remote returns the host of the model that answers, or "" if it is this machine.
func (s *Set) Remote() string { return s.current().State().Remote }

// Window implements [llm.Provider].
func (s *Set) Window() int { return s.current().Window() }

// SetWindow implements [llm.Provider].
func (s *Set) SetWindow(tokens int) { s.current().SetWindow(tokens) }

// Ready implements [llm.Provider].
func (s *Set) Ready(ctx context.Context) error { return s.current().Ready(ctx) }

// Info implements [llm.Provider].
func (s *Set) Info(ctx context.Context, name string) (llm.Info, error) {
	if name == "" {
		return s.current().Info(ctx, "")
	}
	at, model := s.split(name)
	return s.list[at].Info(ctx, model)
}

// SetModel implements [llm.Provider]. If the name includes another server, that
// server answers from now on.
func (s *Set) SetModel(ctx context.Context, name string) error {
	at, model := s.split(name)
	if err := s.list[at].SetModel(ctx, model); err != nil {
		return s.list[at].forDisplay(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.list[at]
	return nil
}

// Pull implements [llm.Provider].
func (s *Set) Pull(ctx context.Context, name string, progress func(llm.Progress)) error {
	at, model := s.split(name)
	return s.list[at].Pull(ctx, model, progress)
}

// Embedder implements [llm.Provider].
func (s *Set) Embedder(ctx context.Context) (llm.Embedder, error) { return s.embeds.Embedder(ctx) }

// Models implements [llm.Provider]. It lists the models of the default server;
// List covers all servers.
func (s *Set) Models(ctx context.Context) ([]llm.Info, error) { return s.list[0].Models(ctx) }

// List queries all servers concurrently. It first sends a waiting Listing for
// each server, in the order of the settings, then each result as it arrives, and
// closes the channel after the last one.
func (s *Set) List(ctx context.Context) <-chan llm.Listing {
	to := make(chan llm.Listing, 2*len(s.list)) // large enough that no server waits for the reader
	for _, server := range s.list {
		to <- llm.Listing{Server: server.title, Waiting: true}
	}
	var asked sync.WaitGroup
	for _, server := range s.list {
		asked.Go(func() { to <- server.listing(ctx) })
	}
	go func() { asked.Wait(); close(to) }()
	return to
}

// Listings returns the listings of all servers, in the order of the settings.
func (s *Set) Listings(ctx context.Context) []llm.Listing {
	listings := map[string]llm.Listing{}
	for listing := range s.List(ctx) {
		listings[listing.Server] = listing
	}
	list := make([]llm.Listing, len(s.list))
	for i, server := range s.list {
		list[i] = listings[server.title]
	}
	return list
}

// All lists the models of every server, with an error for each server that did
// not answer.
func (s *Set) All(ctx context.Context) (models []llm.Info, err error) {
	for _, l := range s.Listings(ctx) {
		models, err = append(models, l.Models...), errors.Join(err, l.Err)
	}
	return models, err
}

// Close implements [llm.Provider].
func (s *Set) Close() (err error) {
	s.mu.Lock()
	all := slices.Concat(s.list, s.roles)
	s.mu.Unlock()
	for _, server := range all {
		err = errors.Join(err, server.Close())
	}
	return err
}

// server is one of the servers. If it has a name, its models are prefixed with
// it.
type server struct {
	llm.Provider
	set    *Set
	name   string
	title  string // name and host, for display
	remote string // host, if it is not this machine
}

// full returns the full name of one of the server's models.
func (s *server) full(model string) string {
	if s.name != "" {
		return s.name + "/" + model
	}
	if _, rest := s.set.split(model); rest != model {
		return "/" + model
	}
	return model
}

// forDisplay returns an error for display: models have their full names, and keys are
// redacted.
func (s *server) forDisplay(err error) error {
	var missing *llm.NotFoundError
	var status *llm.StatusError
	switch {
	case s.name != "" && errors.As(err, &missing):
		return &llm.NotFoundError{Model: s.full(missing.Model), Fixed: missing.Fixed}
	case s.set.settings.Secrets != nil && errors.As(err, &status):
		status.Message = s.set.settings.Secrets.Known(status.Message)
	}
	return err
}

func (s *server) info(i llm.Info) llm.Info {
	if i.Name != "" {
		i.Name = s.full(i.Name)
	}
	i.Remote = cmp.Or(i.Remote, s.remote)
	return i
}

func (s *server) listing(ctx context.Context) (l llm.Listing) {
	l.Server = s.title
	defer func() {
		if fault := recover(); fault != nil {
			slog.Error("list the models", "server", s.name, "fault", fault)
			l.Err = fmt.Errorf("list the models of %s: %v", l.Server, fault)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	models, err := s.Models(ctx)
	err = s.forDisplay(err)
	for i := range models {
		models[i] = s.info(models[i])
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%s: %w: no list of models within %v", s.name, llm.ErrUnreachable, listTimeout)
	case err != nil && s.name != "":
		err = fmt.Errorf("%s: %w", s.name, err)
	}
	l.Models, l.Err = models, err
	return l
}

// State implements [llm.Provider].
func (s *server) State() llm.State {
	state := s.Provider.State()
	if state.Model != "" {
		state.Model = s.full(state.Model)
	}
	return state
}

// Info implements [llm.Provider].
func (s *server) Info(ctx context.Context, name string) (llm.Info, error) {
	info, err := s.Provider.Info(ctx, name)
	return s.info(info), s.forDisplay(err)
}

// Ready implements [llm.Provider].
func (s *server) Ready(ctx context.Context) error { return s.forDisplay(s.Provider.Ready(ctx)) }

// Pull implements [llm.Provider].
func (s *server) Pull(ctx context.Context, name string, progress func(llm.Progress)) error {
	return s.forDisplay(s.Provider.Pull(ctx, name, progress))
}

// Stream implements [llm.Model].
func (s *server) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for delta, err := range s.Provider.Stream(ctx, req) {
			if delta.Waiting != "" && s.set.settings.Secrets != nil {
				delta.Waiting = s.set.settings.Secrets.Known(delta.Waiting)
			}
			if !yield(delta, s.forDisplay(err)) {
				return
			}
		}
	}
}

// Embedder implements [llm.Provider]. Two servers may use one name for different
// models, so if the name holds no digest, the server's name is added.
func (s *server) Embedder(ctx context.Context) (llm.Embedder, error) {
	e, err := s.Provider.Embedder(ctx)
	if e == nil || err != nil {
		return nil, s.forDisplay(err)
	}
	name := e.Name()
	if model, ok := strings.CutPrefix(name, "openai/"); ok {
		name = "openai/" + s.full(model)
	}
	return embedder{e, s, name}, nil
}

// embedder is an embedder of a server.
type embedder struct {
	llm.Embedder
	server *server
	name   string
}

// Name implements [llm.Embedder].
func (e embedder) Name() string { return e.name }

// Embed implements [llm.Embedder].
func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.Embedder.Embed(ctx, texts)
	return vectors, e.server.forDisplay(err)
}

// Window returns how many tokens of a text the model reads; 0 means unknown.
func (e embedder) Window() int {
	if known, ok := e.Embedder.(interface{ Window() int }); ok {
		return known.Window()
	}
	return 0
}

// openOne returns the provider that the settings select. It makes no connection.
func openOne(s llm.Settings) (llm.Provider, error) {
	switch s.Provider {
	case "", "auto":
		return openAuto(s)
	case "ollama":
		return ollama.New(s)
	case "openai":
		return openai.New(s)
	case "offline":
		return offline.New(), nil
	}
	return nil, fmt.Errorf("unknown model provider %q: use auto, ollama, openai or offline", s.Provider)
}
