// Package ollama is the provider that talks to an Ollama server.
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

	"lifehub/internal/neterr"
	"lifehub/llm"
)

// Provider is the provider that talks to an Ollama server.
type Provider struct {
	settings  llm.Settings
	base      *url.URL
	client    *api.Client
	transport *llm.Transport

	mu     sync.Mutex
	model  string              // "" until it is chosen
	named  bool                // the user named the model
	window int                 // the setting; 0: by model and machine
	known  map[string]llm.Info // what show told, by name
}

// New makes a provider of the server at Settings.OllamaHost. It contacts
// nobody yet.
func New(s llm.Settings) (*Provider, error) {
	base, err := parseOllamaHost(s.OllamaHost)
	if err != nil {
		return nil, err
	}
	o := &Provider{settings: s, base: base, model: s.Model, named: s.Model != "", window: s.Window, known: map[string]llm.Info{}}
	o.transport = llm.NewTransport(s.Key, func() bool { return o.currentlyKnown().Remote != "" })
	if s.OllamaFound {
		o.transport.OnlyFound(s.OllamaOwner)
	}
	o.client = api.NewClient(base, o.transport.Client())
	return o, nil
}

// State implements [llm.Provider].
func (o *Provider) State() llm.State {
	info := o.currentlyKnown()
	s := llm.State{Provider: "ollama", Model: info.Name, Remote: info.Remote, Sent: o.transport.Sent.Load(), RejectsLongPrompts: true}
	if s.Remote == "" && !llm.ThisMachine(o.base) {
		s.Remote = o.base.Host
	}
	return s
}

// currentlyKnown is what is known of the model in use, without asking.
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

// SetWindow implements [llm.Provider]. The server loads the model again for it.
func (o *Provider) SetWindow(tokens int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window = tokens
}

// allocate is the window to ask for: the setting, else what the model's maker
// or owner set, else what this machine can hold; never more than the model can.
// It is the same on each request, because a change loads the model again.
func (o *Provider) allocate(info llm.Info) int {
	o.mu.Lock()
	setting := o.window
	o.mu.Unlock()
	switch {
	case setting > 0:
	case info.Remote != "": // no memory of ours is at stake
		setting = cmp.Or(min(info.Context, 128<<10), llm.UsualWindow)
	case !llm.ThisMachine(o.base): // nor is it known what the other machine has
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

// current is the model that answers, chosen now if it is not yet: the first
// installed one that can use tools, else the first that can chat. Models that
// run elsewhere are never chosen unasked.
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
	if !o.named { // nobody named one meanwhile
		o.model = models[best].Name
	}
	return models[best], nil
}

// show asks for a model once and keeps the answer.
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

// parameter reads a number from the PARAMETER lines of a model; 0: not set.
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

// Models implements [llm.Provider]; newest first, as the server lists them.
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
			continue // removed since the list was made
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

// Alive asks the cheapest question there is.
func (o *Provider) Alive(ctx context.Context) error {
	_, err := o.client.Version(ctx)
	return o.explain(err, "")
}

// Owner is whose the server is, where no setting names it. It asks the server.
func (o *Provider) Owner(ctx context.Context) llm.Owner {
	_ = o.Alive(ctx) // what is wrong is met by who uses it
	return o.LastOwner()
}

// LastOwner is whose the server was at the last connection, without asking it.
func (o *Provider) LastOwner() llm.Owner { return o.transport.Owner() }

// Allow lets a server be used that was only found and belongs to another user.
func (o *Provider) Allow(_ context.Context, owner string) { o.transport.Allow(owner) }

// Host is where the server is, and whether that is another machine.
func (o *Provider) Host() (host string, remote bool) { return o.base.Host, !llm.ThisMachine(o.base) }

// Close implements [llm.Provider]; nothing runs in the background.
func (o *Provider) Close() error { return nil }

// explain turns what the client says into the errors of this package.
func (o *Provider) explain(err error, model string) error {
	if err = neterr.Explain(err); err == nil {
		return nil
	}
	var away *llm.UnreachableError
	if errors.As(err, &away) && llm.ThisMachine(o.base) {
		away.Start = "ollama serve"
	}
	var login api.AuthorizationError
	if errors.As(err, &login) {
		message := "it wants you to sign in: ollama signin"
		if login.SigninURL != "" {
			message = "it wants you to sign in at " + login.SigninURL
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
	case status.StatusCode == http.StatusBadRequest && llm.TooLong(message):
		return llm.ErrTooLong
	case status.StatusCode == http.StatusBadRequest:
		if _, capability, ok := strings.Cut(message, "does not support "); ok {
			return &llm.UnsupportedError{Model: model, Capability: llm.Short(capability)}
		}
	}
	return &llm.StatusError{Code: status.StatusCode, Message: llm.Short(message)}
}

// forget drops what is known of a model that the server no longer has.
func (o *Provider) forget(model string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.known, model)
}
