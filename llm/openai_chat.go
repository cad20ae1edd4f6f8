package llm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"
)

// chatBody is a request for a streamed chat completion.
type chatBody struct {
	Model         string          `json:"model"`
	Messages      []chatMessage   `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions map[string]bool `json:"stream_options,omitempty"`
	Tools         []chatTool      `json:"tools,omitempty"`
	Format        *chatFormat     `json:"response_format,omitempty"`
	Temperature   *float64        `json:"temperature,omitempty"`
	MaxTokens     int             `json:"max_tokens,omitempty"`
	MaxCompletion int             `json:"max_completion_tokens,omitempty"`
	Effort        string          `json:"reasoning_effort,omitempty"`
}

type chatMessage struct {
	Role    string     `json:"role"`
	Content any        `json:"content"` // text, or parts when there are images
	Calls   []chatCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
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

// chatChunk is one event of the stream.
type chatChunk struct {
	Choices []struct {
		Delta struct {
			Content   string     `json:"content"`
			Reasoning string     `json:"reasoning_content"` // vLLM, llama.cpp, DeepSeek
			Thinking  string     `json:"reasoning"`         // Ollama, routers
			Calls     []chatCall `json:"tool_calls"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt int `json:"prompt_tokens"`
		Answer int `json:"completion_tokens"`
	} `json:"usage"`
	Error *apiError `json:"error"`
}

// Stream implements [Model]. Its errors besides those named there are
// ErrUnreachable, ErrTooLong, NotFoundError and StatusError.
func (o *OpenAI) Stream(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		model, err := o.current(ctx)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		body, err := o.chatBody(model, req)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		try := func(ctx context.Context, emit func(Delta) error) error {
			return missing(o.chat(ctx, body, func(d Delta) error {
				if d.Usage != nil {
					o.askWindow(ctx, model) // before anybody learns that the answer is over
				}
				return emit(d)
			}), model)
		}
		stream(ctx, o.Window(), try)(yield)
	}
}

// chat sends the request once; twice when the server does not know how to
// answer in a shape, because then the prompt alone asks for it.
func (o *OpenAI) chat(ctx context.Context, body *chatBody, emit func(Delta) error) error {
	if o.isLoose(body.Model) {
		body.Format = nil
	}
	res, err := o.send(ctx, http.MethodPost, "chat/completions", body)
	var status *StatusError
	if errors.As(err, &status) && status.Code == http.StatusBadRequest && body.Format != nil {
		plain := *body
		plain.Format = nil
		if res, err = o.send(ctx, http.MethodPost, "chat/completions", &plain); err == nil {
			o.setLoose(body.Model)
		}
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()

	answer := &chatAnswer{emit: emit}
	err = readEvents(res.Body, answer.event)
	if errors.Is(err, errStopped) {
		return err
	}
	if err != nil {
		return cut(err)
	}
	return ErrCut // the end came without [DONE]
}

func (o *OpenAI) isLoose(model string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.loose[model]
}

// setLoose remembers that a model's server takes no schema.
func (o *OpenAI) setLoose(model string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.loose[model] = true
}

// chatAnswer gathers one streamed answer.
type chatAnswer struct {
	emit  func(Delta) error
	calls []chatCall // by index, their arguments growing
	usage Usage
	first time.Time
}

// maxCalls bounds the tool calls of one answer.
const maxCalls = 64

func (a *chatAnswer) event(data []byte) error {
	if string(data) == "[DONE]" {
		return a.end()
	}
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return fmt.Errorf("an event that is not JSON: %.40q", data)
	}
	if chunk.Error != nil {
		return errors.New(short(chunk.Error.Message))
	}
	if chunk.Usage != nil {
		a.usage.Prompt, a.usage.Answer = chunk.Usage.Prompt, chunk.Usage.Answer
	}
	if len(chunk.Choices) == 0 {
		return nil
	}
	choice := chunk.Choices[0]
	if choice.Finish != "" {
		a.usage.Stopped = StopEnd
		if choice.Finish == "length" {
			a.usage.Stopped = StopLength
		}
	}
	if err := a.addCalls(choice.Delta.Calls); err != nil {
		return err
	}
	if a.first.IsZero() {
		a.first = time.Now()
	}
	return a.emit(Delta{Text: choice.Delta.Content, Thinking: choice.Delta.Reasoning + choice.Delta.Thinking})
}

// addCalls joins the pieces of tool calls. Servers number them, or begin each
// with its id.
func (a *chatAnswer) addCalls(pieces []chatCall) error {
	for _, piece := range pieces {
		at := len(a.calls) - 1
		switch {
		case piece.Index != nil:
			at = *piece.Index
		case piece.ID != "" || at < 0:
			at = len(a.calls)
		}
		if at < 0 || at > len(a.calls) || at >= maxCalls {
			return fmt.Errorf("tool call number %d after %d others", at, len(a.calls))
		}
		if at == len(a.calls) {
			a.calls = append(a.calls, chatCall{})
		}
		call := &a.calls[at]
		if piece.ID != "" {
			call.ID = piece.ID
		}
		if piece.Function.Name != "" {
			call.Function.Name = piece.Function.Name
		}
		if call.Function.Arguments += piece.Function.Arguments; len(call.Function.Arguments) > maxLine {
			return errLongLine
		}
	}
	return nil
}

// end hands on the calls and what the answer cost.
func (a *chatAnswer) end() error {
	for _, c := range a.calls {
		args := strings.TrimSpace(c.Function.Arguments)
		if args == "" {
			args = "{}"
		}
		if !json.Valid([]byte(args)) {
			return fmt.Errorf("arguments of %s that are not JSON", short(c.Function.Name))
		}
		if err := a.emit(Delta{Call: &ToolCall{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(args)}}); err != nil {
			return err
		}
	}
	if a.usage.Stopped == "" {
		a.usage.Stopped = StopEnd
	}
	if !a.first.IsZero() {
		a.usage.Generating = time.Since(a.first)
	}
	return a.emit(Delta{Usage: &a.usage})
}

func (o *OpenAI) chatBody(model string, req Request) (*chatBody, error) {
	body := &chatBody{
		Model: model, Stream: true, StreamOptions: map[string]bool{"include_usage": true},
		Temperature: o.settings.Temperature,
	}
	if o.base.Hostname() == "api.openai.com" { // its newer models refuse the name that all others know
		body.MaxCompletion = req.MaxTokens
	} else {
		body.MaxTokens = req.MaxTokens
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
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = spec.Name, spec.Description, spec.Schema
		body.Tools = append(body.Tools, tool)
	}
	for _, m := range req.Messages {
		body.Messages = append(body.Messages, chatMessageOf(m))
	}
	return body, nil
}

func chatMessageOf(m Message) chatMessage {
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
		c.Function.Name, c.Function.Arguments = call.Name, string(call.Args)
		if c.Function.Arguments == "" {
			c.Function.Arguments = "{}"
		}
		out.Calls = append(out.Calls, c)
	}
	return out
}
