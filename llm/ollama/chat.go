package ollama

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// Stream implements [llm.Model]. Besides the errors documented there, it may
// yield ErrUnreachable, NotFoundError, UnsupportedError and
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
		limits := llm.Limits{Window: info.Allocated, FirstToken: o.settings.FirstToken}
		if llm.ThisMachine(o.base) {
			limits.Server = o
		}
		llm.Stream(ctx, limits, try)(yield)
	}
}

// chatLine is a part of the answer; most servers write one a line.
type chatLine struct {
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"` // an object, or text
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool          `json:"done"`
	DoneReason string        `json:"done_reason"`
	Prompt     int           `json:"prompt_eval_count"`
	Answer     int           `json:"eval_count"`
	Generating time.Duration `json:"eval_duration"`
	RemoteHost string        `json:"remote_host"`

	Error json.RawMessage `json:"error"` // text, or an object
}

// maxLine bounds a chatLine in bytes.
const maxLine = 8 << 20

// chat sends the request once, without retries. It reads the answer itself, because
// the client ends it at arguments of a tool call that are not an object.
func (o *Provider) chat(ctx context.Context, chat *api.ChatRequest, emit func(llm.Delta) error) error {
	body, err := json.Marshal(chat)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		o.base.JoinPath("api/chat").String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := o.http.Do(req)
	if err != nil {
		return o.explain(err, chat.Model)
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		return o.explain(refusal(res), chat.Model)
	}
	in := bufio.NewReader(res.Body)
	llm.SkipMark(in)
	limit := &io.LimitedReader{R: in}
	lines := json.NewDecoder(limit)
	for {
		limit.N = maxLine
		var line chatLine
		var unlike *json.UnmarshalTypeError // a field has an unexpected type; the rest was decoded
		err := lines.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil || errors.As(err, &unlike):
			err = o.read(&line, chat.Model, emit)
		case errors.As(err, new(*json.SyntaxError)):
			err = errors.New(cmp.Or(textIn(lines.Buffered()), llm.ErrCut.Error()))
		}
		if err != nil {
			return whole(o.explain(err, chat.Model))
		}
	}
}

// textIn returns the text of something that is not JSON; "" if it seems to be some.
func textIn(r io.Reader) string {
	raw, _ := io.ReadAll(r)
	if raw = bytes.TrimSpace(raw); bytes.HasPrefix(raw, []byte("{")) {
		return ""
	}
	return string(raw)
}

// refusal converts a response with the status of an error.
func refusal(res *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if res.StatusCode != http.StatusUnauthorized {
		return api.StatusError{StatusCode: res.StatusCode, Status: res.Status, ErrorMessage: llm.ErrorText(raw)}
	}
	login := api.AuthorizationError{StatusCode: res.StatusCode, Status: res.Status}
	_ = json.Unmarshal(raw, &login) // where to sign in, if it says so
	return login
}

// read emits a part of an answer.
func (o *Provider) read(line *chatLine, model string, emit func(llm.Delta) error) error {
	if failure := llm.ErrorText(line.Error); failure != "" {
		return errors.New(failure)
	}
	if line.RemoteHost != "" {
		o.learnRemote(model, line.RemoteHost)
	}
	for _, c := range line.Message.Calls {
		var whole llm.CallBuilder
		whole.Add(llm.CallPiece{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
		for _, call := range whole.Calls() {
			if err := emit(llm.Delta{Call: &call}); err != nil {
				return err
			}
		}
	}
	d := llm.Delta{Text: line.Message.Content, Thinking: line.Message.Thinking}
	if line.Done {
		d.Usage = &llm.Usage{
			Prompt: line.Prompt, Answer: line.Answer,
			Generating: line.Generating, Stopped: llm.StopEnd,
		}
		switch strings.ToLower(line.DoneReason) {
		case "", "stop", "tool_calls":
		case "length":
			d.Usage.Stopped = llm.StopLength
		default:
			d.Usage = nil
			return cmp.Or(emit(d), llm.CutBy(line.DoneReason))
		}
	}
	return emit(d)
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
	case err == nil, errors.Is(err, llm.ErrStopped), errors.Is(err, llm.ErrUnreachable),
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
	if !req.Thinks() {
		chat.Options["temperature"] = llm.Temperature
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
		c := api.ToolCall{ID: call.ID, Function: api.ToolCallFunction{
			Index: i, Name: call.Name,
			Arguments: api.NewToolCallFunctionArguments(),
		}}
		if len(call.Args) > 0 {
			if err := json.Unmarshal(call.Args, &c.Function.Arguments); err != nil {
				return api.Message{}, fmt.Errorf("read arguments of %s: %w", call.Name, err)
			}
		}
		out.ToolCalls = append(out.ToolCalls, c)
	}
	return out, nil
}
