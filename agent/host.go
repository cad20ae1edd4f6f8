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

// Progress is how far a running tool is.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"`   // 0: not known
	Message string  `json:"message,omitempty"` // the tool's own words
}

// String says it in words: "3 of 5 parsing", or only the message where nothing
// is counted.
func (p Progress) String() string {
	switch {
	case p.Total > 0:
		return strings.TrimSpace(fmt.Sprintf("%g of %g %s", p.Done, p.Total, p.Message))
	case p.Done != 0:
		return strings.TrimSpace(fmt.Sprintf("%g %s", p.Done, p.Message))
	}
	return p.Message
}

// InputKind is what a tool asks the user for.
type InputKind string

// The kinds of questions.
const (
	FormInput     InputKind = "form"     // values that fit a schema
	URLInput      InputKind = "url"      // to open a page, which is shown and never opened
	SamplingInput InputKind = "sampling" // that the user's model may answer a prompt
	ServerInput   InputKind = "server"   // to use a model server of another user of this machine
	PlanInput     InputKind = "plan"     // to approve a plan: a form whose defaults are the plan as it is
)

// Question is what a running tool asks the user. All but Kind are the words
// of who asks.
type Question struct {
	From    string          `json:"from"` // who asks, such as the name of an MCP server
	Kind    InputKind       `json:"kind"`
	Message string          `json:"message,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"` // of a form: a flat object
	URL     string          `json:"url,omitempty"`
	Prompt  []llm.Message   `json:"prompt,omitempty"` // what the model would be asked, whole

	// Check says what of a form's values does not fit; nil: all fits.
	Check func(values json.RawMessage) error `json:"-"`
}

// InputAction is what the user did with a question.
type InputAction string

// The answers to a question.
const (
	InputAccepted  InputAction = "accept"
	InputDeclined  InputAction = "decline" // the user said no
	InputCancelled InputAction = "cancel"  // the user said nothing
)

// Input is the user's answer to a Question.
type Input struct {
	Action InputAction
	Values json.RawMessage // of a form that was accepted
	Reason string          // why it was declined, where nobody was asked
}

// Host is where a running tool reports how far it is and asks the user. It is
// safe for concurrent use, and closes with the call; a nil one has no call.
type Host struct {
	call HostOptions

	mu     sync.Mutex
	closed chan struct{}
	asked  int
	did    []Effect
}

// HostOptions are the call that a host is of, and what is behind it.
type HostOptions struct {
	Step, Call, Tool string // as in the call's events

	Unattended bool // nobody can be asked
	Emit       func(Body)
	Redact     func(text string) string
	Asks       func() (answered func()) // is told that the call waits for the user
}

// Open returns the host of a call that begins.
func (o HostOptions) Open() *Host { return &Host{call: o, closed: make(chan struct{})} }

// Close lets nothing come from there any more, and returns what the call said
// it did.
func (h *Host) Close() []Effect {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.closed)
	return h.did
}

// Step is the step whose call it is of.
func (h *Host) Step() string { return h.call.Step }

type hostKey struct{}

// WithHost is the context of a call.
func WithHost(ctx context.Context, h *Host) context.Context {
	return context.WithValue(ctx, hostKey{}, h)
}

// HostFrom is the host of the call that ctx belongs to; nil: it has none.
func HostFrom(ctx context.Context) *Host {
	h, _ := ctx.Value(hostKey{}).(*Host)
	return h
}

// emit sends an event unless the call is over: an abandoned tool may go on
// after its turn.
func (h *Host) emit(body Body) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.closed:
		return false
	default:
		h.call.Emit(body)
		return true
	}
}

// Progress reports how far the tool is. It waits until the screen has taken
// note; a tool that tells often should leave out what is old.
func (h *Host) Progress(p Progress) {
	if h != nil {
		p.Message = h.call.Redact(p.Message)
		h.emit(ToolProgressed{Step: h.call.Step, Call: h.call.Call, Name: h.call.Tool, Progress: p})
	}
}

// Did says what the call just did to the world; a tool says it as soon as it is
// done. Of a call that never says anything, only that it was made is known.
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

// Ask puts a question to the user and waits for the answer. Where nobody can
// be asked that is a no with its reason; after the end of the call, or of ctx,
// the question is cancelled.
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
	defer h.call.Asks()()
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
