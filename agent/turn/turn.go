package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/memory"
	"lifehub/agent/prompt"
	"lifehub/llm"
)

// turn is the work on one message. What it did and found is in steps, what the user reads in answer; everything else is
// set before the first step, or changed only between the rounds of the model.
type turn struct {
	agent  *Agent
	events *agent.Stream // numbers, journals and traces every event, and sends it to the front end
	record *gate.Record  // the conversation, what was read in it, and where that came from
	gate   *gate.Guard   // decides whether a call may run
	model  *prompt.Asker // fits a prompt into the window and asks the model

	message  message
	command  *command // the calls that the user requested; nil if the model decides
	mode     agent.Mode
	traits   Traits            // of the model
	tools    []agent.Tool      // that may be called
	missing  map[string]string // the reason why each other known tool is not among them, by name
	talk     talk              // the conversation before this turn
	recalled memory.Recalled   // what the prompts have of it, facts and past exchanges
	saved    saved             // state of the interrupted turn, if this one resumes it
	plans    planning
	steps    steps
	answer   answer
}

// message is what the user sent.
type message struct {
	whole    string // including attachments
	question string // the typed part
	attached []agent.Attachment
	only     []string          // tools that may be called; nil: all
	received []steeringMessage // messages sent while it was answered
}

// command is what the user requested to be called.
type command struct {
	work Work
	from agent.Origin // of the calls
}

// talk is the conversation before a turn.
type talk struct {
	path      []agent.Exchange // exchanges that are in the prompts
	called    []string         // tools that it called or named
	compacted bool             // older turns were summarized during this turn
}

// planning is what plans and rounds have to know of earlier ones.
type planning struct {
	// one worker has the whole message; false for a resumed plan, whose sources are numbered again
	sole      bool
	unplanned []steeringMessage // messages that the planner has not seen
	seen      int               // number of findings that the planner has seen
	later     []llm.Message     // messages after the first plan
	about     *string           // description of the notes for prompts; nil if not loaded yet
}

func newTurn(a *Agent, conversation string, to chan<- agent.Event) *turn {
	stream := agent.NewStream(to, a.Now)
	stream.Journal, stream.Trace = a.Journal, a.Trace
	record := &gate.Record{Stream: stream, Marks: a.Marks, Conversation: conversation}
	t := &turn{
		agent: a, events: stream, record: record, gate: &gate.Guard{Gate: a.gate, Record: record, Schemas: &a.schemas},
		model: a.asker(stream, a.Session.Think()), mode: a.Session.Mode(), missing: a.Tools.Missing(),
		steps: newSteps(a.Limits.Parallel),
	}
	t.model.Compactor = t
	return t
}

// parse parses the message. Only the typed part is ever treated as a question or
// command.
func (t *turn) parse(sent string) {
	m := agent.ParseMessage(sent)
	t.message.whole, t.message.question, t.message.attached, t.message.only = sent, cmp.Or(m.Text, agent.NothingTyped),
		m.Attached, m.Tools
}

// run runs a turn from its first event to its last. begin saves a new message
// or resumes an interrupted turn.
func (t *turn) run(ctx context.Context, begin func(context.Context) error) {
	err := begin(ctx)
	if err == nil {
		stop := t.events.KeepAnswer(ctx, len(t.saved.text), t.record.Origin)
		err = t.reply(ctx)
		if err != nil {
			t.listPassages(ctx)
		} else {
			err = t.finish(ctx)
		}
		stop()
	}
	t.end(ctx, err)
}

// begin saves the message before anything is sent.
func (t *turn) begin(ctx context.Context) (err error) {
	defer func() {
		t.events.Emit(agent.Started{
			Conversation: t.record.Conversation, Message: t.message.whole, Mode: string(t.mode),
			Steer: t.steers(),
		})
	}()
	defer agent.Catch(&err)
	if strings.TrimSpace(t.message.whole) == "" {
		return agent.ErrEmpty
	}
	if t.events.Turn, err = t.agent.History.Begin(ctx, t.record.Conversation, t.message.whole); err != nil {
		return fmt.Errorf("save the message: %w", err)
	}
	return nil
}

// reply answers the message. Its results are in t, even after an error.
func (t *turn) reply(ctx context.Context) (err error) {
	defer agent.Catch(&err)
	t.prepare(ctx)
	t.offerTools()
	t.resume()
	if err := t.recall(ctx); err != nil {
		return fmt.Errorf("read the conversation: %w", err)
	}
	t.recallSends()
	ctx = agent.InTalk(ctx, t.timesMentioned())
	if t.command != nil {
		return t.runCommand(ctx)
	}
	if err := t.attach(ctx); err != nil {
		return err
	}
	if name, _, _ := strings.Cut(strings.TrimPrefix(t.message.question, "@"), " "); t.missing[name] != "" &&
		strings.HasPrefix(t.message.question, "@") {
		t.events.Notice("%s is not available: %s.", name, t.missing[name])
	}
	if retraced, err := t.retrace(ctx); retraced || err != nil {
		return err
	}
	if done, err := t.certainly(ctx); done || err != nil {
		return err
	}
	_ = t.model.Wait(ctx) // the first request reports any error
	t.fitModel()
	if t.agent.Session.Approve() && t.mode != agent.PlanMode {
		t.events.Notice("In %s mode calls run or ask as the rules say; no plan is approved.", t.mode)
	}
	if t.mode == agent.LoopMode {
		t.readWhole(ctx)
	}
	if t.mode != agent.PlanMode && t.agent.Server.ModelName() != noModel {
		if err := t.searchFirst(ctx); err != nil {
			return err
		}
	}
	return t.byMode(ctx)
}

// offerTools chooses the tools of the turn.
func (t *turn) offerTools() {
	t.tools = t.agent.Tools.Offered()
	if t.message.only != nil {
		t.tools = slices.DeleteFunc(slices.Clone(t.tools), func(tool agent.Tool) bool { return !slices.Contains(t.message.only, tool.Spec().Name) })
	} else if t.command == nil {
		t.tools = append(slices.Clip(t.tools), &findTools{t})
	}
}

// byMode answers in the mode of the turn.
func (t *turn) byMode(ctx context.Context) error {
	if t.agent.Server.ModelName() == noModel {
		t.mode = agent.PlanMode
	}
	switch t.mode {
	case agent.LoopMode:
		lost, err := t.loop(ctx)
		if !lost || err != nil {
			return err
		}
	case agent.TeamMode:
		lost, err := t.team(ctx)
		if !lost || err != nil {
			return err
		}
	}
	t.mode = agent.PlanMode
	return t.byPlan(ctx)
}

// prepare waits for what the turn needs. The user may be asked only if a model
// is used, not for a command.
func (t *turn) prepare(ctx context.Context) {
	if t.command == nil {
		host := agent.HostOptions{
			Call: "start", Unattended: t.gate.Unattended(), Events: t.events,
			Redact: t.agent.Redact,
		}.Open()
		defer host.Close()
		ctx = agent.WithHost(ctx, host)
	}
	t.agent.Tools.Prepare(ctx, t.message.question+t.saved.tools(), func(text string) { t.events.Notice("%s", text) })
}

// withoutLoopOnly removes the tools that a plan cannot use.
func (t *turn) withoutLoopOnly() {
	t.tools = slices.DeleteFunc(slices.Clone(t.tools), func(tool agent.Tool) bool { return tool.Properties().LoopOnly })
}

// byPlan plans, runs the steps, plans again if something is missing or the user
// sends a further message, and answers.
func (t *turn) byPlan(ctx context.Context) error {
	t.withoutLoopOnly()
	steps, answered, err := t.plan(ctx)
	if err != nil || answered {
		return err
	}
	if err := t.runPlan(ctx, steps, t.steeringWaits); err != nil {
		return err
	}
	t.withoutWeak()
	for left := t.agent.Limits.Replans; ; {
		var sent []steeringMessage
		if ctx, sent, err = t.listen(ctx); err != nil {
			return err
		}
		if len(sent) == 0 {
			if left <= 0 {
				break
			}
			left--
		}
		t.plans.unplanned = append(t.plans.unplanned, sent...)
		steps, err := t.replan(ctx)
		if err != nil {
			return err
		}
		if len(steps) > 0 {
			if err := t.runPlan(ctx, steps, t.steeringWaits); err != nil {
				return err
			}
		} else if !t.steeringWaits() {
			break
		}
	}
	if report := t.reportOfWrites(); report != "" && len(t.message.received) == 0 {
		t.events.Say(report)
		t.answer.citations = new([]agent.Citation{})
		return nil
	}
	return t.explain(ctx)
}

// end checks the citations, saves the answer and closes the turn.
func (t *turn) end(ctx context.Context, failure error) {
	defer t.events.EndTrace()
	defer func() {
		if r := recover(); r != nil {
			t.events.Emit(agent.FailedFrom(agent.BrokenBy(r)))
		}
	}()
	if ctx.Err() != nil {
		failure, t.events.Metrics.Interrupted = nil, true
	}
	answer := agent.Answer{Text: t.events.Text(), Effects: t.effects(), Cut: t.events.Cut || failure != nil ||
		t.events.Metrics.Interrupted}
	if answer.Cut {
		answer.Text = t.saved.longer(strings.TrimSuffix(answer.Text, t.answer.passageList)) + t.answer.passageList
	}
	answer.Log, answer.Origin = t.log(), t.record.Origin()
	if t.answer.citations == nil {
		t.answer.citations = new(t.check(ctx, answer.Text))
	}
	answer.Citations = *t.answer.citations
	answer.Sources = t.answer.withoutUnused(answer.Citations)
	t.events.ReportDegradations(failure)
	if failure != nil {
		answer.Error = failure.Error()
	}
	answer.Metrics = t.events.Timed()
	answer.Course = t.events.Course(t.ending(answer, failure))
	if t.staysOpen(ctx) {
		// the saved progress is rarely older
		_ = t.events.Journal.Progress(context.WithoutCancel(ctx), t.events.Turn, answer.Text, answer.Origin)
	} else {
		if err := t.save(ctx, answer); err != nil && failure == nil {
			unsaved := &agent.UnsavedError{Err: err}
			if len(answer.Effects) > 0 && !answer.Effects.Warns() {
				unsaved.Did = answer.Effects.String()
			}
			failure = unsaved
		}
		t.archive(ctx)
		t.afterTurn(ctx, answer)
	}
	t.events.Emit(t.ending(answer, failure))
}

// afterTurn runs the user's hook, also for a turn that was stopped.
func (t *turn) afterTurn(ctx context.Context, answer agent.Answer) {
	if t.agent.After == nil || t.events.Turn == "" {
		return
	}
	over := TurnOver{Conversation: t.record.Conversation, Turn: t.events.Turn, Effects: answer.Effects, Cut: answer.Cut}
	if err := t.agent.After.AfterTurn(context.WithoutCancel(ctx), over); err != nil {
		t.events.Notice("The after_turn hook failed: %v.", err)
	}
}

// effects returns the effects of the turn, including missing ones that the user
// should know about.
func (t *turn) effects() agent.Effects {
	did := t.steps.effectsBy("")
	if t.isFromMemory(t.events.Text()) {
		did = append(did, agent.Effect{Kind: agent.WithoutNotes})
	}
	return agent.Sum(did).OrUnchanged(t.steps.writingTools())
}

// ending returns the event that ends the turn.
func (t *turn) ending(answer agent.Answer, failure error) agent.Body {
	if failure == nil {
		return agent.Ended{
			Answer: answer.Text, Log: answer.Log, Effects: answer.Effects, Sources: answer.Sources,
			Dropped: t.steps.dropped, Unasked: t.gate.Unasked(), Unanswered: t.answer.unanswered,
			Nearest: t.answer.nearestSources, Close: t.answer.close, Coverage: t.answer.coverage,
			Metrics: answer.Metrics,
		}
	}
	failed := agent.FailedFrom(failure)
	failed.Effects, failed.Dropped = answer.Effects, t.steps.dropped
	if t.answer.passageList != "" {
		failed.Hint = cmp.Or(failed.Hint, "What was found is listed above. Ask again for an answer; `lifehub doctor` "+
			"checks the model server.")
	}
	if t.events.Turn == "" && strings.TrimSpace(t.message.whole) != "" {
		failed.Unkept, failed.Hint = true, cmp.Or(failed.Hint,
			"Nothing was sent, and nothing is lost. Fix that (`lifehub doctor` may know how), then send the message again.")
	}
	return failed
}

// staysOpen reports whether the turn was interrupted only because LifeHub shuts
// down.
func (t *turn) staysOpen(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), agent.ErrShutdown) && t.events.Journal != nil && t.events.Turn != ""
}

// save saves the answer, even if the turn was cancelled.
func (t *turn) save(ctx context.Context, answer agent.Answer) error {
	if t.events.Turn == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), agent.SaveTimeout)
	defer cancel()
	return t.agent.History.Finish(ctx, t.events.Turn, answer)
}

// reopen resumes an interrupted turn.
func (t *turn) reopen(ctx context.Context, id string) (err error) {
	defer func() {
		t.events.Emit(agent.Started{
			Conversation: t.record.Conversation, Message: t.message.whole, Mode: string(t.mode),
			Resumed: true, Steer: t.steers(),
		})
	}()
	defer agent.Catch(&err)
	if t.events.Journal == nil {
		return errors.New("this conversation is not saved")
	}
	left, err := t.events.Journal.Reopen(ctx, t.record.Conversation, id)
	if err != nil {
		return fmt.Errorf("resume the turn: %w", err)
	}
	t.events.Turn = id
	question, _ := agent.SplitSteering(left.Question) // the journal says when the others were sent
	t.parse(question)
	t.saved = readJournal(left)
	if t.saved.hasPlan() {
		t.mode = cmp.Or(t.saved.Mode(), agent.PlanMode)
	}
	return nil
}

// runCommand makes the calls that the user requested.
func (t *turn) runCommand(ctx context.Context) error {
	var last *agent.Result
	from := t.command.from
	for number := 1; ; number++ {
		next := t.command.work.Next(last)
		if next == nil {
			break
		}
		step := *next
		step.ID = strconv.Itoa(number)
		t.noteWriter(step.Tool)
		if t.tool(step.Tool) == nil {
			return errors.New(gate.Because("the tool "+step.Tool+" is not available", t.missing[step.Tool]))
		}
		steps, err := t.enterPlan(ctx, agent.PlanMade{Steps: []agent.Step{step}}, from)
		if err != nil {
			return err
		}
		if len(steps) == 0 {
			return fmt.Errorf("%s was not called: the turn has no room for a further step", step.Tool)
		}
		if err := t.runPlan(ctx, steps, nil); err != nil {
			return err
		}
		f := t.steps.found[len(t.steps.found)-1]
		if why, declined := agent.DeclinedIn(f.Status, f.why()); declined {
			t.events.Say("You declined `" + step.Tool + "`" + why + ".")
			return nil
		}
		if f.Status != agent.Done {
			t.events.Say("Not done: " + f.why() + ".")
			return nil
		}
		last, from = &f.Result, f.Result.Origin // what follows is made from it
	}
	t.events.Say(last.Text)
	return nil
}
