package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lifehub/llm"
)

// Progress is the progress of a running tool.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"`   // 0 if unknown
	Message string  `json:"message,omitempty"` // text supplied by the tool
}

// String returns "3 of 5 parsing", or only the message if nothing is counted.
func (p Progress) String() string {
	switch {
	case p.Total > 0:
		return strings.TrimSpace(fmt.Sprintf("%g of %g %s", p.Done, p.Total, p.Message))
	case p.Done != 0:
		return strings.TrimSpace(fmt.Sprintf("%g %s", p.Done, p.Message))
	}
	return p.Message
}

// InputKind is the kind of question that a tool asks.
type InputKind string

const (
	FormInput     InputKind = "form"     // asks for values that fit a schema
	URLInput      InputKind = "url"      // asks to open a page, which is shown but never opened
	SamplingInput InputKind = "sampling" // asks whether the user's model may answer a prompt
	ServerInput   InputKind = "server"   // asks whether to use a model server of another user of this machine
	PlanInput     InputKind = "plan"     // asks to approve a plan: a form whose defaults are the plan
)

// Question is a question that a running tool asks the user. All fields except
// Kind come from the asking program.
type Question struct {
	From    string          `json:"from"` // who asks, such as the name of an MCP server
	Kind    InputKind       `json:"kind"`
	Message string          `json:"message,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"` // for a form: a flat object
	URL     string          `json:"url,omitempty"`
	Prompt  []llm.Message   `json:"prompt,omitempty"` // complete prompt for the model

	// Check returns an error if the values of a form do not fit.
	Check func(values json.RawMessage) error `json:"-"`
}

// InputAction is the user's reaction to a question.
type InputAction string

const (
	InputAccepted  InputAction = "accept"
	InputDeclined  InputAction = "decline" // the user declined
	InputCancelled InputAction = "cancel"  // the user gave no answer
)

// Input is the user's answer to a Question.
type Input struct {
	Action InputAction
	Values json.RawMessage // values of an accepted form
	Reason string          // why it was declined, if the user was not asked
}

// Host lets a running tool report progress and ask the user. It is safe for
// concurrent use and is closed when the call ends. A nil *Host belongs to no
// call.
type Host struct {
	call HostOptions

	mu     sync.Mutex
	closed chan struct{}
	asked  int
	did    []Effect
}

// HostOptions describes the call that a host belongs to, and what the host
// uses.
type HostOptions struct {
	Step, Call, Tool string // as in the events of the call

	Unattended bool // there is no user to ask
	Events     Events
	Working    int // running calls that wait while the user is asked: 1, or 0 for a question before the calls
	Redact     llm.Redactor
}

// Events receives what a call reports. *events.Stream is the real one.
type Events interface {
	Emit(body Body)
	// WaitForUser counts a question until answered is called.
	WaitForUser(working int) (answered func())
}

// NoSecrets is the [llm.Redactor] of a user without secrets.
type NoSecrets struct{}

// Known returns the text.
func (NoSecrets) Known(text string) string { return text }

// Open returns the host of a call that begins.
func (o HostOptions) Open() *Host { return &Host{call: o, closed: make(chan struct{})} }

// Close stops all reports of the call, and returns its effects.
func (h *Host) Close() []Effect {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.closed)
	return h.did
}

// Step returns the step that the call belongs to.
func (h *Host) Step() string { return h.call.Step }

type hostKey struct{}

// WithHost returns the context of a call.
func WithHost(ctx context.Context, h *Host) context.Context {
	return context.WithValue(ctx, hostKey{}, h)
}

// HostFrom returns the host of the call that ctx belongs to; nil if there is
// none.
func HostFrom(ctx context.Context) *Host {
	h, _ := ctx.Value(hostKey{}).(*Host)
	return h
}

// emit sends an event unless the call has ended. An abandoned tool may outlive
// its turn.
func (h *Host) emit(body Body) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.closed:
		return false
	default:
		h.call.Events.Emit(body)
		return true
	}
}

// Progress reports the progress of the tool. It blocks until the event was
// received, so a tool with frequent updates should skip outdated ones.
func (h *Host) Progress(p Progress) {
	if h != nil {
		p.Message = h.call.Redact.Known(p.Message)
		h.emit(ToolProgressed{Step: h.call.Step, Call: h.call.Call, Name: h.call.Tool, Progress: p})
	}
}

// Did records an effect of the call. A tool calls it as soon as it has done
// something. For a call that never does, only the fact that it was made is
// known.
func (h *Host) Did(e Effect) {
	if h == nil {
		return
	}
	if e.Tool == "" && (e.Kind == RequestSent || e.Kind == ToolCalled) {
		e.Tool = h.call.Tool
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, e)
}

// Ask asks the user and waits for the answer. If there is no user to ask, the
// question is declined with that reason; if the call or ctx ends, it is
// cancelled.
func (h *Host) Ask(ctx context.Context, q Question) Input {
	if h == nil {
		return Input{Action: InputDeclined, Reason: "nobody can be asked"}
	}
	answers := make(chan Input, 1)
	asked := InputAsked{Step: h.call.Step, Call: h.call.Call, ID: h.nextID(), Name: h.call.Tool, Question: q}
	asked.Prompt = slices.Clone(q.Prompt)
	asked.Reply = func(i Input) {
		select {
		case answers <- i:
		default: // answered already
		}
	}
	if h.call.Unattended {
		asked.Reply(Input{Action: InputDeclined, Reason: "nobody can be asked"})
	}
	if !h.emit(asked) {
		return Input{Action: InputCancelled}
	}
	defer h.call.Events.WaitForUser(h.call.Working)()
	var answer Input
	select {
	case answer = <-answers:
	case <-ctx.Done():
		answer = Input{Action: InputCancelled, Reason: "the question was withdrawn"}
	case <-h.closed:
		return Input{Action: InputCancelled}
	}
	h.emit(InputGiven{Step: asked.Step, Call: asked.Call, ID: asked.ID, Action: answer.Action, Reason: answer.Reason})
	return answer
}

func (h *Host) nextID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	return fmt.Sprintf("%s.%d", h.call.Call, h.asked)
}
