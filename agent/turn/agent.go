// Package turn answers a message. It has no access to the screen, the disk or
// the network: models, tools and the history of a conversation are passed in.
// Start with [Agent.Ask]; the steps of answering are in turn.go.
package turn

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/memory"
	"lifehub/agent/prompt"
	"lifehub/llm"
)

// Options configures an Agent. Model and History are required; what else is nil is
// left out.
type Options struct {
	Model       llm.Model
	Server      prompt.Server          // of Model; nil: nothing is known of it
	Traits      TraitsOf               // of Model; nil: a large one that makes calls natively
	Roles       map[string]prompt.Role // model for the planner, by role; nil: Model
	Workers     []Worker               // of TeamMode, in the order shown to its lead; nil: one for everything
	Session     Session                // nil: plan mode, nothing is approved
	Tools       Toolbox                // nil: none
	Guide       agent.Guide            // to its most important tools; the zero value names none
	Notes       Library                // nil: notes are only searched, and sources not read again
	History     agent.History
	Journal     agent.Journal     // nil: an interrupted turn cannot be resumed
	Memory      memory.LongTerm   // the zero value remembers nothing beyond the window
	Summaries   agent.Summaries   // stores summaries of older turns; nil: turns that do not fit are left out
	TokenRatios agent.TokenRatios // stores measured token ratios; nil: measured again in each run
	Facts       Facts
	Rules       *gate.Rules    // nil: each tool's own level
	Save        gate.Saver     // saves permanent rules; nil: they last for this run
	Attach      agent.Attacher // reads what a message names
	Marks       agent.Marks    // the lines of the notes that came from outside
	Before      gate.Hook      // asked about each call that the rules do not deny
	After       AfterTurn
	Trace       agent.Tracer
	Redact      llm.Redactor // nil: nothing is removed

	// Unattended means that there is no user to ask: calls that need permission
	// are refused and listed in Ended.Unasked.
	Unattended bool
	// Instructions are the user's own instructions, which start every prompt.
	Instructions string
	Limits       Limits
	Now          func() time.Time // nil: time.Now
}

// TraitsOf describes the model that decides.
type TraitsOf interface{ Traits() Traits }

// Session is what the user may change between turns.
type Session interface {
	Mode() agent.Mode // of the next turn
	Think() string    // as in [llm.Request]
	Approve() bool    // the user must approve a plan before it runs
	ReadOnly() bool   // nothing may be written or sent
}

// Toolbox has the tools of a turn.
type Toolbox interface {
	Offered() []agent.Tool      // the enabled tools
	Missing() map[string]string // the reason why each other known tool is not among them, by name
	// Writes reports whether a known tool would change something, even if it is
	// missing.
	Writes(tool string) bool
	// Prepare may wait for tools that text (a message, or the plan of a resumed
	// turn) names and that are not available yet. It calls say to report what
	// it waits for.
	Prepare(ctx context.Context, text string, say func(string))
}

// Library reads notes.
type Library interface {
	// Whole returns all notes that ctx does not hide, each as one source, in an
	// order that changes little; none if they have more than most bytes, or if the
	// model may not have them without being asked for.
	Whole(ctx context.Context, most int64) ([]agent.Source, error)
	// Reread returns the current lines of a source; false if they are gone. A
	// Source without a Vault is searched for in all vaults.
	Reread(s agent.Source) (text string, ok bool)
	// About describes the notes for the planner, one line for each vault.
	About(ctx context.Context) []string
}

// Facts has the facts about the user.
type Facts interface {
	List(ctx context.Context) ([]agent.Fact, error)
}

// AfterTurn runs when a turn was saved; its error is reported.
type AfterTurn interface {
	AfterTurn(ctx context.Context, over TurnOver) error
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
}

// Agent answers messages. Create it with [New]. It is safe for concurrent use.
type Agent struct {
	Options
	Then    then // follows each complete answer; may be nil
	gate    *gate.Gate
	vault   wholeVault
	schemas agent.Schemas
	meters  prompt.Meters
}

// New returns an Agent, with defaults for missing options.
func New(o Options) *Agent {
	if o.Server == nil {
		o.Server = nothing{}
	}
	if o.Traits == nil {
		o.Traits = nothing{}
	}
	if o.Session == nil {
		o.Session = nothing{}
	}
	if o.Tools == nil {
		o.Tools = nothing{}
	}
	if o.Redact == nil {
		o.Redact = agent.NoSecrets{}
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
	guarded.Session, guarded.Hook = o.Session, o.Before
	return &Agent{
		Options: o, gate: guarded, schemas: agent.Schemas{Now: o.Now},
		meters: prompt.Meters{Saved: o.TokenRatios, By: map[string]agent.TokenRatio{}},
	}
}

func (nothing) Window() int                                   { return 0 }
func (nothing) ModelName() string                             { return "" }
func (nothing) Ready(context.Context) error                   { return nil }
func (nothing) RejectsLongPrompts() bool                      { return false }
func (nothing) Traits() Traits                                { return Traits{Native: true} }
func (nothing) Mode() agent.Mode                              { return agent.PlanMode }
func (nothing) Think() string                                 { return "" }
func (nothing) Approve() bool                                 { return false }
func (nothing) ReadOnly() bool                                { return false }
func (nothing) Offered() []agent.Tool                         { return nil }
func (nothing) Missing() map[string]string                    { return nil }
func (nothing) Writes(string) bool                            { return false }
func (nothing) Prepare(context.Context, string, func(string)) {}

// Ask starts a turn and returns at once with its events. Cancel ctx to stop
// the turn. Read the channel until it closes, also after cancelling: that is
// how the turn's goroutine ends.
func (a *Agent) Ask(ctx context.Context, conversation, message string) <-chan agent.Event {
	return a.start(ctx, conversation, func(t *turn, ctx context.Context) error {
		t.parse(message)
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
func (a *Agent) Call(ctx context.Context, conversation, message string, step agent.Step,
	from ...string,
) <-chan agent.Event {
	return a.Calls(ctx, conversation, message, single(step), from...)
}

// Work has the calls that a user requested, one after the other.
type Work interface {
	// Next returns the first call for nil, and each further one for the result of
	// the last; nil ends the turn, with the last result as its answer.
	Next(last *agent.Result) *agent.Step
}

// single is one call.
type single agent.Step

func (s single) Next(last *agent.Result) *agent.Step {
	if last != nil {
		return nil
	}
	return (*agent.Step)(&s)
}

// Calls is like [Agent.Call] for several calls. A call that is not made ends the
// turn as well.
func (a *Agent) Calls(ctx context.Context, conversation, message string, work Work, from ...string,
) <-chan agent.Event {
	return a.start(ctx, conversation, func(t *turn, ctx context.Context) error {
		t.mode, t.command = agent.PlanMode, &command{work: work, from: agent.FromOutside(from...)}
		t.record.Add(t.command.from)
		t.parse(message)
		return t.begin(ctx)
	})
}

// start runs a turn in its own goroutine.
func (a *Agent) start(ctx context.Context, conversation string,
	begin func(*turn, context.Context) error,
) <-chan agent.Event {
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
func (a *Agent) Decide(ctx context.Context, tool agent.Tool, input json.RawMessage, from agent.Origin) (agent.Level,
	string,
) {
	t := newTurn(a, "", nil)
	t.record.Add(from)
	v := t.gate.Verdict(ctx, gate.Call{Tool: tool, Input: agent.ParseArgs(input)})
	return v.Level, v.Reason
}

// TurnTools returns the tools that a turn adds to those of [Options], and by
// name why one of them is not offered now.
func (a *Agent) TurnTools() (own []agent.Tool, missing map[string]string) {
	t := newTurn(a, "", nil)
	if t.mode == agent.AutoMode {
		t.mode = t.autoMode()
	}
	find := &findTools{t}
	t.tools = append(slices.Clip(a.Tools.Offered()), find)
	missing = map[string]string{}
	if len(prompt.NewBlock(t.tools, a.Guide.Names(), t.window()).Rest) == 0 {
		missing[agent.FindTools] = "the model's window has room for all tools"
	}
	if t.mode == agent.PlanMode {
		missing[agent.DelegateTool] = "it needs mode loop or team, and the mode is plan"
	}
	return append([]agent.Tool{find}, t.delegation()...), missing
}

// nothing is what an Agent has of an option that is nil.
type nothing struct{}
