package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

// saveTimeout bounds keeping the answer, which goes on after a cancelled turn.
const saveTimeout = 5 * time.Second

// turn is the work on one message.
type turn struct {
	*Agent
	conversation string
	mode         agent.Mode
	message      string      // what the user sent, attachments included
	question     string      // what of it was typed
	command      *agent.Step // the one call that the user asked for; nil: it is to be found out what to do
	id           string      // as History knows it; "" until the message is kept
	began        time.Time

	tools        []agent.Tool  // the enabled ones when the turn began
	history      []llm.Message // what was said before, oldest first
	past         []agent.Recollection
	summary      agent.Summary // of the turns before history
	compacted    bool          // the older turns were summarised in this turn
	facts        []agent.Fact  // those that the prompts hold
	provenance   provenance    // what else stands in them
	seen         seen
	found        []finding          // what was attached, then what the steps brought, in plan order
	with         []agent.Attachment // what came with the message
	attached     int                // how many of found the user attached
	sources      []agent.Source     // numbered: what the steps found, then the facts
	foundSources int                // how many of sources are no facts
	answer       spoken
	gap          string // said before the next piece of the answer
	quoted       string // the end of the answer: what was found, in place of the model's words

	unanswered []agent.Source  // what comes nearest when the notes don't say; nil: they do
	coverage   *agent.Coverage // of the turn's last search; nil: there was none
	cut        bool            // the answer lacks its end
	calls      calls
	saved      saved       // of a turn that was cut and is resumed
	slow       atomic.Bool // the user was told that the model is slow
	blind      atomic.Bool // the model cannot see images, and the user was told
	replanned  int         // how many of found the last plan was told
	routed     string      // why the front line handed the message on
	missing    string      // what the answer has to say is missing; "": nothing is known to be

	sending sync.Mutex // one event at a time; guards seq, trace and logged
	events  chan<- agent.Event
	seq     int
	trace   io.WriteCloser // nil: not begun, or none is kept
	piece   *agent.Event   // text that the trace does not hold yet; nil: none
	logged  []agent.Logged

	userWait userWait

	counting  sync.Mutex // guards what follows, and kept.plans
	dropped   []string   // what of the plans was left out or changed, and why
	setbacks  []setback
	lacking   []string // what prompts lack, as the user was told
	stepsMade int      // by all plans of the turn
	metrics   agent.Metrics
	effects   []stepEffect
	unasked   []string // tools that needed a permission nobody could give
	liberties []string // that outbound calls took; see unsaid
}

func newTurn(a *Agent, conversation string, events chan<- agent.Event) *turn {
	t := &turn{Agent: a, conversation: conversation, mode: a.Mode(), events: events, began: a.Now()}
	t.calls.init(a.Parallel)
	return t
}

// sent takes the message apart: nothing but what was typed is ever read as a
// question or a command.
func (t *turn) sent(message string) {
	m := agent.ParseMessage(message)
	t.message, t.question, t.with = message, cmp.Or(m.Text, agent.NothingTyped), m.Attached
}

// run is one turn from its first event to its last. begin keeps a new message
// or takes up a turn that was cut.
func (t *turn) run(ctx context.Context, begin func(context.Context) error) {
	err := begin(ctx)
	if err == nil {
		stop := t.keepAnswer(ctx)
		if err = t.reply(ctx); err != nil {
			t.quoteFound(ctx)
		}
		stop()
	}
	t.end(ctx, err)
}

// begin keeps the message before anything is sent.
func (t *turn) begin(ctx context.Context) (err error) {
	defer func() { t.emit(agent.Started{Conversation: t.conversation, Message: t.message, Mode: string(t.mode)}) }()
	defer agent.Catch(&err)
	if strings.TrimSpace(t.message) == "" {
		return agent.ErrEmpty
	}
	if t.id, err = t.History.Begin(ctx, t.conversation, t.message); err != nil {
		return fmt.Errorf("keep the message: %w", err)
	}
	return nil
}

// reply is the whole flow. What it brought stands in t, also after an error.
func (t *turn) reply(ctx context.Context) (err error) {
	defer agent.Catch(&err)
	t.Prepare(ctx, t.question+t.saved.tools(), func(text string) { t.emit(agent.Noticed{Text: text}) })
	t.tools = t.Tools()
	t.resumeKept()
	if err := t.recall(ctx); err != nil {
		return fmt.Errorf("read the conversation: %w", err)
	}
	t.recallLiberties()
	if t.command != nil {
		return t.runCommand(ctx)
	}
	if err := t.attach(ctx); err != nil {
		return err
	}
	switch t.mode {
	case agent.LoopMode:
		able, err := t.loop(ctx)
		if able || err != nil {
			return err
		}
		t.emit(agent.Noticed{Text: "The model cannot call tools by itself: this turn works by a plan instead."})
	case agent.TeamMode:
		able, err := t.team(ctx)
		if able || err != nil {
			return err
		}
		t.emit(agent.Noticed{Text: "Without a model there is no team: this turn works by a plan instead."})
	}
	return t.byPlan(ctx)
}

// byPlan plans, works, plans again where something is missing, and answers.
func (t *turn) byPlan(ctx context.Context) error {
	t.tools = slices.DeleteFunc(slices.Clone(t.tools), func(tool agent.Tool) bool { _, rounds := tool.(agent.LoopOnly); return rounds })
	plan, err := t.plan(ctx)
	if err != nil || plan.answered {
		return err
	}
	if err := t.work(ctx, plan.steps); err != nil {
		return err
	}
	for range t.Replans {
		steps, err := t.replan(ctx)
		if err != nil {
			return err
		}
		if len(steps) == 0 {
			break
		}
		if err := t.work(ctx, steps); err != nil {
			return err
		}
	}
	return t.explain(ctx)
}

// end checks the citations, keeps the answer and closes the turn.
func (t *turn) end(ctx context.Context, failure error) {
	defer t.endTrace()
	defer func() {
		if r := recover(); r != nil {
			t.emit(agent.FailedFrom(agent.BrokenBy(r)))
		}
	}()
	if ctx.Err() != nil {
		failure, t.metrics.Interrupted = nil, true
	}
	answer := agent.Answer{Text: t.answer.String(), Effects: agent.Sum(t.effectsBy("")), Sources: t.sources, Cut: t.cut || failure != nil || t.metrics.Interrupted}
	if answer.Cut {
		answer.Text = t.saved.longer(strings.TrimSuffix(answer.Text, t.quoted)) + t.quoted
	}
	answer.Log = t.wholeLog()
	said := answer.Text
	for _, l := range answer.Log {
		said += "\n" + l.Thought
	}
	t.rememberSaid(ctx, said)
	answer.Citations = t.checkCitations(ctx, answer.Text)
	t.tellSetbacks(failure)
	if failure != nil {
		answer.Error = failure.Error()
	}
	t.metrics.Waited = t.waited()
	t.metrics.Latency = t.since(t.began) - t.metrics.Waited
	answer.Metrics = t.metrics
	if t.staysOpen(ctx) {
		_ = t.Journal.Progress(context.WithoutCancel(ctx), t.id, answer.Text) // what is kept already is seldom less
	} else {
		if err := t.save(ctx, answer); err != nil && failure == nil {
			failure = fmt.Errorf("keep the answer: %w", err)
		}
		t.archive(ctx)
	}
	if failure != nil {
		told := agent.FailedFrom(failure)
		told.Effects, told.Dropped = answer.Effects, t.dropped
		if t.quoted != "" {
			told.Hint = cmp.Or(told.Hint, "What was found is quoted above. Ask again for an answer; lifehub doctor says how the model server is.")
		}
		if t.id == "" && strings.TrimSpace(t.message) != "" {
			told.Unkept, told.Hint = true, cmp.Or(told.Hint, "Nothing was asked, and nothing is lost. Fix that (lifehub doctor may know how), then send the message again.")
		}
		t.emit(told)
		return
	}
	t.emit(agent.Ended{Answer: answer.Text, Log: answer.Log, Effects: answer.Effects, Sources: answer.Sources, Dropped: t.dropped, Unasked: t.unasked, Unanswered: t.unanswered != nil, Nearest: t.unanswered, Coverage: t.coverage, Metrics: answer.Metrics})
}

// staysOpen reports whether nobody stopped the turn, and LifeHub ends all the same.
func (t *turn) staysOpen(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), agent.ErrShutdown) && t.Journal != nil && t.id != ""
}

// save keeps the answer even when the turn was cancelled.
func (t *turn) save(ctx context.Context, answer agent.Answer) error {
	if t.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return t.History.Finish(ctx, t.id, answer)
}

// emit sends the next event and waits until it was read: a slow reader slows
// the turn, and nothing is lost.
func (t *turn) emit(body agent.Body) {
	t.sending.Lock()
	defer t.sending.Unlock()
	t.seq++
	e := agent.Event{Type: agent.TypeOf(body), Turn: t.id, Seq: t.seq, Time: t.Now(), Body: body}
	t.count(func(m *agent.Metrics) { m.Tally(body) })
	t.record(e)
	t.log(body)
	t.events <- e
}

// phase frames the work of one agent; call what it returns at its end.
func (t *turn) phase(who string) func() {
	t.emit(agent.PhaseStarted{Agent: who})
	start := t.Now()
	return func() { t.emit(agent.PhaseEnded{Agent: who, Took: t.since(start)}) }
}

// say streams the next piece of the answer.
func (t *turn) say(text string) {
	if text == "" {
		return
	}
	text, t.gap = t.gap+text, ""
	if t.metrics.FirstToken == 0 {
		t.metrics.FirstToken = t.since(t.began) - t.waited()
	}
	t.answer.WriteString(text)
	t.emit(agent.Said{Content: text})
}

// reachedLimit marks an answer that ended at the model's limit, and says so.
func (t *turn) reachedLimit() {
	t.cut = true
	t.emit(agent.Noticed{Text: "The answer reached the model's limit and lacks its end."})
}

// count changes the metrics; steps do it side by side.
func (t *turn) count(change func(*agent.Metrics)) {
	t.counting.Lock()
	defer t.counting.Unlock()
	change(&t.metrics)
}

// since is the time from start in milliseconds.
func (t *turn) since(start time.Time) int64 { return t.Now().Sub(start).Milliseconds() }
