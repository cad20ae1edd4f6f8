// Package ollama implements the provider for an Ollama server.
package ollama

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// Provider is an [llm.Provider] for an Ollama server.
type Provider struct {
	settings  llm.Settings
	base      *url.URL
	client    *api.Client
	http      *http.Client
	transport *llm.Transport

	mu       sync.Mutex
	model    string              // empty until one is chosen
	named    bool                // the user chose the model
	window   int                 // configured window; 0: by model and machine
	embedded string              // name of the embedder that the notes are indexed with
	known    map[string]llm.Info // descriptions from the server's show call, by name
}

// New returns a provider for the server at Settings.OllamaHost. It makes no
// connection.
func New(s llm.Settings) (*Provider, error) {
	base, err := parseOllamaHost(s.OllamaHost)
	if err != nil {
		return nil, err
	}
	o := &Provider{
		settings: s, base: base, model: s.Model, named: s.Model != "", window: s.Window,
		known: map[string]llm.Info{}, embedded: s.Embedded,
	}
	o.transport = llm.NewTransport(s.Key, o)
	if s.OllamaFound {
		o.transport.OnlyFound(s.OllamaOwner)
	}
	o.http = o.transport.Client()
	o.client = api.NewClient(base, o.http)
	return o, nil
}

// RunsElsewhere implements [llm.Placed].
func (o *Provider) RunsElsewhere() bool { return o.currentlyKnown().Remote != "" }

// State implements [llm.Provider].
func (o *Provider) State() llm.State {
	info := o.currentlyKnown()
	s := llm.State{
		Provider: "ollama", Model: info.Name, Remote: info.Remote, Sent: o.transport.Sent.Load(),
		Tools: info.Can("tools"), RejectsLongPrompts: true,
		Parameters: cmp.Or(llm.ParametersIn(info.Parameters), llm.ParametersIn(info.Name)),
	}
	if s.Remote == "" && !llm.ThisMachine(o.base) {
		s.Remote = o.base.Host
	}
	return s
}

// currentlyKnown returns the cached description of the current model.
func (o *Provider) currentlyKnown() llm.Info {
	o.mu.Lock()
	defer o.mu.Unlock()
	if info, ok := o.known[o.model]; ok {
		return info
	}
	return llm.Info{Name: o.model}
}

// Window implements [llm.Provider].
func (o *Provider) Window() int {
	info := o.currentlyKnown()
	return cmp.Or(o.allocate(info), llm.DefaultWindow())
}

// SetWindow implements [llm.Provider]. The server reloads the model.
func (o *Provider) SetWindow(tokens int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window = tokens
}

// allocate returns the window to request: the configured one, else the one in the
// model's settings, else one that fits this machine's memory; at most what the
// model supports. It is constant across requests, because the server reloads the
// model after a change.
func (o *Provider) allocate(info llm.Info) int {
	o.mu.Lock()
	setting := o.window
	o.mu.Unlock()
	switch {
	case setting > 0:
	case info.Remote != "": // the model does not use this machine's memory
		setting = cmp.Or(min(info.Context, 128<<10), llm.UsualWindow)
	case !llm.ThisMachine(o.base): // the memory of the other machine is unknown
		setting = cmp.Or(info.Preferred, llm.UsualWindow)
	default:
		setting = cmp.Or(info.Preferred, llm.DefaultWindow())
	}
	if info.Context > 0 {
		return min(setting, info.Context)
	}
	return setting
}

// Ready implements [llm.Provider].
func (o *Provider) Ready(ctx context.Context) error {
	_, err := o.current(ctx)
	return err
}

// Info implements [llm.Provider].
func (o *Provider) Info(ctx context.Context, name string) (llm.Info, error) {
	if name == "" {
		return o.current(ctx)
	}
	return o.show(ctx, name)
}

// current returns the model that answers. If none is chosen yet, it chooses the
// first installed one that can use tools, else the first that can chat. It never
// chooses one that runs on another host.
func (o *Provider) current(ctx context.Context) (llm.Info, error) {
	o.mu.Lock()
	name, named := o.model, o.named
	o.mu.Unlock()
	if name != "" {
		info, err := o.show(ctx, name)
		var gone *llm.NotFoundError
		if named || !errors.As(err, &gone) {
			return info, err
		}
	}
	return o.choose(ctx)
}

func (o *Provider) choose(ctx context.Context) (llm.Info, error) {
	models, err := o.Models(ctx)
	if err != nil {
		return llm.Info{}, err
	}
	best := -1
	for i, m := range models {
		if m.Remote != "" || !m.Can("completion") {
			continue
		}
		if m.Can("tools") {
			best = i
			break
		}
		if best < 0 {
			best = i
		}
	}
	if best < 0 {
		return llm.Info{}, &llm.NotFoundError{Model: llm.Suggestion()}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.named { // the user may have chosen one meanwhile
		o.model = models[best].Name
	}
	return models[best], nil
}

// show asks the server to describe a model, and caches the answer.
func (o *Provider) show(ctx context.Context, name string) (llm.Info, error) {
	o.mu.Lock()
	info, ok := o.known[name]
	o.mu.Unlock()
	if ok {
		info.Allocated = o.allocate(info)
		return info, nil
	}
	res, err := llm.Again(ctx, func() (*api.ShowResponse, error) {
		return llm.Within(ctx, llm.QuestionTimeout, func(ctx context.Context) (*api.ShowResponse, error) {
			res, err := o.client.Show(ctx, &api.ShowRequest{Model: name})
			return res, o.explain(err, name)
		})
	})
	if err != nil {
		return llm.Info{}, err
	}
	info = llm.Info{
		Name: name, Family: res.Details.Family, Parameters: res.Details.ParameterSize,
		Quantization: res.Details.QuantizationLevel, Remote: hostOf(res.RemoteHost),
		Preferred: parameter(res.Parameters, "num_ctx"),
	}
	for _, c := range res.Capabilities {
		info.Capabilities = append(info.Capabilities, string(c))
	}
	if arch, ok := res.ModelInfo["general.architecture"].(string); ok {
		if n, ok := res.ModelInfo[arch+".context_length"].(float64); ok {
			info.Context = int(n)
		}
	}
	o.mu.Lock()
	o.known[name] = info
	o.mu.Unlock()
	info.Allocated = o.allocate(info)
	return info, nil
}

// parameter reads a number from a model's PARAMETER lines; 0 if it is not set.
func parameter(lines, name string) int {
	for line := range strings.Lines(lines) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return max(n, 0)
		}
	}
	return 0
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

// Models implements [llm.Provider]. It keeps the order of the server, newest
// first.
func (o *Provider) Models(ctx context.Context) ([]llm.Info, error) {
	listed, err := o.list(ctx)
	if err != nil {
		return nil, err
	}
	models := make([]llm.Info, 0, len(listed))
	for _, m := range listed {
		info, err := o.show(ctx, m.Name)
		var gone *llm.NotFoundError
		if errors.As(err, &gone) {
			continue // deleted after the models were listed
		}
		if err != nil {
			return nil, err
		}
		info.Size, info.Digest = m.Size, strings.TrimPrefix(m.Digest, "sha256:")
		info.Remote = cmp.Or(info.Remote, hostOf(m.RemoteHost))
		models = append(models, info)
	}
	return models, nil
}

func (o *Provider) list(ctx context.Context) ([]api.ListModelResponse, error) {
	res, err := llm.Again(ctx, func() (*api.ListResponse, error) {
		return llm.Within(ctx, llm.QuestionTimeout, func(ctx context.Context) (*api.ListResponse, error) {
			res, err := o.client.List(ctx)
			return res, o.explain(err, "")
		})
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(res.Models, func(m api.ListModelResponse) bool { return !llm.IsName(m.Name) }), nil
}

// SetModel implements [llm.Provider].
func (o *Provider) SetModel(ctx context.Context, name string) error {
	info, err := o.show(ctx, name)
	if err != nil {
		return err
	}
	if !info.Can("completion") {
		return &llm.UnsupportedError{Model: name, Capability: "chat"}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.model, o.named = name, true
	return nil
}

// Pull implements [llm.Provider].
func (o *Provider) Pull(ctx context.Context, name string, progress func(llm.Progress)) error {
	last := ""
	err := o.client.Pull(ctx, &api.PullRequest{Model: name}, func(p api.ProgressResponse) error {
		last = p.Status
		if progress != nil {
			progress(llm.Progress{Status: p.Status, Done: p.Completed, Total: p.Total})
		}
		return nil
	})
	switch err = o.explain(err, name); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("pull %s: %w", name, err)
	case last != "success":
		return fmt.Errorf("pull %s: %w", name, llm.ErrCut)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.known, func(known string, _ llm.Info) bool { return llm.SameModel(known, name) })
	return nil
}

// Alive implements [llm.Prober].
func (o *Provider) Alive(ctx context.Context) error {
	_, err := o.client.Version(ctx)
	return o.explain(err, "")
}

// Owner returns the user who owns the server, if no setting names the server. It
// connects to the server.
func (o *Provider) Owner(ctx context.Context) llm.Owner {
	_ = o.Alive(ctx) // callers meet the same error when they use the server
	return o.LastOwner()
}

// LastOwner is like Owner, but returns the owner at the last connection and does
// not connect.
func (o *Provider) LastOwner() llm.Owner { return o.transport.Owner() }

// Allow permits the use of a server that was found automatically and belongs to
// another user.
func (o *Provider) Allow(_ context.Context, owner string) { o.transport.Allow(owner) }

// Host returns the server's address and reports whether it is another machine.
func (o *Provider) Host() (host string, remote bool) { return o.base.Host, !llm.ThisMachine(o.base) }

// Close implements [llm.Provider]; there is nothing to stop.
func (o *Provider) Close() error { return nil }

// explain converts errors of Ollama's client to those of package llm.
func (o *Provider) explain(err error, model string) error {
	if err = llm.Explain(err); err == nil {
		return nil
	}
	var away *llm.UnreachableError
	if errors.As(err, &away) && llm.ThisMachine(o.base) {
		away.Start = "ollama serve"
	}
	var login api.AuthorizationError
	if errors.As(err, &login) {
		message := "sign-in required: ollama signin"
		if login.SigninURL != "" {
			message = "sign-in required at " + login.SigninURL
		}
		return &llm.StatusError{Code: http.StatusUnauthorized, Message: message}
	}
	var status api.StatusError
	if !errors.As(err, &status) {
		return err
	}
	message := status.ErrorMessage
	switch {
	case status.StatusCode == http.StatusNotFound && model != "" && !strings.HasPrefix(message, "404 page"):
		o.forget(model)
		return &llm.NotFoundError{Model: model}
	case status.StatusCode == http.StatusBadRequest:
		if _, capability, ok := strings.Cut(message, "does not support "); ok {
			return &llm.UnsupportedError{Model: model, Capability: llm.Short(capability)}
		}
	}
	return &llm.StatusError{Code: status.StatusCode, Message: llm.Short(message)}
}

// forget drops the cached description of a model that the server no longer has.
func (o *Provider) forget(model string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.known, model)
}
