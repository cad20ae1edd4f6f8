// Package llm holds the words that the agent and every provider of models
// share: messages, tool calls, a streamed answer and the errors a caller can
// act on. Start with [Model] and [Provider]; package auto opens one.
//
// The promises of a stream (retries only before the first piece, an error for
// an answer that was cut, bounds on silence, size and repetition) are kept in
// one place, stream.go, for all servers.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"lifehub/internal/neterr"
)

// Role says whose words a message holds.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolReply Role = "tool"
)

// Message is one entry of a conversation as the model sees it.
type Message struct {
	Role   Role       `json:"role"`
	Text   string     `json:"text"`
	Calls  []ToolCall `json:"calls,omitempty"`   // tools that an Assistant message asks for
	CallID string     `json:"call_id,omitempty"` // the call that a ToolReply answers
	Tool   string     `json:"tool,omitempty"`    // the tool that a ToolReply comes from
	Images [][]byte   `json:"images,omitempty"`  // for models that can see
}

// ToolSpec tells the model what a tool is for and which arguments it takes.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the arguments, an object
	// By names the program whose words the others are, such as an MCP server;
	// "": LifeHub.
	By string `json:"by,omitempty"`
}

// ToolCall is the model asking to run a tool.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// Request is everything a model needs for one answer.
type Request struct {
	Messages  []Message
	Tools     []ToolSpec      // offered for native calls; nil: none
	Schema    json.RawMessage // when set, the answer is JSON of this shape
	Think     string          // "" or "off", "on", "low", "medium", "high"
	MaxTokens int             // most tokens of the answer; 0: the provider's own bound
	Task      *Task           // the same request in structure; nil where there is none
}

// Task says in structure what the messages of a request say in prose. The
// offline provider reads it instead of prose; the others ignore it.
type Task struct {
	Kind     TaskKind
	Question string     // the user's message
	Today    time.Time  // the day that "tomorrow" is told from; zero: now
	History  []Message  // what was said before, oldest first
	Summary  string     // of what was said before History
	Recalled string     // what the user said long before that fits, in words; "": nothing
	Tools    []ToolSpec // what a plan may use
	Replan   bool       // steps were run, and further ones are asked for
}

// TaskKind is what is asked of the model.
type TaskKind string

// The tasks of a turn.
const (
	PlanTask    TaskKind = "plan"    // answer with a plan in JSON
	ExplainTask TaskKind = "explain" // answer the question from sources and results
	SummaryTask TaskKind = "summary" // shorten History, with Question as what matters most
)

// Delta is one piece of a streamed answer.
type Delta struct {
	Text     string
	Thinking string
	Call     *ToolCall
	Usage    *Usage // set once, on the last delta of a complete answer
	// Waiting says, before the first piece, why the request is sent again; ""
	// in all other deltas.
	Waiting string
}

// Usage is what a complete answer cost. Token counts are the server's own; 0
// where it does not say.
type Usage struct {
	Prompt     int           // tokens of the prompt
	Answer     int           // tokens of the answer
	Generating time.Duration // producing the answer
	Stopped    StopReason
}

// StopReason is why a complete answer ended.
type StopReason string

// The reasons to stop.
const (
	StopEnd    StopReason = "stop"
	StopLength StopReason = "length" // the token limit or the window was reached: JSON is not valid then
)

// Model answers requests. A [Provider] is a real one, llmtest.Script is the one
// for tests.
type Model interface {
	// Stream yields the answer piece by piece; its last delta carries Usage.
	// A non-nil error is the last thing it yields. An answer that ends
	// without Usage was cut and yields an error that is [ErrCut]; what
	// arrived before stands. Cancelling ctx ends it with ctx.Err().
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
}

// Embedder turns texts into vectors.
type Embedder interface {
	// Embed returns one vector a text, in order, all of one length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Name is provider, model and version: vectors of different names do not mix.
	Name() string
}

// Info is what is known about a model.
type Info struct {
	Name         string   `json:"name"`
	Digest       string   `json:"digest,omitempty"`    // of what the server has under that name; "": it does not say
	Size         int64    `json:"size,omitempty"`      // bytes on disk
	Context      int      `json:"context,omitempty"`   // most tokens the model was made for; 0: unknown
	Allocated    int      `json:"allocated,omitempty"` // tokens of the window LifeHub asks for
	Preferred    int      `json:"preferred,omitempty"` // tokens that the model's own settings ask for; 0: none
	Family       string   `json:"family,omitempty"`
	Parameters   string   `json:"parameters,omitempty"`   // "8.2B"
	Quantization string   `json:"quantization,omitempty"` // "Q4_K_M"
	Capabilities []string `json:"capabilities,omitempty"` // completion, tools, thinking, vision, embedding
	Remote       string   `json:"remote,omitempty"`       // host it really runs on, when that is not this machine
}

// Can reports whether the model has a capability.
// IsName reports whether a server can mean a model by this: what is longer, or
// moves a cursor, names none.
func IsName(model string) bool {
	return len(model) <= 500 && !strings.ContainsFunc(model, unicode.IsControl)
}

func (i Info) Can(capability string) bool { return slices.Contains(i.Capabilities, capability) }

// Errors that a caller can act on; test with errors.Is.
var (
	// ErrCut: the stream ended before the answer did.
	ErrCut = errors.New("the answer was cut off before its end")
	// ErrUnreachable: no model server answers at its address.
	ErrUnreachable = errors.New("model server not reachable")
	// ErrTooLong: the prompt does not fit the window; nothing was truncated.
	ErrTooLong = errors.New("the prompt is longer than the model's context window")
)

// NotFoundError says that the server does not have the model.
type NotFoundError struct {
	Model string
	Fixed bool // the server has the models that it was given; else it can pull the model
}

func (e *NotFoundError) Error() string {
	if e.Fixed {
		return fmt.Sprintf("the model server has no model %q", e.Model)
	}
	return fmt.Sprintf("model %q is not installed", e.Model)
}

// UnsupportedError says that the model lacks a capability that was asked of it.
type UnsupportedError struct{ Model, Capability string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("model %q does not support %s", e.Model, e.Capability)
}

// ErrNoModel is what the offline provider says where words of a model are needed.
var ErrNoModel = errors.New("no model is connected")

// StatusError is any other refusal of a server.
type StatusError struct {
	Code       int // HTTP status
	Message    string
	RetryAfter time.Duration // how long it asks to wait; 0: it does not say
}

func (e *StatusError) Error() string {
	text := neterr.Status("the model server", e.Code, "").Says
	if e.Message != http.StatusText(e.Code) {
		text += ": " + e.Message
	}
	if e.RetryAfter > 0 {
		text += "; the server asks to wait " + duration(e.RetryAfter)
	}
	return text
}

// duration writes a wait in the largest unit that keeps two digits of it.
func duration(d time.Duration) string {
	switch {
	case d > 3*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	case d > 3*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", math.Ceil(d.Seconds()))
}

// Collect reads a stream to its end and returns the whole message. After an
// error the message holds what arrived before it.
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
