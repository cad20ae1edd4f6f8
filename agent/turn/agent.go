// Package turn answers a message. It has no access to the screen, the disk or
// the network: models, tools and the history of a conversation are passed in.
// Start with [Agent.Ask]; the steps of answering are in turn.go.
package turn

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/events"
	"lifehub/agent/gate"
	"lifehub/agent/memory"
	"lifehub/agent/prompt"
	"lifehub/llm"
)

// Options configures an Agent. Model and History are required.
type Options struct {
	Model       llm.Model
	Roles       map[string]prompt.Role // model for the planner, by role; nil: Model
	Window      func() int             // tokens in the model's window; nil or 0: unknown
	Tools       func() []agent.Tool    // returns the enabled tools; nil: none
	Notes       Notes                  // reads a small vault whole, for the loop; nil: notes are only searched
	History     agent.History
	Journal     agent.Journal     // nil: an interrupted turn cannot be resumed
	Memory      memory.LongTerm   // the zero value remembers nothing beyond the window
	Summaries   agent.Summaries   // stores summaries of older turns; nil: turns that do not fit are left out
	TokenRatios agent.TokenRatios // stores measured token ratios; nil: measured again in each run
	// RejectsLongPrompts reports whether the model server rejects prompts that
	// are too long rather than truncating them silently. nil means false.
	RejectsLongPrompts func() bool
	Facts              func(ctx context.Context) ([]agent.Fact, error) // returns the facts about the user; nil: none
	Rules              *gate.Rules                                     // nil: each tool's own level
	Save               func(ctx context.Context, rule gate.Rule) error // saves a permanent rule; nil: such rules last for this run

	// Missing returns the reason why each known tool is not among Tools, by
	// name. nil: none is missing.
	Missing func() map[string]string

	// Writes reports whether a known tool would change something, even if it is
	// missing. nil: unknown.
	Writes func(tool string) bool

	// Prepare may wait for tools that text (a message, or the plan of a resumed
	// turn) names and that are not available yet. It calls say to report what
	// it waits for. May be nil.
	Prepare func(ctx context.Context, text string, say func(string))
	// Attach reads what a message names; nil: nothing.
	Attach agent.Attacher
	// Marks are the lines of the notes that came from outside; nil: none.
	Marks agent.Marks

	// BeforeCall is asked about each call that the rules do not deny, as in
	// [gate.Gate]. AfterTurn runs when a turn was saved; its error is reported. nil:
	// none.
	BeforeCall func(ctx context.Context, call gate.Before) error
	AfterTurn  func(ctx context.Context, over TurnOver) error

	// Unattended means that there is no user to ask: calls that need permission
	// are refused and listed in Ended.Unasked.
	Unattended bool
	// ReadOnly reports whether nothing may be written or sent now. nil means
	// false.
	ReadOnly func() bool

	// Reread returns the current lines of a source for checking citations;
	// false if they are gone. A Source without a Vault is searched for in all
	// vaults. nil: sources are not read again.
	Reread func(agent.Source) (string, bool)

	// Trace opens a trace of a turn, as in [events.Stream]; nil: no trace.
	Trace func(turn string) io.WriteCloser

	// Redact removes the user's secrets from the results and errors of tools
	// before they are used. nil: nothing is removed.
	Redact func(text string) string

	// Ready waits until Window and ModelName describe the model of the next
	// request. May be nil.
	Ready func(ctx context.Context) error
	// ModelName returns the name of the current model, for metrics and notices;
	// nil: unknown.
	ModelName func() string

	// AboutNotes describes the notes for the planner, one line for each vault.
	// May be nil.
	AboutNotes func(ctx context.Context) []string

	// Instructions are the user's own instructions, which start every prompt.
	Instructions string
	Limits       Limits
	Mode         func() agent.Mode // of the next turn; nil: PlanMode
	Traits       func() Traits     // of the current model; nil: a large one that makes calls natively
	Think        func() string     // as in llm.Request; nil: off
	Now          func() time.Time  // nil: time.Now
}

// Traits are what a turn has to know of the model that decides.
type Traits struct {
	Small  bool // in AutoMode, it gets a short prompt and writes its calls as JSON
	Native bool // it makes calls natively
}

// TurnOver is what a turn did, for the user's hook.
type TurnOver struct {
	Event        string        `json:"event"` // after_turn; set by who runs the hook
	Conversation string        `json:"conversation"`
	Turn         string        `json:"turn"`
	Effects      agent.Effects `json:"effects"`
	Cut          bool          `json:"cut"` // stopped by the user or an error
}

// Limits bounds a turn. A zero field has its default.
type Limits struct {
	Passages int // passages of a search; 0: 5
	Rounds   int // rounds of LoopMode; 0: 8
	Replans  int // how often a plan may be revised; 0: 2, negative: never
	Messages int // messages of the conversation in a prompt; 0: as many as fit
	Parallel int // concurrent steps; 0: 4

	Approve func() bool // whether the user must approve a plan before it runs; nil: no
}

// Agent answers messages. Create it with [New]. It is safe for concurrent use.
type Agent struct {
	Options
	Then    then // follows each complete answer; may be nil
	gate    *gate.Gate
	vault   wholeVault
	schemas args.Schemas
	meters  prompt.Meters
}

// New returns an Agent, with defaults for missing options.
func New(o Options) *Agent {
	if o.Window == nil {
		o.Window = func() int { return 0 }
	}
	if o.Limits.Approve == nil {
		o.Limits.Approve = func() bool { return false }
	}
	if o.RejectsLongPrompts == nil {
		o.RejectsLongPrompts = func() bool { return false }
	}
	if o.ModelName == nil {
		o.ModelName = func() string { return "" }
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	if o.Prepare == nil {
		o.Prepare = func(context.Context, string, func(string)) {}
	}
	if o.Missing == nil {
		o.Missing = func() map[string]string { return nil }
	}
	if o.AboutNotes == nil {
		o.AboutNotes = func(context.Context) []string { return nil }
	}
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	if o.Tools == nil {
		o.Tools = func() []agent.Tool { return nil }
	}
	if o.Think == nil {
		o.Think = func() string { return "" }
	}
	if o.Mode == nil {
		o.Mode = func() agent.Mode { return agent.PlanMode }
	}
	if o.Traits == nil {
		o.Traits = func() Traits { return Traits{Native: true} }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &o.Limits
	for _, limit := range []struct {
		of    *int
		value int
	}{{&l.Passages, 5}, {&l.Rounds, 8}, {&l.Replans, 2}, {&l.Parallel, 4}} {
		if *limit.of == 0 {
			*limit.of = limit.value
		}
	}
	guarded := gate.New(o.Rules, o.Save, o.Unattended)
	guarded.ReadOnly, guarded.Hook = o.ReadOnly, o.BeforeCall
	return &Agent{Options: o, gate: guarded, schemas: args.Schemas{Now: o.Now}, meters: prompt.Meters{Saved: o.TokenRatios, By: map[string]agent.TokenRatio{}}}
}

// Ask starts a turn and returns at once with its events. Cancel ctx to stop
// the turn. Read the channel until it closes, also after cancelling: that is
// how the turn's goroutine ends.
func (a *Agent) Ask(ctx context.Context, conversation, message string) <-chan agent.Event {
	return a.start(ctx, conversation, func(t *turn, ctx context.Context) error {
		t.sent(message)
		return t.begin(ctx)
	})
}

// Resume continues an interrupted turn, with the same events as [Agent.Ask].
// Finished calls are not repeated; their results are read from the journal.
// Unanswered questions are asked again. If the outcome of a started call is
// unknown, the user is asked, unless its tool can determine the outcome or
// changes nothing.
func (a *Agent) Resume(ctx context.Context, conversation, turnID string) <-chan agent.Event {
	return a.start(ctx, conversation, func(t *turn, ctx context.Context) error { return t.reopen(ctx, turnID) })
}

// Call makes a single call of a tool as a turn, on request of the user: no
// model is involved, and the gate applies as usual. The result is the answer.
// Read the events like those of [Agent.Ask]. from names whoever requested the
// call on behalf of the user; its arguments are then untrusted.
func (a *Agent) Call(ctx context.Context, conversation, message string, step agent.Step, from ...string) <-chan agent.Event {
	return a.Calls(ctx, conversation, message, func(last *agent.Result) *agent.Step {
		if last != nil {
			return nil
		}
		return &step
	}, from...)
}

// Calls is like [Agent.Call] for calls one after the other: next returns the
// first one for nil, and each further one for the result of the last; nil ends
// the turn, with the last result as its answer. A call that is not made ends it
// as well.
func (a *Agent) Calls(ctx context.Context, conversation, message string, next func(last *agent.Result) *agent.Step, from ...string) <-chan agent.Event {
	return a.start(ctx, conversation, func(t *turn, ctx context.Context) error {
		t.mode, t.command, t.from = agent.PlanMode, next, agent.FromOutside(from...)
		t.record.Add(t.from)
		t.answer.called = true
		t.sent(message)
		return t.begin(ctx)
	})
}

// finished returns a finished exchange, the last one if turnID is "", with the mark around untrusted
// text and an asker for a further question about it.
func (a *Agent) finished(ctx context.Context, conversation, turnID string) (of agent.Exchange, fence string, asker *prompt.Asker, err error) {
	window, err := a.History.Window(ctx, conversation, prompt.VerbatimMessages)
	if err != nil {
		return of, "", nil, err
	}
	exchanges := window.Exchanges
	i := slices.IndexFunc(exchanges, func(e agent.Exchange) bool { return e.Turn == turnID && !e.Open })
	if turnID == "" {
		i = len(exchanges) - 1
	}
	if i < 0 || exchanges[i].Open {
		return of, "", nil, errors.New("there is no finished answer")
	}
	t := newTurn(a, conversation, nil)
	t.record.Conversation, t.events.Turn = conversation, exchanges[i].Turn
	return exchanges[i], t.answer.fence(), a.asker(events.New(nil, a.Now), func() string { return "" }), nil
}

// start runs a turn in its own goroutine.
func (a *Agent) start(ctx context.Context, conversation string, begin func(*turn, context.Context) error) <-chan agent.Event {
	to := make(chan agent.Event)
	go func() {
		defer close(to)
		t := newTurn(a, conversation, to)
		t.run(ctx, func(ctx context.Context) error { return begin(t, ctx) })
	}()
	return to
}

// Decide returns what the gate would do with a call by a model in a new
// conversation, in which the user typed nothing that occurs in the call, if its
// prompts are of this origin.
func (a *Agent) Decide(ctx context.Context, tool agent.Tool, input json.RawMessage, from agent.Origin) (agent.Level, string) {
	t := newTurn(a, "", nil)
	t.record.Add(from)
	v := t.gate.Verdict(ctx, gate.Call{Tool: tool, Input: args.Read(input)})
	return v.Level, v.Reason
}
