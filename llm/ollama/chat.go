package ollama

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// Stream implements [llm.Model]. Besides the errors documented there, it may
// yield ErrUnreachable, ErrTooLong, NotFoundError, UnsupportedError and
// StatusError.
func (o *Provider) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		info, err := o.current(ctx)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		chat, err := o.chatRequest(info, req)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		try := func(ctx context.Context, emit func(llm.Delta) error) error { return o.chat(ctx, chat, emit) }
		llm.Stream(ctx, info.Allocated, try)(yield)
	}
}

// chat sends the request once, without retries.
func (o *Provider) chat(ctx context.Context, chat *api.ChatRequest, emit func(llm.Delta) error) error {
	err := o.client.Chat(ctx, chat, func(r api.ChatResponse) error {
		if r.RemoteHost != "" {
			o.learnRemote(chat.Model, r.RemoteHost)
		}
		for i := range r.Message.ToolCalls {
			call, err := toolCall(r.Message.ToolCalls[i])
			if err != nil {
				return err
			}
			if err := emit(llm.Delta{Call: &call}); err != nil {
				return err
			}
		}
		d := llm.Delta{Text: r.Message.Content, Thinking: r.Message.Thinking}
		if r.Done {
			d.Usage = &llm.Usage{
				Prompt: r.PromptEvalCount, Answer: r.EvalCount,
				Generating: r.EvalDuration, Stopped: llm.StopEnd,
			}
			switch strings.ToLower(r.DoneReason) {
			case "", "stop", "tool_calls":
			case "length":
				d.Usage.Stopped = llm.StopLength
			default:
				d.Usage = nil
				return cmp.Or(emit(d), llm.CutBy(r.DoneReason))
			}
		}
		return emit(d)
	})
	if err != nil && strings.HasPrefix(err.Error(), "{") { // the client returns a truncated line as the text of an error
		err = llm.ErrCut
	}
	return whole(o.explain(err, chat.Model))
}

// whole converts an error to ErrCut, unless it is one that callers can handle or
// the reader has stopped.
func whole(err error) error {
	var (
		status      *llm.StatusError
		missing     *llm.NotFoundError
		unsupported *llm.UnsupportedError
	)
	switch {
	case err == nil, errors.Is(err, llm.ErrStopped), errors.Is(err, llm.ErrTooLong), errors.Is(err, llm.ErrUnreachable),
		errors.As(err, &status), errors.As(err, &missing), errors.As(err, &unsupported):
		return err
	}
	return llm.Cut(err)
}

// learnRemote records the host of a model whose answers, but not its description,
// name one.
func (o *Provider) learnRemote(model, host string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	info := o.known[model]
	info.Name, info.Remote = model, hostOf(host)
	o.known[model] = info
}

func (o *Provider) chatRequest(info llm.Info, req llm.Request) (*api.ChatRequest, error) {
	no := false
	chat := &api.ChatRequest{
		Model: info.Name, Format: req.Schema,
		// Without these, the server silently truncates a long prompt from the
		// front.
		Truncate: &no, Shift: &no,
		Options: map[string]any{"num_ctx": info.Allocated},
	}
	if req.MaxTokens > 0 {
		chat.Options["num_predict"] = req.MaxTokens
	}
	if o.settings.KeepAlive > 0 {
		chat.KeepAlive = &api.Duration{Duration: o.settings.KeepAlive}
	}
	if info.Can("thinking") {
		chat.Think = &api.ThinkValue{Value: thinkValue(req.Think)}
	}
	if len(req.Tools) > 0 && !info.Can("tools") {
		return nil, &llm.UnsupportedError{Model: info.Name, Capability: "tools"}
	}
	for _, spec := range req.Tools {
		chat.Tools = append(chat.Tools, ollamaTool(spec))
	}
	for _, m := range req.Messages {
		message, err := ollamaMessage(m)
		if err != nil {
			return nil, err
		}
		if info.Can("thinking") { // its template says whether it is read again
			message.Thinking = m.Thinking
		}
		if len(message.Images) > 0 && !info.Can("vision") {
			return nil, &llm.UnsupportedError{Model: info.Name, Capability: "images"}
		}
		chat.Messages = append(chat.Messages, message)
	}
	return chat, nil
}

// thinkValue converts the setting to the server's format: a level or a boolean.
func thinkValue(think string) any {
	switch think {
	case "low", "medium", "high":
		return think
	}
	return think == "on"
}

// ollamaTool converts a tool to the client's type. Parts of the schema that this
// type cannot express are omitted; arguments are later validated against the full
// schema.
func ollamaTool(spec llm.ToolSpec) api.Tool {
	tool := api.Tool{Type: "function", Function: api.ToolFunction{Name: spec.Name, Description: spec.Description}}
	if err := json.Unmarshal(spec.Schema, &tool.Function.Parameters); err != nil {
		tool.Function.Parameters = api.ToolFunctionParameters{}
	}
	tool.Function.Parameters.Type = "object"
	if tool.Function.Parameters.Properties == nil {
		tool.Function.Parameters.Properties = api.NewToolPropertiesMap()
	}
	return tool
}

func ollamaMessage(m llm.Message) (api.Message, error) {
	out := api.Message{Role: string(m.Role), Content: m.Text, ToolName: m.Tool, ToolCallID: m.CallID}
	for _, image := range m.Images {
		out.Images = append(out.Images, image)
	}
	for i, call := range m.Calls {
		c := api.ToolCall{ID: call.ID, Function: api.ToolCallFunction{Index: i, Name: call.Name, Arguments: api.NewToolCallFunctionArguments()}}
		if len(call.Args) > 0 {
			if err := json.Unmarshal(call.Args, &c.Function.Arguments); err != nil {
				return api.Message{}, fmt.Errorf("read arguments of %s: %w", call.Name, err)
			}
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	return out, nil
}

func toolCall(c api.ToolCall) (llm.ToolCall, error) {
	args, err := json.Marshal(c.Function.Arguments)
	if err != nil {
		return llm.ToolCall{}, fmt.Errorf("read arguments of %s: %w", c.Function.Name, err)
	}
	return llm.ToolCall{ID: c.ID, Name: c.Function.Name, Args: args}, nil
}
