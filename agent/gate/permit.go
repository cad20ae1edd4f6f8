package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"lifehub/agent"
	"lifehub/agent/provenance"
	"lifehub/agent/rules"
)

// Call is one use of a tool.
type Call struct {
	Step   string
	ID     string // pairs the events of the call
	Key    string // the same when the call is made again after a kill, and like no other
	Tool   agent.Tool
	Input  json.RawMessage
	Turn   *Turnstile         // among the steps that may ask
	Origin *provenance.Origin // nil: not known, so that everything read so far may have had a part in it

	as rules.Reading // how rules read the input
}

// Name is the name of its tool.
func (c Call) Name() string { return c.Tool.Spec().Name }

// intended is the entry of the journal before the call passes the gate.
func (c Call) intended() agent.Entry {
	return agent.Entry{Moment: agent.Intended, Step: c.Step, Tool: c.Name(), Input: bytes.Clone(c.Input), Hash: Hash(c.Input)}
}

// Permit is the gate's leave to run one call with exactly these bytes.
type Permit struct {
	tool   agent.Tool
	input  json.RawMessage
	hash   string
	key    string // of IdempotencyKey
	asked  bool   // the user was asked, and the journal holds it
	reason string // why nobody was asked

	preview agent.Preview // of what it will change; as it was shown, if it was
}

func newPermit(c Call) *Permit {
	return &Permit{tool: c.Tool, input: bytes.Clone(c.Input), hash: Hash(c.Input), key: c.Key}
}

// errChanged refuses a call that is not the one that was allowed.
var errChanged = errors.New("the arguments are not those that were allowed")

// Run is the only way to a tool's Run.
func (p *Permit) Run(ctx context.Context) (agent.Result, error) {
	if Hash(p.input) != p.hash {
		return agent.Result{}, errChanged
	}
	return p.tool.Run(agent.WithIdempotencyKey(ctx, p.key), bytes.Clone(p.input))
}

// Look runs a tool that only reads, for the turn itself: no model and no user
// learns what it brings.
func Look(ctx context.Context, tool agent.Tool, input json.RawMessage) (agent.Result, error) {
	if !agent.ReadOnly(tool) {
		return agent.Result{}, errChanged
	}
	return agent.Guarded(ctx, newPermit(Call{Tool: tool, Input: input}).Run)
}

// Input is what may run: the user may have changed it.
func (p *Permit) Input() json.RawMessage { return bytes.Clone(p.input) }

// Asked reports whether the user was asked about the call.
func (p *Permit) Asked() bool { return p.asked }

// Hash is the SHA-256 of the arguments, in hex.
func Hash(input json.RawMessage) string {
	sum := sha256.Sum256(input)
	return hex.EncodeToString(sum[:])
}

// Refusal says that a call may not run. It is told to the model.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// Declined is the reason of a call that the user did not allow; theirs may follow.
const Declined = "the user said no"

// Because adds why, if that is known, to what happened.
func Because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// Start records that a permitted call starts. When it returns an error, the
// call must not run.
func (g *Guard) Start(ctx context.Context, c Call, p *Permit) error {
	start := agent.Entry{Moment: agent.CallStarted, Step: c.Step}
	if checker, ok := c.Tool.(agent.Checker); ok {
		mark, err := agent.Guarded(ctx, func(ctx context.Context) (json.RawMessage, error) {
			return checker.Mark(agent.WithIdempotencyKey(ctx, c.Key), bytes.Clone(p.input))
		})
		if err == nil { // else its run will say why; and if it is cut, it is asked about
			start.Mark = mark
		}
	}
	if p.asked {
		return g.Enter(ctx, start)
	}
	return g.Enter(ctx, c.intended(), agent.Entry{Moment: agent.Decided, Step: c.Step, Decision: agent.AllowByRule, Reason: p.reason}, start)
}
