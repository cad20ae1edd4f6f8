package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"lifehub/agent"
	"lifehub/agent/args"
)

// Call is one use of a tool.
type Call struct {
	Step   string
	ID     string // pairs the events of the call
	Key    string // the same when the call is made again after a kill, and like no other
	Tool   agent.Tool
	Input  args.Input
	Turn   *Turnstile // among the steps that may ask
	Origin *Origin    // nil: not known, so that everything read so far may have had a part in it

	as Reading // how rules read the input
}

// Name is the name of its tool.
func (c Call) Name() string { return c.Tool.Spec().Name }

// intended is the entry of the journal before the call passes the gate.
func (c Call) intended() agent.Entry {
	return agent.Entry{Moment: agent.Intended, Step: c.Step, Tool: c.Name(), Input: c.Input.JSON(), Hash: Hash(c.Input.JSON())}
}

// Permit is the gate's leave to run one call with exactly these bytes.
type Permit struct {
	tool   agent.Tool
	input  args.Input
	hash   string
	key    string // of IdempotencyKey
	asked  bool   // the user was asked, and the journal holds it
	reason string // why nobody was asked

	change     agent.Change      // of a tool that is an [agent.Preparer]; nil: unprepared
	unprepared error             // why there is no change
	preview    agent.Preview     // as it was shown, if it was
	places     map[string]string // the notes that the rules were asked about, by argument
}

func newPermit(c Call) *Permit {
	return &Permit{tool: c.Tool, input: c.Input, hash: Hash(c.Input.JSON()), key: c.Key, places: c.as.Places, unprepared: errChanged}
}

// errChanged refuses a call that is not the one that was allowed.
var errChanged = errors.New("the arguments are not those that were allowed")

// errElsewhere refuses a call that would change another note than the one that
// the rules were asked about.
var errElsewhere = errors.New("the note that this call names has changed since; nothing was written: call it again")

// prepare computes what the call changes and shows, once: what is prepared is
// what runs. Its error is that of the call: what cannot be done is not asked about.
func (p *Permit) prepare(ctx context.Context) error {
	ctx = agent.WithIdempotencyKey(ctx, p.key)
	var err error
	switch tool := p.tool.(type) {
	case agent.Preparer:
		p.change, err = agent.Guarded(ctx, func(ctx context.Context) (agent.Change, error) { return tool.Prepare(ctx, p.input.JSON()) })
		if err == nil {
			p.preview = p.change.Preview()
		}
		for _, path := range p.places {
			if err == nil && path != p.preview.Path {
				err = errElsewhere
			}
		}
	case agent.Previewer:
		p.preview, err = agent.Guarded(ctx, func(ctx context.Context) (agent.Preview, error) { return tool.Preview(ctx, p.input.JSON()) })
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		p.change, p.unprepared = nil, err
	}
	return err
}

// Run is the only way to a tool's Run, and to its Change.
func (p *Permit) Run(ctx context.Context) (agent.Result, error) {
	if Hash(p.input.JSON()) != p.hash {
		return agent.Result{}, errChanged
	}
	ctx = agent.WithIdempotencyKey(ctx, p.key)
	if _, prepares := p.tool.(agent.Preparer); !prepares {
		return p.tool.Run(ctx, p.input.JSON())
	}
	if p.change == nil {
		return agent.Result{}, agent.NothingDone{Err: p.unprepared}
	}
	return p.change.Apply(ctx)
}

// Look runs a tool that only reads, for the turn itself: no model and no user
// learns what it brings.
func Look(ctx context.Context, tool agent.Tool, input args.Input) (agent.Result, error) {
	if !agent.ReadOnly(tool) {
		return agent.Result{}, errChanged
	}
	return agent.Guarded(ctx, newPermit(Call{Tool: tool, Input: input}).Run)
}

// Input is what may run: the user may have changed it.
func (p *Permit) Input() args.Input { return p.input }

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
	if _, ok := c.Tool.(agent.Checker); ok {
		mark, err := json.Marshal(c.Key)
		if p.change != nil {
			mark, err = agent.Guarded(ctx, p.change.Mark)
		}
		if err == nil { // else its run will say why; and if it is cut, it is asked about
			start.Mark = mark
		}
	}
	if p.asked {
		return g.Record.Stream.Enter(ctx, start)
	}
	return g.Record.Stream.Enter(ctx, c.intended(), agent.Entry{Moment: agent.Decided, Step: c.Step, Decision: agent.AllowByRule, Reason: p.reason}, start)
}
