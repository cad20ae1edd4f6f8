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

	asking chan struct{} // held by who asks the server about its models

	mu      sync.Mutex
	model   string // "" until it is chosen
	named   bool   // by the user
	window  int    // the setting in tokens; 0: what the server advertises
	adverts map[string]advert
	refused map[string][]string // options of a request that the server does not know, by model
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
		settings: s, base: base, client: t.client(), transport: t, asking: make(chan struct{}, 1),
		model: s.Model, named: s.Model != "", window: s.Window,
		adverts: map[string]advert{}, refused: map[string][]string{},
	}, nil
}

// State implements [Provider].
func (o *OpenAI) State() State {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := State{Provider: "openai", Model: o.model, Sent: o.transport.sent.Load(), RejectsLongPrompts: o.adverts[o.model].rejectsLong()}
	if !thisMachine(o.base) {
		s.Remote = o.base.Host
	}
	return s
}

// Window implements [Provider].
func (o *OpenAI) Window() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.adverts[o.model].allocate(o.window)
}

// SetWindow implements [Provider].
func (o *OpenAI) SetWindow(tokens int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window = tokens
}

// Ready implements [Provider].
func (o *OpenAI) Ready(ctx context.Context) error {
	_, err := o.about(ctx, "", true)
	return err
}

// Info implements [Provider]. What the model can do is not known: it is tried.
func (o *OpenAI) Info(ctx context.Context, name string) (Info, error) {
	a, err := o.about(ctx, name, false)
	switch {
	case err != nil:
		return Info{}, err
	case a.listErr != nil:
		return Info{}, a.listErr
	case !a.listed:
		return Info{}, &NotFoundError{Model: a.ID, Fixed: true}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	info := o.info(a)
	info.Allocated = a.allocate(o.window)
	return info, nil
}

func (o *OpenAI) info(a advert) Info {
	info := Info{Name: a.name(), Context: cmp.Or(a.window(), a.most())}
	if !thisMachine(o.base) {
		info.Remote = o.base.Host
	}
	return info
}

// Models implements [Provider].
func (o *OpenAI) Models(ctx context.Context) ([]Info, error) {
	listed, err := o.list(ctx, questionTimeout)
	if err != nil {
		return nil, err
	}
	models := make([]Info, 0, len(listed))
	for _, a := range listed {
		models = append(models, o.info(a))
	}
	return models, nil
}

// SetModel implements [Provider].
func (o *OpenAI) SetModel(ctx context.Context, name string) error {
	if _, err := o.Info(ctx, name); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.model, o.named = name, true
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
	const most = 64 << 20               // bytes; 64 vectors of 4096 numbers are 5 MB
	var unlike *json.UnmarshalTypeError // one field is not as others write it; the rest was read
	if err := json.NewDecoder(io.LimitReader(res.Body, most)).Decode(answer); err != nil && !errors.As(err, &unlike) {
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
	return nil, o.transport.refusal(res)
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
func (t *transport) refusal(res *http.Response) error {
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
	if slices.Contains([]int{400, 413, 422, 500}, res.StatusCode) && (tooLong(message) || tooLong(code)) {
		return ErrTooLong
	}
	if proxy := t.proxyOf(res.Request); proxy != "" {
		message += " (through the proxy " + proxy + ")"
	}
	return &StatusError{Code: res.StatusCode, Message: message, RetryAfter: retryAfter(res.Header.Get("Retry-After"), time.Now())}
}

// retryAfter reads the header of that name, which holds seconds or a date; 0:
// it asks for no wait.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return 0
}

// missing makes NotFoundError of a 404 that is about the model rather than the
// address.
func missing(err error, model string) error {
	var status *StatusError
	if errors.As(err, &status) && status.Code == http.StatusNotFound && strings.Contains(strings.ToLower(status.Message), "model") {
		return &NotFoundError{Model: model, Fixed: true}
	}
	return err
}

// complete reports whether an event is whole on its own.
func complete(event []byte) bool {
	return string(event) == "[DONE]" || json.Valid(event)
}
