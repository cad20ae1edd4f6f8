package llm

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
)

// OpenAI is the provider for servers that speak OpenAI's chat completions:
// vLLM, the llama.cpp server, LM Studio, Ollama's /v1 and OpenAI itself. It is
// plain net/http: the official client weighs four times what all of this does
// and refuses servers that are a little different.
type OpenAI struct {
	settings  Settings
	base      *url.URL
	client    *http.Client
	transport *transport

	mu     sync.Mutex
	model  string // "" until it is chosen
	window int
	bounds map[string]int  // window by model, where the server tells it
	asked  map[string]bool // models whose window was asked for
	loose  map[string]bool
}

// NewOpenAI makes a provider of the server at Settings.OpenAIURL. It contacts
// nobody yet.
func NewOpenAI(s Settings) (*OpenAI, error) {
	address := cmp.Or(strings.TrimSpace(s.OpenAIURL), "https://api.openai.com/v1")
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("read the address of the model server %q: it should look like http://127.0.0.1:8000/v1", address)
	}
	t := newTransport(nil)
	return &OpenAI{
		settings: s, base: base, client: t.client(), transport: t,
		model: s.Model, window: s.Window, bounds: map[string]int{}, asked: map[string]bool{}, loose: map[string]bool{},
	}, nil
}

// State implements [Provider].
func (o *OpenAI) State() State {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := State{Provider: "openai", Model: o.model, Sent: o.transport.sent.Load()}
	if !thisMachine(o.base) {
		s.Remote = o.base.Host
	}
	return s
}

// Window implements [Provider]. The protocol has no way to ask for it, but
// some servers tell it in their list of models.
func (o *OpenAI) Window() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	told := o.bounds[o.model]
	switch {
	case o.window > 0 && told > 0:
		return min(o.window, told)
	case o.window > 0:
		return o.window
	}
	return cmp.Or(told, usualWindow)
}

// SetWindow implements [Provider].
func (o *OpenAI) SetWindow(tokens int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window = tokens
}

// Info implements [Provider]. What the model can do is not known: it is tried.
func (o *OpenAI) Info(ctx context.Context, name string) (Info, error) {
	if name == "" {
		current, err := o.current(ctx)
		if err != nil {
			return Info{}, err
		}
		name = current
	}
	models, err := o.Models(ctx)
	if err != nil {
		return Info{}, err
	}
	for _, m := range models {
		if sameModel(m.Name, name) { // Ollama's /v1 lists name:latest
			m.Allocated = o.Window()
			return m, nil
		}
	}
	return Info{}, &NotFoundError{name}
}

// Models implements [Provider].
func (o *OpenAI) Models(ctx context.Context) ([]Info, error) {
	var list struct {
		Data []struct {
			ID         string `json:"id"`
			MaxLength  int    `json:"max_model_len"`  // vLLM
			MaxContext int    `json:"context_length"` // routers
			Meta       struct {
				Context int `json:"n_ctx_train"` // llama.cpp
			} `json:"meta"`
		} `json:"data"`
	}
	if _, err := again(ctx, func() (struct{}, error) {
		return within(ctx, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, o.roundTrip(ctx, http.MethodGet, "models", nil, &list)
		})
	}); err != nil {
		return nil, err
	}
	models := make([]Info, 0, len(list.Data))
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range list.Data {
		info := Info{Name: m.ID, Context: cmp.Or(m.MaxLength, m.MaxContext, m.Meta.Context)}
		if !thisMachine(o.base) {
			info.Remote = o.base.Host
		}
		// What a model was trained on is no promise that its server has room for it.
		if told := cmp.Or(m.MaxLength, m.MaxContext, min(m.Meta.Context, usualWindow)); told > 0 {
			o.bounds[m.ID] = told
		}
		models = append(models, info)
	}
	return models, nil
}

// current is the model that answers: the setting, else the first of the list
// that is not for embedding.
func (o *OpenAI) current(ctx context.Context) (string, error) {
	o.mu.Lock()
	name := o.model
	o.mu.Unlock()
	if name != "" {
		return name, nil
	}
	models, err := o.Models(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(models, func(m Info) bool { return !strings.Contains(strings.ToLower(m.Name), "embed") })
	if i < 0 {
		return "", &NotFoundError{"a chat model"}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.model = cmp.Or(o.model, models[i].Name)
	return o.model, nil
}

// SetModel implements [Provider].
func (o *OpenAI) SetModel(ctx context.Context, name string) error {
	if _, err := o.Info(ctx, name); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.model = name
	return nil
}

// Pull implements [Provider]: such servers are given their models by others.
func (o *OpenAI) Pull(_ context.Context, name string, _ func(Progress)) error {
	return &UnsupportedError{name, "pulling from this kind of server"}
}

// Close implements [Provider]; nothing runs in the background.
func (o *OpenAI) Close() error { return nil }

// roundTrip sends body as JSON, if there is one, and reads a JSON answer.
func (o *OpenAI) roundTrip(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, firstTokenTimeout)
	defer cancel()
	res, err := o.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	const most = 64 << 20 // bytes; 64 vectors of 4096 numbers are 5 MB
	if err := json.NewDecoder(io.LimitReader(res.Body, most)).Decode(answer); err != nil {
		return &StatusError{Code: res.StatusCode, Message: "an answer that is not JSON: " + short(err.Error())}
	}
	return nil
}

// send makes one request. An answer of 200 is the caller's to close; any other
// is an error.
func (o *OpenAI) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
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
	if o.settings.OpenAIKey != "" {
		req.Header.Set("Authorization", "Bearer "+o.settings.OpenAIKey)
	}
	res, err := o.client.Do(req)
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, refusal(res)
}

// apiError is how these servers say that something is wrong.
type apiError struct {
	Message string `json:"message"`
	Code    any    `json:"code"` // a word or a number
	Type    string `json:"type"`
}

// UnmarshalJSON also takes a plain text, which some servers send.
func (e *apiError) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &e.Message) == nil {
		return nil
	}
	type plain apiError
	return json.Unmarshal(b, (*plain)(e))
}

// refusal is the error of an answer that is not 200.
func refusal(res *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	var body struct {
		Error   *apiError `json:"error"`
		Message string    `json:"message"` // older vLLM
	}
	message, code := string(raw), ""
	if json.Unmarshal(raw, &body) == nil {
		if body.Error != nil {
			message, code = body.Error.Message, fmt.Sprint(body.Error.Code)
		} else if body.Message != "" {
			message = body.Message
		}
	}
	if message = short(message); message == "" {
		message = http.StatusText(res.StatusCode)
	}
	if res.StatusCode == http.StatusBadRequest && (tooLong(message) || tooLong(code)) {
		return ErrTooLong
	}
	e := &StatusError{Code: res.StatusCode, Message: message}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// missing makes NotFoundError of a 404 that is about the model rather than the
// address.
func missing(err error, model string) error {
	var status *StatusError
	if errors.As(err, &status) && status.Code == http.StatusNotFound && strings.Contains(strings.ToLower(status.Message), "model") {
		return &NotFoundError{model}
	}
	return err
}

// complete tells whether an event is whole by itself.
func complete(event []byte) bool {
	return string(event) == "[DONE]" || json.Valid(event)
}
