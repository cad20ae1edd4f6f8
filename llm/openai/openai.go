// Package openai implements the provider for servers that speak OpenAI's chat
// completions protocol.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lifehub/llm"
)

// Provider is an [llm.Provider] for vLLM, the llama.cpp server, LM Studio,
// Ollama's /v1, OpenAI itself and compatible servers. It uses plain net/http: the
// official client is four times the size of this package and rejects servers that
// deviate slightly from the protocol.
type Provider struct {
	settings  llm.Settings
	base      *url.URL
	client    *http.Client
	transport *llm.Transport

	asking chan struct{} // mutex for requests about models, with support for cancellation

	mu      sync.Mutex
	model   string // empty until one is chosen
	named   bool   // the user chose the model
	window  int    // configured window in tokens; 0: as advertised by the server
	adverts map[string]advert
	refused map[string][]string // request options that the server does not support, by model
	doubted map[string]int      // bytes of a request that was refused, perhaps for its tools, by model
}

// New returns a provider for the server at Settings.OpenAIURL. It makes no
// connection.
func New(s llm.Settings) (*Provider, error) {
	address := cmp.Or(strings.TrimSpace(s.OpenAIURL), "https://api.openai.com/v1")
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("invalid model server address %q: expected one such as http://127.0.0.1:8000/v1",
			address)
	}
	if s.Key == nil && s.OpenAIKey != "" {
		s.Key = func(context.Context) (string, error) { return s.OpenAIKey, nil }
	}
	t := llm.NewTransport(s.Key, nil)
	return &Provider{
		settings: s, base: base, client: t.Client(), transport: t, asking: make(chan struct{}, 1),
		model: s.Model, named: s.Model != "", window: s.Window,
		adverts: map[string]advert{}, refused: map[string][]string{}, doubted: map[string]int{},
	}, nil
}

// State implements [llm.Provider].
func (o *Provider) State() llm.State {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.adverts[o.model]
	s := llm.State{
		Provider: "openai", Model: o.model, Sent: o.transport.Sent.Load(),
		Tools: !slices.Contains(o.refused[o.model], "tools"), RejectsLongPrompts: a.window() > 0,
		Parameters: cmp.Or(a.Meta.Parameters, llm.ParametersIn(o.model)),
	}
	if !llm.ThisMachine(o.base) {
		s.Remote = o.base.Host
	}
	return s
}

// Window implements [llm.Provider].
func (o *Provider) Window() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.adverts[o.model].allocate(o.window)
}

// SetWindow implements [llm.Provider].
func (o *Provider) SetWindow(tokens int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window = tokens
}

// Ready implements [llm.Provider].
func (o *Provider) Ready(ctx context.Context) error {
	_, err := o.about(ctx, "")
	return err
}

// Info implements [llm.Provider]. The model's capabilities are unknown until they
// are tried.
func (o *Provider) Info(ctx context.Context, name string) (llm.Info, error) {
	a, err := o.about(ctx, name)
	switch {
	case err != nil:
		return llm.Info{}, err
	case a.listErr != nil:
		return llm.Info{}, a.listErr
	case !a.listed:
		return llm.Info{}, &llm.NotFoundError{Model: a.ID, Fixed: true}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	info := o.info(a)
	info.Allocated = a.allocate(o.window)
	return info, nil
}

func (o *Provider) info(a advert) llm.Info {
	info := llm.Info{Name: a.ID, Context: cmp.Or(a.window(), int(a.Meta.Trained))}
	if !llm.ThisMachine(o.base) {
		info.Remote = o.base.Host
	}
	return info
}

// Models implements [llm.Provider].
func (o *Provider) Models(ctx context.Context) ([]llm.Info, error) {
	listed, err := o.list(ctx, llm.QuestionTimeout)
	if err != nil {
		return nil, err
	}
	models := make([]llm.Info, 0, len(listed))
	for _, a := range listed {
		models = append(models, o.info(a))
	}
	return models, nil
}

// SetModel implements [llm.Provider].
func (o *Provider) SetModel(ctx context.Context, name string) error {
	if _, err := o.Info(ctx, name); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.model, o.named = name, true
	return nil
}

// Pull implements [llm.Provider]; the protocol has no such request, so it always
// fails.
func (o *Provider) Pull(_ context.Context, name string, _ func(llm.Progress)) error {
	return &llm.UnsupportedError{Model: name, Capability: "pulling from this kind of server"}
}

// Alive implements [llm.Prober] with a request that every server answers at once.
func (o *Provider) Alive(ctx context.Context) error {
	return o.roundTrip(ctx, http.MethodGet, "models", nil, &listing{})
}

// limits returns the limits of an answer. Only a server on this machine is probed.
func (o *Provider) limits() llm.Limits {
	l := llm.Limits{Window: o.Window(), FirstToken: o.settings.FirstToken}
	if llm.ThisMachine(o.base) {
		l.Server = o
	}
	return l
}

// Host returns the server's address and reports whether it is another machine.
func (o *Provider) Host() (host string, remote bool) { return o.base.Host, !llm.ThisMachine(o.base) }

// Close implements [llm.Provider]; there is nothing to stop.
func (o *Provider) Close() error { return nil }

// roundTrip sends body as JSON, unless it is nil, and decodes a JSON answer.
func (o *Provider) roundTrip(ctx context.Context, method, path string, body, answer any) error {
	res, err := o.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	const most = 64 << 20               // bytes; 64 vectors of 4096 dimensions take 5 MB
	var unlike *json.UnmarshalTypeError // a field has an unexpected type; the rest was decoded
	if err := json.NewDecoder(io.LimitReader(res.Body, most)).Decode(answer); err != nil && !errors.As(err, &unlike) {
		return &llm.StatusError{Code: res.StatusCode, Message: "response is not JSON: " + llm.Short(err.Error())}
	}
	return nil
}

// send makes one request. The caller must close the body of a response with
// status 200; any other status is an error.
func (o *Provider) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, o.base.JoinPath(path).String(), content)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := o.client.Do(req)
	if err != nil {
		return nil, llm.Explain(err)
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, refusal(o.transport, res)
}

// refusal converts a response whose status is not 200 to an error.
func refusal(t *llm.Transport, res *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	message := cmp.Or(llm.Short(llm.ErrorText(raw)), http.StatusText(res.StatusCode))
	if proxy := t.ProxyOf(res.Request); proxy != "" {
		message += " (through the proxy " + proxy + ")"
	}
	return &llm.StatusError{
		Code: res.StatusCode, Message: message,
		RetryAfter: retryAfter(res.Header.Get("Retry-After"), time.Now()),
	}
}

// retryAfter parses a Retry-After header, which holds seconds or a date; 0 means
// no delay.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return 0
}

// missing converts a 404 about the model, rather than the path, to a
// NotFoundError.
func missing(err error, model string) error {
	var status *llm.StatusError
	if errors.As(err, &status) && status.Code == http.StatusNotFound &&
		strings.Contains(strings.ToLower(status.Message), "model") {
		return &llm.NotFoundError{Model: model, Fixed: true}
	}
	return err
}
