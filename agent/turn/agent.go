// Package turn answers a message. It knows no screen, no disk and no network:
// models, tools and the history of a conversation are handed to it. Start with
// [Agent.Ask]; one message's way is the file turn.go.
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

// Options is what an Agent works with. Model and History are required.
type Options struct {
	Model       llm.Model
	Roles       map[string]prompt.Role // models for the planner and the second reader, by those names; nil: Model
	Window      func() int             // tokens that the model's window holds; nil or 0: unknown
	Tools       func() []agent.Tool    // the enabled tools of this moment; nil: none
	History     agent.History
	Journal     agent.Journal     // nil: a turn that is cut cannot be resumed
	Memory      memory.LongTerm   // the zero value remembers nothing beyond the window
	Summaries   agent.Summaries   // keeps what older turns came down to; nil: they are left out when they do not fit
	TokenRatios agent.TokenRatios // keeps how models count tokens; nil: learned again in each run
	// RejectsLongPrompts reports that the model server refuses a prompt that is too long, and
	// never cuts it in silence; nil: it does not.
	RejectsLongPrompts func() bool
	Facts              func(ctx context.Context) ([]agent.Fact, error) // what is remembered about the user, as it stands now; nil: nothing
	Rules              *gate.Rules                                     // nil: each tool's own level
	Save               func(ctx context.Context, rule gate.Rule) error // keeps an "always"; nil: for this run only

	// Missing says why tools that LifeHub knows are not among Tools, by name; nil:
	// none is missing.
	Missing func() map[string]string

	// Writes reports whether a tool that LifeHub knows would change something, also
	// one that is missing; nil: unknown.
	Writes func(tool string) bool

	// Prepare may wait for tools that a text, a message or the plan of a turn that
	// is resumed, names and that are not there yet; it says what it waits for. nil:
	// nothing is waited for.
	Prepare func(ctx context.Context, text string, say func(string))
	// Attach reads what a message names; nil: nothing.
	Attach agent.Attacher
	// Provenance remembers what is untrusted; nil: for this run only.
	Provenance agent.Provenance

	// Unattended says that nobody can be asked: what needs a confirmation is
	// refused, and Ended.Unasked names it.
	Unattended bool
	// ReadOnly reports whether nothing that writes or sends may run, at this
	// moment; nil: it may.
	ReadOnly func() bool

	// Reread returns the lines of a source as they stand on disk now, for
	// the check of citations; false: they are gone. A Source without a Vault
	// is looked for in all. nil: not read again.
	Reread func(agent.Source) (string, bool)

	// Trace begins a trace of a turn's events and prompts, as in [events.Stream];
	// nil: none is kept.
	Trace func(turn string) io.WriteCloser

	// Redact takes the user's secrets out of a text: of what tools bring and say,
	// before anybody learns of it; nil: nothing is taken out.
	Redact func(text string) string

	// Ready waits until Window and ModelName are those of the next request; nil:
	// they are.
	Ready func(ctx context.Context) error
	// ModelName is who answers at this moment, for figures and notices; nil: unknown.
	ModelName func() string

	// AboutNotes says what the notes are, a line for each vault, for the planner;
	// nil: nothing.
	AboutNotes func(ctx context.Context) []string

	// Instructions is the user's persona, put before every prompt.
	Instructions string
	Limits       Limits
	Mode         func() agent.Mode // of the next turn; nil: PlanMode
	Fitting      func() agent.Mode // what AutoMode is for the model that answers now; nil: PlanMode
	Think        func() string     // as in llm.Request; nil: off
	Now          func() time.Time  // nil: time.Now
}

// Limits bound a turn. The zero value of each has its default.
type Limits struct {
	Passages int // that a search brings; 0: 5
	Rounds   int // of LoopMode; 0: 8
	Replans  int // how often a plan is revised at most; 0: 2, less: never
	Messages int // of the conversation that are in a prompt, at most; 0: all that fit
	Parallel int // steps at once; 0: 4

	Approve func() bool // whether a plan runs only once the user has approved it; nil: no
}

// Agent answers messages. Make it with [New]; it is safe for concurrent use.
type Agent struct {
	Options
	Then    then // follows each answer that is whole; nil: nothing does
	gate    *gate.Gate
	schemas args.Schemas
	meters  prompt.Meters
}

// New returns an Agent with what is missing in the options set to its default.
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
	if o.Fitting == nil {
		o.Fitting = func() agent.Mode { return agent.PlanMode }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Provenance == nil {
		o.Provenance = gate.InMemory()
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
	guarded.ReadOnly = o.ReadOnly
	return &Agent{Options: o, gate: guarded, schemas: args.Schemas{Now: o.Now}, meters: prompt.Meters{Saved: o.TokenRatios, By: map[string]agent.TokenRatio{}, Last: map[string]prompt.Count{}}}
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

// Resume continues a turn that did not come to its end, with the same
// events as [Agent.Ask]. What has ended is not done again: results are read
// back from the journal. What the user was asked is asked again. A call that
// was started and whose end is not known is asked about, unless its tool can
// tell what became of it or it changes nothing.
func (a *Agent) Resume(ctx context.Context, conversation, turnID string) <-chan agent.Event {
	return a.start(ctx, conversation, func(t *turn, ctx context.Context) error { return t.reopen(ctx, turnID) })
}

// Call makes one call of a tool as a turn of its own, for a user who asked for
// just that: no model has a part in it, and the gate asks as ever. What the
// tool said is the answer. Its events are to be read as those of [Agent.Ask].
// from names who asked in place of the user: then the arguments are untrusted.
func (a *Agent) Call(ctx context.Context, conversation, message string, step agent.Step, from ...string) <-chan agent.Event {
	return a.start(ctx, conversation, func(t *turn, ctx context.Context) error {
		t.mode, t.command, t.gate.Command = agent.PlanMode, &step, len(from) == 0
		t.record.MarkUntrusted(from...)
		t.sent(message)
		return t.begin(ctx)
	})
}

// SecondRead asks the model what the sources of a finished turn's answer say of
// its sentences that no quotation bears out, saves what it says and returns the citations
// ([answer.SecondRead]). After an error all is as it was.
func (a *Agent) SecondRead(ctx context.Context, conversation, turnID string) (_ []agent.Citation, err error) {
	defer agent.Catch(&err)
	exchanges, err := a.History.Exchanges(ctx, conversation)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(exchanges, func(e agent.Exchange) bool { return e.Turn == turnID && !e.Open })
	if turnID == "" {
		i = len(exchanges) - 1
	}
	if i < 0 || exchanges[i].Open {
		return nil, errors.New("check the answer: there is no finished answer to check")
	}
	t := newTurn(a, conversation, nil)
	t.record.Conversation, t.events.Turn = conversation, exchanges[i].Turn
	asker := a.asker(events.New(nil, a.Now), func() string { return "" })
	citations, err := secondRead(ctx, asker, t.answer.fence(), exchanges[i].Answer)
	if err != nil {
		return citations, err
	}
	return citations, a.History.Judge(ctx, t.events.Turn, citations)
}

// start runs a turn, which begins in some way, in its own goroutine.
func (a *Agent) start(ctx context.Context, conversation string, begin func(*turn, context.Context) error) <-chan agent.Event {
	to := make(chan agent.Event)
	go func() {
		defer close(to)
		t := newTurn(a, conversation, to)
		t.run(ctx, func(ctx context.Context) error { return begin(t, ctx) })
	}()
	return to
}

// Decide reports what the gate does with a call that a model makes in a new
// conversation, and why: in one where the user has said nothing that the call
// takes up. untrusted: after text was read that is not the user's.
func (a *Agent) Decide(ctx context.Context, tool agent.Tool, input json.RawMessage, untrusted bool) (agent.Level, string) {
	t := newTurn(a, "", nil)
	if untrusted {
		t.record.MarkUntrusted("a page of the web, for example")
	}
	v := t.gate.Verdict(ctx, gate.Call{Tool: tool, Input: args.Read(input)})
	return v.Level, v.Reason
}
