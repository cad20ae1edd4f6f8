package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"lifehub/llm"
)

// chatBody is the body of a streaming chat completion request.
type chatBody struct {
	Model         string          `json:"model"`
	Messages      []chatMessage   `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions map[string]bool `json:"stream_options,omitempty"`
	Tools         []chatTool      `json:"tools,omitempty"`
	Format        *chatFormat     `json:"response_format,omitempty"`
	MaxTokens     int             `json:"max_tokens,omitempty"`
	MaxCompletion int             `json:"max_completion_tokens,omitempty"`
	Effort        string          `json:"reasoning_effort,omitempty"`
	Temperature   float64         `json:"temperature,omitempty"`
	Progress      bool            `json:"return_progress,omitempty"` // llama.cpp
}

type chatMessage struct {
	Role    string     `json:"role"`
	Content any        `json:"content"` // a string, or a list of parts if there are images
	Calls   []chatCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"` // before the calls, as in [chatDelta]
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments"` // text in requests
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	} `json:"function"`
}

type chatFormat struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// chatChunk is an event of the stream, or the complete response of a server that
// does not stream.
type chatChunk struct {
	Choices []struct {
		Index   int       `json:"index"`
		Delta   chatDelta `json:"delta"`
		Message chatDelta `json:"message"` // of a complete response; with deltas, a copy of the answer so far
		Finish  string    `json:"finish_reason"`
	} `json:"choices"`
	Usage   *chatUsage `json:"usage"`
	Timings struct {
		Cached  float64 `json:"cache_n"`
		Read    float64 `json:"prompt_n"`
		Writing float64 `json:"predicted_ms"`
	} `json:"timings"` // llama.cpp
	Progress *struct {
		Total  float64 `json:"total"`
		Cached float64 `json:"cache"`
		Read   float64 `json:"processed"`
		Took   float64 `json:"time_ms"`
	} `json:"prompt_progress"` // llama.cpp, with return_progress
	Error json.RawMessage `json:"error"` // text, or an object
}

type chatDelta struct {
	Content   chatText  `json:"content"`
	Refusal   string    `json:"refusal"`           // replaces the content
	Reasoning string    `json:"reasoning_content"` // vLLM, llama.cpp, DeepSeek
	Thinking  string    `json:"reasoning"`         // Ollama, routers
	Calls     chatCalls `json:"tool_calls"`
	// Function is a piece of the only call, as older servers write it.
	Function *chatFunction `json:"function_call"`
}

// chatCalls are pieces of calls: a list, or one.
type chatCalls []chatCall

// UnmarshalJSON never fails; what cannot be read of a piece is missing.
func (c *chatCalls) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(raw, []byte("{")) {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	_ = json.Unmarshal(raw, (*[]chatCall)(c))
	return nil
}

// chatText is the text of a message's content, which is a string or a list of parts. Parts that are not
// text are ignored.
type chatText string

// UnmarshalJSON never fails; unknown content yields no text.
func (t *chatText) UnmarshalJSON(raw []byte) error {
	*t = ""
	if json.Unmarshal(raw, (*string)(t)) == nil {
		return nil
	}
	var parts []struct {
		Type string `json:"type"` // text, output_text, text_delta; reasoning has a text, too
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // what can be read of them
	for _, part := range parts {
		if part.Type == "" || strings.Contains(part.Type, "text") {
			*t += chatText(part.Text)
		}
	}
	return nil
}

type chatUsage struct {
	Prompt  int `json:"prompt_tokens"`
	Answer  int `json:"completion_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// Stream implements [llm.Model]. Besides the errors documented there, it may
// yield ErrUnreachable, NotFoundError, UnsupportedError and
// StatusError.
func (o *Provider) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		model := o.State().Model
		if model == "" {
			a, err := o.about(ctx, "")
			if err != nil {
				yield(llm.Delta{}, err)
				return
			}
			model = a.ID
		}
		body := o.chatBody(model, req)
		try := func(ctx context.Context, emit func(llm.Delta) error) error {
			err := missing(o.chat(ctx, body, emit), body.Model)
			o.forget(body.Model, err)
			return err
		}
		llm.Stream(ctx, o.limits(), try)(yield)
	}
}

// usageTimeout bounds the wait for the token counts and the end marker after the
// last piece of an answer.
const usageTimeout = 2 * time.Second

// chat sends the request once and reads the answer. A finish_reason completes the
// answer, with or without [DONE].
func (o *Provider) chat(ctx context.Context, body *chatBody, emit func(llm.Delta) error) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	res, err := o.post(reading, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	var ending *time.Timer
	answer := &chatAnswer{emit: emit}
	err = readAnswer(res.Body, func(name string, data []byte) error {
		err := answer.event(name, data)
		if answer.usage.Stopped != "" && ending == nil {
			ending = time.AfterFunc(usageTimeout, stop)
		}
		return err
	})
	if ending != nil {
		ending.Stop()
	}
	var status *llm.StatusError
	switch {
	case errors.Is(err, llm.ErrStopped), errors.As(err, &status):
		return err
	case ctx.Err() != nil:
		return llm.Cut(ctx.Err())
	case answer.usage.Stopped != "":
		err = answer.end()
	case err == nil && answer.noise && answer.first.IsZero():
		err = errNotJSON
	case err == nil:
		return llm.ErrCut // the stream ended without a finish_reason
	}
	if errors.Is(err, llm.ErrStopped) {
		return err
	}
	return llm.Cut(err)
}

// optional lists the request options that a server may not support.
var optional = []string{
	"stream_options", "response_format", "reasoning_effort", "return_progress", "temperature", "max_tokens",
	"max_completion_tokens",
}

// fields is a request body by option.
type fields map[string]json.RawMessage

// without returns a copy of the request without some options.
func (f fields) without(options []string) fields {
	f = maps.Clone(f)
	for _, option := range options {
		delete(f, option)
	}
	return f
}

// named returns the options that a refusal names.
func (f fields) named(err error) (options []string) {
	var status *llm.StatusError
	if !errors.As(err, &status) || !status.Refused() {
		return nil
	}
	for _, option := range optional {
		if f[option] != nil && strings.Contains(status.Message, option) {
			options = append(options, option)
		}
	}
	return options
}

// post sends a request, without the options that its refusal names, and remembers
// what helped for later requests to the same model. If those have no tools, it
// returns an UnsupportedError.
func (o *Provider) post(ctx context.Context, body *chatBody) (*http.Response, error) {
	var given fields
	raw, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(raw, &given)
	}
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	var refused []string
	for {
		o.mu.Lock()
		given = given.without(slices.Concat(o.refused[body.Model], refused))
		o.mu.Unlock()
		if body.Tools != nil && given["tools"] == nil {
			return nil, &llm.UnsupportedError{Model: body.Model, Capability: "tools"}
		}
		res, err := o.send(ctx, http.MethodPost, "chat/completions", given)
		named := given.named(err)
		if len(named) == 0 {
			o.learn(body, len(raw), refused, err)
			return res, err
		}
		refused = append(refused, named...)
	}
}

// learn remembers the options that a model's server does not support. If a request with
// tools was refused, and then one without them is answered that is no shorter, the
// tools were the reason.
func (o *Provider) learn(body *chatBody, size int, refused []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var status *llm.StatusError
	doubted := o.doubted[body.Model]
	switch {
	case errors.As(err, &status) && body.Tools != nil && status.MayBeTools() &&
		(status.Code < http.StatusInternalServerError || status.Code == http.StatusNotImplemented):
		o.doubted[body.Model] = size
		return
	case err != nil:
		return
	case body.Tools == nil && doubted > 0 && size >= doubted:
		refused = append(refused, "tools")
		delete(o.doubted, body.Model)
	case body.Tools != nil:
		delete(o.doubted, body.Model)
	}
	o.refused[body.Model] = append(o.refused[body.Model], refused...)
}

// chatAnswer accumulates one streamed answer.
type chatAnswer struct {
	emit   func(llm.Delta) error
	pieces bool // a delta had text or calls, so a message repeats it
	calls  llm.CallBuilder
	usage  llm.Usage
	noise  bool   // data came that is no JSON
	broken string // a finish_reason that means failure; empty: none
	first  time.Time
}

func (a *chatAnswer) event(name string, data []byte) error {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		return a.end()
	}
	var chunk chatChunk
	err := json.Unmarshal(data, &chunk)
	var unlike *json.UnmarshalTypeError // a field has an unexpected type; the rest was decoded
	known := err == nil || errors.As(err, &unlike) && unlike.Field != ""
	failed := llm.ErrorText(chunk.Error)
	if len(chunk.Choices) == 0 && (name == "" || name == "message") {
		failed = llm.ErrorIn(data)
	}
	switch {
	case name == "error":
		return a.failure(llm.ErrorText(data))
	case failed != "":
		return a.failure(failed)
	case !known && name != "" && name != "message":
		return nil // an event of another kind
	case !known && !likeJSON(data): // a comment, such as "ping"
		a.noise = true
		return nil
	case !known:
		return errNotJSON
	}
	if chunk.Usage != nil {
		a.usage.Prompt, a.usage.Answer, a.usage.Cached = chunk.Usage.Prompt, chunk.Usage.Answer,
			chunk.Usage.Details.Cached
	}
	if p := chunk.Progress; p != nil && a.first.IsZero() {
		took := time.Duration(p.Took * float64(time.Millisecond))
		read := llm.Reading{Total: int(p.Total), Cached: int(p.Cached), Read: int(p.Read), Took: took}
		return a.emit(llm.Delta{Reading: &read})
	}
	a.usage.Cached = max(a.usage.Cached, int(chunk.Timings.Cached))
	a.usage.Prompt = max(a.usage.Prompt, int(chunk.Timings.Cached+chunk.Timings.Read))
	a.usage.Generating = max(a.usage.Generating, time.Duration(chunk.Timings.Writing*float64(time.Millisecond)))
	for _, choice := range chunk.Choices {
		if choice.Index != 0 { // an alternative answer to the same request
			continue
		}
		parts := []chatDelta{choice.Delta, choice.Message}
		if d := choice.Delta; a.pieces || d.Content != "" || d.Refusal != "" || len(d.Calls) > 0 ||
			d.Function != nil {
			a.pieces, parts = true, parts[:1]
		}
		for _, d := range parts {
			if d.Function != nil {
				d.Calls = append(d.Calls, chatCall{Function: *d.Function})
			}
			for _, c := range d.Calls {
				a.calls.Add(llm.CallPiece{Index: c.Index, ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
			}
			if a.first.IsZero() {
				a.first = time.Now()
			}
			if err := a.emit(llm.Delta{
				Text:     string(d.Content) + d.Refusal,
				Thinking: d.Reasoning + d.Thinking,
			}); err != nil {
				return err
			}
		}
		a.finish(choice.Finish)
	}
	return nil
}

// errNotJSON reports a stream whose events are not JSON.
var errNotJSON = errors.New("the server sent something that is not JSON")

// failure converts an error reported within the stream.
func (a *chatAnswer) failure(message string) error {
	message = cmp.Or(llm.Short(message), "the server reported an unspecified error")
	if !a.first.IsZero() {
		return errors.New(message)
	}
	return &llm.StatusError{Code: http.StatusOK, Message: message} // the request was rejected before any output
}

// finish records why the answer ended; an empty reason means that it has not.
// Without calls, only reasons known to mean a complete answer count as success.
func (a *chatAnswer) finish(reason string) {
	stopped := llm.StopEnd
	switch strings.ToLower(reason) {
	case "", "null":
		return
	case "stop", "tool_calls", "eos", "eos_token", "stop_sequence", "end_turn":
	case "length", "max_tokens", "model_length":
		stopped = llm.StopLength
	default:
		a.broken = reason
	}
	a.usage.Stopped = stopped
}

// end yields the tool calls and the usage. Calls that are complete end an answer
// whatever the server calls it, unless it failed.
func (a *chatAnswer) end() error {
	calls := a.calls.Calls()
	incomplete := slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.Fault != "" })
	failed := slices.Contains([]string{"content_filter", "error"}, strings.ToLower(a.broken))
	if a.broken != "" && (failed || incomplete || len(calls) == 0) {
		return llm.CutBy(a.broken)
	}
	for _, call := range calls {
		if err := a.emit(llm.Delta{Call: &call}); err != nil {
			return err
		}
	}
	if a.usage.Stopped == "" {
		a.usage.Stopped = llm.StopEnd
	}
	if !a.first.IsZero() && a.usage.Generating == 0 {
		a.usage.Generating = time.Since(a.first)
	}
	return a.emit(llm.Delta{Usage: &a.usage})
}

func (o *Provider) chatBody(model string, req llm.Request) *chatBody {
	body := &chatBody{
		Model: model, Stream: true, StreamOptions: map[string]bool{"include_usage": true},
	}
	if o.base.Hostname() == "api.openai.com" { // its newer models reject max_tokens, which all other servers support
		body.MaxCompletion = req.MaxTokens
	} else {
		body.MaxTokens = req.MaxTokens
	}
	if !req.Thinks() {
		body.Temperature = llm.Temperature
	}
	if slices.Contains([]string{"low", "medium", "high"}, req.Think) {
		body.Effort = req.Think
	}
	if len(req.Schema) > 0 {
		body.Format = &chatFormat{Type: "json_schema"}
		body.Format.Schema.Name, body.Format.Schema.Schema = "answer", req.Schema
	}
	for _, spec := range req.Tools {
		tool := chatTool{Type: "function"}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = spec.Name,
			spec.Description, spec.Schema
		body.Tools = append(body.Tools, tool)
	}
	for _, m := range req.Messages {
		body.Messages = append(body.Messages, chatMessageOf(m))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	body.Progress = o.adverts[model].isLlamaCpp()
	return body
}

func chatMessageOf(m llm.Message) chatMessage {
	out := chatMessage{Role: string(m.Role), Content: m.Text, CallID: m.CallID}
	if len(m.Images) > 0 {
		parts := []map[string]any{{"type": "text", "text": m.Text}}
		for _, image := range m.Images {
			address := "data:" + http.DetectContentType(image) + ";base64," + base64.StdEncoding.EncodeToString(image)
			parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]string{"url": address}})
		}
		out.Content = parts
	}
	for _, call := range m.Calls {
		c := chatCall{ID: call.ID, Type: "function"}
		c.Function.Name = call.Name
		c.Function.Arguments, _ = json.Marshal(cmp.Or(string(call.Args), "{}")) // a string cannot fail
		out.Calls = append(out.Calls, c)
	}
	return out
}
