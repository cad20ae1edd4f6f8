// Package llm defines the types that the agent and all model providers share:
// messages, tool calls, streamed answers, and errors that a caller can handle.
// Start with [Model] and [Provider]; package servers opens providers.
//
// Stream implements the guarantees of a streamed answer for all servers: it
// retries only before the first piece, reports truncated answers as errors, and
// limits size and repetition.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Role identifies the author of a message.
type Role string

// The roles of messages.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolReply Role = "tool"
)

// Message is one entry of a conversation as the model sees it.
type Message struct {
	Role  Role       `json:"role"`
	Text  string     `json:"text"`
	Calls []ToolCall `json:"calls,omitempty"` // tool calls requested by an Assistant message
	// Thinking is the reasoning that led to Calls, within the same turn: some
	// models are trained to read it again.
	Thinking string   `json:"thinking,omitempty"`
	CallID   string   `json:"call_id,omitempty"` // ID of the call that a ToolReply answers
	Tool     string   `json:"tool,omitempty"`    // name of the tool that produced a ToolReply
	Images   [][]byte `json:"images,omitempty"`  // for models with vision
}

// ToolSpec describes a tool and its arguments to the model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the arguments; always an object schema
	// By names the program that supplied the other fields, such as an MCP server;
	// empty means LifeHub.
	By string `json:"by,omitempty"`
}

// ToolCall is a request by the model to run a tool.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	// Fault is why the call cannot be read; empty if it can. Such a call is not
	// run: the model is told.
	Fault string `json:"fault,omitempty"`
}

// Request holds everything a model needs to produce one answer.
type Request struct {
	Messages  []Message
	Tools     []ToolSpec      // available for native tool calls; may be nil
	Schema    json.RawMessage // if set, the answer must be JSON that matches this schema
	Think     string          // "" or "off", "on", "low", "medium", "high"
	MaxTokens int             // limit on answer tokens; 0: the provider's default
	Task      *Task           // the same request in structured form; nil if there is none
}

// Temperature is that of all requests, except of a model that thinks first: plans,
// calls and quotations are to be exact, and thoughts repeat themselves at so low a
// value.
const Temperature = 0.1

// Thinks reports whether the model is to think before it answers.
func (r Request) Thinks() bool { return r.Think != "" && r.Think != "off" }

// Task is the structured form of a request whose messages are prose. The offline
// provider reads it; other providers ignore it.
type Task struct {
	Kind     TaskKind
	Question string     // the user's message
	Today    time.Time  // reference date for words such as "tomorrow"; zero: now
	History  []Message  // earlier messages, oldest first
	Recalled string     // relevant earlier messages of the user, as text; may be empty
	Tools    []ToolSpec // tools that a plan may use
	Replan   bool       // steps have already run, and the plan is to be continued
}

// TaskKind is the kind of work requested from the model.
type TaskKind string

// The tasks of a turn.
const (
	PlanTask    TaskKind = "plan"    // answer with a plan in JSON
	ExplainTask TaskKind = "explain" // answer the question from sources and results
)

// Delta is one piece of a streamed answer.
type Delta struct {
	Text     string
	Thinking string
	Call     *ToolCall
	Usage    *Usage // set only on the last delta of a complete answer
	// Waiting explains why the request is being retried. It is set only before
	// the first piece of text.
	Waiting string
	// Reading is how far the server has read the prompt, if it says so. It is set
	// only before the first piece of text.
	Reading *Reading
}

// Reading is the progress of reading a prompt.
type Reading struct {
	Total, Cached, Read int // tokens of the prompt, those held from before, and those read so far, cached ones included
	Took                time.Duration
}

// Usage is the cost of a complete answer. Token counts are those reported by the
// server; 0 if it reports none.
type Usage struct {
	Prompt     int           // tokens of the prompt
	Cached     int           // those of them that the server held from before
	Answer     int           // tokens of the answer
	Generating time.Duration // time spent generating the answer
	Stopped    StopReason
}

// StopReason says why a complete answer ended.
type StopReason string

// Stop reasons.
const (
	StopEnd    StopReason = "stop"
	StopLength StopReason = "length" // the token limit or the context window was reached; JSON is then incomplete
)

// Model answers requests. A [Provider] is a Model backed by a server or by rules;
// llmtest.Script is a fake for tests.
type Model interface {
	// Stream yields the answer piece by piece; the last delta carries Usage.
	// After a non-nil error it yields nothing more. If the answer ends without
	// Usage, it yields an error that matches [ErrCut]; the pieces before it
	// remain valid. After ctx is cancelled, it yields ctx.Err().
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
}

// Embedder turns texts into vectors.
type Embedder interface {
	// Embed returns one vector per text, in order and all of the same length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Name identifies provider, model and version. Vectors of embedders with
	// different names are not comparable.
	Name() string
}

// Info describes a model.
type Info struct {
	Name string `json:"name"`
	// of the model's data on the server; empty if the server does not report it
	Digest       string   `json:"digest,omitempty"`
	Size         int64    `json:"size,omitempty"`      // bytes on disk
	Context      int      `json:"context,omitempty"`   // tokens of context that the model was trained for; 0: unknown
	Allocated    int      `json:"allocated,omitempty"` // tokens of context that LifeHub requests
	Preferred    int      `json:"preferred,omitempty"` // tokens of context in the model's own settings; 0: none
	Family       string   `json:"family,omitempty"`
	Parameters   string   `json:"parameters,omitempty"`   // "8.2B"
	Quantization string   `json:"quantization,omitempty"` // "Q4_K_M"
	Capabilities []string `json:"capabilities,omitempty"` // completion, tools, thinking, vision, embedding
	Remote       string   `json:"remote,omitempty"`       // host that runs the model, if it is not this machine
}

// IsName reports whether a text can be the name of a model: at most 500 bytes,
// without control characters.
func IsName(model string) bool {
	return len(model) <= 500 && !strings.ContainsFunc(model, unicode.IsControl)
}

// Can reports whether the model has a capability.
func (i Info) Can(capability string) bool { return slices.Contains(i.Capabilities, capability) }

// Errors that callers can handle; test for them with errors.Is.
var (
	// ErrCut reports that the stream ended before the answer was complete.
	ErrCut = errors.New("the answer was cut off before its end")
	// ErrUnreachable reports that no model server answers at the address.
	ErrUnreachable = errors.New("model server not reachable")
)

// NotFoundError reports that the server does not have the model.
type NotFoundError struct {
	Model string
	Fixed bool // the server only serves the models it was started with; otherwise it can pull the model
}

func (e *NotFoundError) Error() string {
	if e.Fixed {
		return fmt.Sprintf("the model server has no model %q", e.Model)
	}
	return fmt.Sprintf("model %q is not installed", e.Model)
}

// UnsupportedError reports that the model lacks a requested capability.
type UnsupportedError struct{ Model, Capability string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("model %q does not support %s", e.Model, e.Capability)
}

// ErrNoModel is returned by the offline provider for requests that need a
// language model.
var ErrNoModel = errors.New("no model is connected")

// StatusError reports any other HTTP error of a server.
type StatusError struct {
	Code       int // HTTP status
	Message    string
	RetryAfter time.Duration // requested delay before the next try; 0: unspecified
	Long       bool          // the request is one of which [IsLong] holds
}

func (e *StatusError) Error() string {
	text := Status("the model server", e.Code, "").Problem
	if e.Message != http.StatusText(e.Code) {
		text += ": " + e.Message
	}
	if e.RetryAfter > 0 {
		text += "; the server asks to wait " + e.RetryAfter.Round(time.Second).String()
	}
	return text
}

// Busy reports whether the server asks to come back later, whatever the request.
func (e *StatusError) Busy() bool {
	return e.Code == http.StatusTooManyRequests || e.Code == http.StatusServiceUnavailable
}

// Refused reports whether the server refused this very request, for whatever
// reason: it may be too long, or hold something that the server does not know.
func (e *StatusError) Refused() bool {
	switch e.Code {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound,
		http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return false
	}
	return !e.Busy() && (e.Code == http.StatusOK || e.Code >= http.StatusBadRequest)
}

// MayBeTools reports whether the tools of a request that was not too long may be why
// the server refused it, or failed.
func (e *StatusError) MayBeTools() bool {
	return e.Code == http.StatusNotFound ||
		e.Refused() && e.Code >= http.StatusBadRequest && e.Code != http.StatusRequestEntityTooLarge
}

// IsLong reports whether a request of so many tokens may be refused because it is
// too long. A window of 0 is unknown.
func IsLong(tokens, window int) bool {
	const small = 4096
	return 2*tokens > cmp.Or(window, small)
}

// Collect reads a stream to its end and returns the complete message. If it
// returns an error, the message holds the text received before it.
func Collect(stream iter.Seq2[Delta, error]) (Message, Usage, error) {
	msg := Message{Role: Assistant}
	var usage Usage
	var text strings.Builder
	for delta, err := range stream {
		if err != nil {
			msg.Text = text.String()
			return msg, usage, err
		}
		text.WriteString(delta.Text)
		if delta.Call != nil {
			msg.Calls = append(msg.Calls, *delta.Call)
		}
		if delta.Usage != nil {
			usage = *delta.Usage
		}
	}
	msg.Text = text.String()
	return msg, usage, nil
}
