package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"lifehub/agent"
)

// Call is one use of a tool.
type Call struct {
	Step   string
	ID     string // matches the events of the call
	Key    string // unique, but the same if the call is repeated after a crash
	Tool   agent.Tool
	Input  agent.Args
	Place  *Turnstile    // among the steps that may ask and write
	Origin *agent.Origin // nil if unknown: then all that is in the prompts may have influenced the call

	as         Reading // the input as rules see it
	unanswered bool    // the hook gave no answer, so no rule lets it run
}

// Name returns the name of the tool.
func (c Call) Name() string { return c.Tool.Spec().Name }

// intended returns the journal entry written before the call passes the gate.
func (c Call) intended() agent.Entry {
	return agent.Entry{
		Moment: agent.Intended, Step: c.Step, Tool: c.Name(), Input: c.Input.JSON(),
		Hash: Hash(c.Input.JSON()),
	}
}

// Permit allows one call to run, with exactly these arguments.
type Permit struct {
	tool   agent.Tool
	input  agent.Args
	hash   string
	key    string // idempotency key
	asked  bool   // the user was asked, and the journal records it
	reason string // why the user was not asked

	change     agent.Change      // set if the tool is an [agent.Preparer] and was prepared
	unprepared error             // why change is nil
	preview    agent.Preview     // as shown to the user, if it was
	places     map[string]string // path of each note that the rules matched, by argument
}

func newPermit(c Call) *Permit {
	return &Permit{
		tool: c.Tool, input: c.Input, hash: Hash(c.Input.JSON()), key: c.Key,
		places: c.as.Places, unprepared: errChanged,
	}
}

// errChanged is returned if the arguments differ from those allowed.
var errChanged = errors.New("the arguments are not those that were allowed")

// errElsewhere is returned if the call would now change a different note than
// the one that the rules matched.
var errElsewhere = errors.New("the note that this call names has changed since; nothing was written: call it again")

// prepare computes once what the call will change, so that what is shown is
// what runs. An error means that the call would fail; it is then not asked
// about.
func (p *Permit) prepare(ctx context.Context) error {
	ctx = agent.WithIdempotencyKey(ctx, p.key)
	var err error
	switch tool := p.tool.(type) {
	case agent.Preparer:
		p.change, err = agent.Guarded(ctx, func(ctx context.Context) (agent.Change,
			error,
		) {
			return tool.Prepare(ctx, p.input.JSON())
		})
		if err == nil {
			p.preview = p.change.Preview()
		}
		for _, path := range p.places {
			if err == nil && path != p.preview.Path && path != p.preview.To {
				err = errElsewhere
			}
		}
	case agent.Previewer:
		p.preview, err = agent.Guarded(ctx, func(ctx context.Context) (agent.Preview,
			error,
		) {
			return tool.Preview(ctx, p.input.JSON())
		})
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		p.change, p.unprepared = nil, err
	}
	return err
}

// Run runs the tool, or applies its prepared change. There is no other path to
// either.
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
	if !p.asked {
		ctx = agent.WithUnseen(ctx)
	}
	return p.change.Apply(ctx)
}

// Input returns the arguments that may run; the user may have edited them.
func (p *Permit) Input() agent.Args { return p.input }

// Asked reports whether the user was asked about the call.
func (p *Permit) Asked() bool { return p.asked }

// Hash returns the SHA-256 of the arguments, in hex.
func Hash(input json.RawMessage) string {
	sum := sha256.Sum256(input)
	return hex.EncodeToString(sum[:])
}

// Refusal is the error of a call that may not run. The model sees its reason.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// Because returns what, followed by the reason if there is one.
func Because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// Start journals that a permitted call starts. If it returns an error, the call
// must not run.
func (g *Guard) Start(ctx context.Context, c Call, p *Permit) error {
	start := agent.Entry{Moment: agent.CallStarted, Step: c.Step}
	if _, ok := c.Tool.(agent.Checker); ok {
		mark, err := json.Marshal(c.Key)
		if p.change != nil {
			mark, err = agent.Guarded(ctx, p.change.Mark)
		}
		if err == nil { // otherwise Run reports the error, and an interrupted call is asked about
			start.Mark = mark
		}
	}
	if p.asked {
		return g.Record.Stream.Enter(ctx, start)
	}
	return g.Record.Stream.Enter(ctx, c.intended(), agent.Entry{
		Moment: agent.Decided, Step: c.Step,
		Decision: agent.AllowByRule, Reason: p.reason,
	}, start)
}
