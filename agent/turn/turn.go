package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/events"
	"lifehub/agent/gate"
	"lifehub/agent/memory"
	"lifehub/agent/prompt"
	"lifehub/agent/provenance"
	"lifehub/internal/when"
	"lifehub/llm"
)

// turn is the work on one message. Its parts know of each other what they embed:
// the answer the worker and the model, the worker the gate, the gate whose words
// are in the prompts, and all of them the stream of events.
type turn struct {
	Team    *Team
	agent   *Agent
	only    []string    // the tools that the message leaves; nil: all
	message string      // what the user sent, attachments included
	command *agent.Step // the one call that the user asked for; nil: it is to be found out what to do

	citations *[]agent.Citation // of the answer; nil: not judged yet

	recent []llm.Message    // the messages of History in the words that were said
	path   []agent.Exchange // of the conversation, before this turn

	withoutNotes bool // the model answered from memory, and the notes have nothing that fits

	compacted bool // the older turns were summarised in this turn
	replanned int  // how many findings the last plan was told
}

func newTurn(a *Agent, conversation string, to chan<- agent.Event) *turn {
	stream := events.New(to, a.Now)
	stream.Journal, stream.Trace = a.Journal, a.Trace
	guard := &gate.Guard{Gate: a.gate, Record: &provenance.Record{Stream: stream, Store: a.Provenance, Conversation: conversation}, Schemas: &a.schemas}
	worker := NewWorker(guard, a.Limits.Parallel)
	worker.Missing, worker.Writes, worker.Redact = a.Missing(), a.Writes, a.Redact
	asker := a.asker(stream, a.Think)
	t := &turn{agent: a, Team: &Team{
		Answer: &Answer{
			Worker: worker, Asker: asker, Recalled: &memory.Recalled{},
			Persona: a.Instructions, Reread: a.Reread, Conversations: a.History,
		},
		Mode: a.Mode(), Rounds: a.Limits.Rounds, MaxTools: a.Limits.MaxTools,
	}}
	guard.Prompts = t.prompts
	asker.Compact = t.compactToFit
	return t
}

// asker asks the model, and tells a stream of it.
func (a *Agent) asker(stream *events.Stream, think func() string) *prompt.Asker {
	server := prompt.Server{Window: a.Window, ModelName: a.ModelName, Think: think, Ready: a.Ready, RejectsLongPrompts: a.RejectsLongPrompts}
	asker := &prompt.Asker{Stream: stream, Model: a.Model, Meters: &a.meters, Server: server, Roles: map[string]*prompt.Asker{}}
	for name, role := range a.Roles {
		role.Think = think
		asker.Roles[name] = &prompt.Asker{Stream: stream, Model: role.Model, Meters: &a.meters, Server: role.Server}
	}
	return asker
}

// prompts is what of the conversation is in the prompt at this moment.
func (t *turn) prompts() gate.Prompts {
	return gate.Prompts{
		Instructions: t.Team.Answer.Persona, Question: t.Team.Answer.Question, History: t.Team.Answer.Recalled.History,
		Recalled: len(t.Team.Answer.Recalled.Facts)+len(t.Team.Answer.Recalled.Past) > 0 || t.Team.Answer.Recalled.Summary.Text != "",
	}
}

// sent takes the message apart: nothing but what was typed is ever read as a
// question or a command.
func (t *turn) sent(message string) {
	m := agent.ParseMessage(message)
	t.message, t.Team.Answer.Question, t.Team.Answer.With, t.only = message, cmp.Or(m.Text, agent.NothingTyped), m.Attached, m.Tools
}

// run is one turn from its first event to its last. begin saves a new message
// or resumes an interrupted turn.
func (t *turn) run(ctx context.Context, begin func(context.Context) error) {
	err := begin(ctx)
	if err == nil {
		stop := t.Team.Answer.Asker.Stream.KeepAnswer(ctx, len(t.Team.Answer.Worker.Saved.Text), func(text string) {
			if t.Team.Answer.Worker.Guard.Record.HasUntrusted() {
				t.Team.Answer.Worker.Guard.Record.RememberSaid(ctx, text)
			}
		})
		err = t.reply(ctx)
		t.Team.Answer.Release()
		if err != nil {
			t.Team.Answer.ListPassages(ctx)
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
		t.Team.Answer.Asker.Stream.Emit(agent.Started{Conversation: t.Team.Answer.Worker.Guard.Record.Conversation, Message: t.message, Mode: string(t.Team.Mode)})
	}()
	defer agent.Catch(&err)
	if strings.TrimSpace(t.message) == "" {
		return agent.ErrEmpty
	}
	if t.Team.Answer.Asker.Stream.Turn, err = t.Team.Answer.Conversations.Begin(ctx, t.Team.Answer.Worker.Guard.Record.Conversation, t.message); err != nil {
		return fmt.Errorf("save the message: %w", err)
	}
	return nil
}

// reply is the whole flow. What it brought is in t, also after an error.
func (t *turn) reply(ctx context.Context) (err error) {
	defer agent.Catch(&err)
	t.prepare(ctx)
	t.Team.Answer.Worker.Tools = t.agent.Tools()
	if t.only != nil {
		t.Team.Answer.Worker.Tools = slices.DeleteFunc(slices.Clone(t.Team.Answer.Worker.Tools), func(tool agent.Tool) bool { return !slices.Contains(t.only, tool.Spec().Name) })
	}
	t.Team.Answer.Worker.Resume()
	if err := t.recall(ctx); err != nil {
		return fmt.Errorf("read the conversation: %w", err)
	}
	t.Team.Answer.Worker.RecallLiberties()
	ctx = agent.InTalk(ctx, t.talk())
	if t.command != nil {
		return t.runCommand(ctx)
	}
	if err := t.attach(ctx); err != nil {
		return err
	}
	if name, _, _ := strings.Cut(strings.TrimPrefix(t.Team.Answer.Question, "@"), " "); t.Team.Answer.Worker.Missing[name] != "" && strings.HasPrefix(t.Team.Answer.Question, "@") {
		t.Team.Answer.Asker.Stream.Notice("%s is not available: %s.", name, t.Team.Answer.Worker.Missing[name])
	}
	if retraced, err := t.retrace(ctx); retraced || err != nil {
		return err
	}
	if t.agent.Limits.Approve() && t.Team.Mode != agent.PlanMode {
		t.Team.Answer.Asker.Stream.Notice("In %s mode there is no plan to approve: calls run or ask as the rules say.", t.Team.Mode)
	}
	t.holdDraft(ctx)
	if err := t.byMode(ctx); err != nil {
		return err
	}
	return t.lookUp(ctx)
}

// byMode answers in the mode of the turn.
func (t *turn) byMode(ctx context.Context) error {
	switch t.Team.Mode {
	case agent.LoopMode:
		able, err := t.Team.Loop(ctx)
		if able || err != nil {
			return err
		}
		t.Team.Answer.Asker.Stream.Notice("The model cannot call tools, so this turn uses plan mode.")
	case agent.TeamMode:
		able, err := t.Team.HandOut(ctx)
		if able || err != nil {
			return err
		}
		t.Team.Answer.Asker.Stream.Notice("Team mode needs a model, so this turn uses plan mode.")
	}
	return t.byPlan(ctx)
}

// talk is what the user's messages, this one last, say of times.
func (t *turn) talk() when.Talk {
	var typed []string
	for _, m := range t.Team.Answer.TypedBefore() {
		if m.Role == llm.User {
			typed = append(typed, m.Text)
		}
	}
	return when.TalkOf(append(typed, t.Team.Answer.Question), t.agent.Now())
}

// prepare waits for what the turn needs. The user is asked only where the model
// is: the one call of a command needs none.
func (t *turn) prepare(ctx context.Context) {
	if t.command == nil {
		host := agent.HostOptions{
			Call: "start", Unattended: t.Team.Answer.Worker.Guard.Unattended(), Emit: t.Team.Answer.Asker.Stream.Emit, Redact: t.agent.Redact, Asks: func() func() { return t.Team.Answer.Asker.Stream.WaitForUser(0) },
		}.Open()
		defer host.Close()
		ctx = agent.WithHost(ctx, host)
	}
	t.agent.Prepare(ctx, t.Team.Answer.Question+t.Team.Answer.Worker.Saved.Tools(), func(text string) { t.Team.Answer.Asker.Stream.Notice("%s", text) })
}

// byPlan plans, works, plans again where something is missing, and answers.
func (t *turn) byPlan(ctx context.Context) error {
	t.Team.Answer.Worker.Tools = slices.DeleteFunc(slices.Clone(t.Team.Answer.Worker.Tools), func(tool agent.Tool) bool { _, rounds := tool.(agent.LoopOnly); return rounds })
	steps, answered, err := t.plan(ctx)
	if err != nil || answered {
		return err
	}
	if err := t.Team.Answer.Worker.RunPlan(ctx, steps); err != nil {
		return err
	}
	t.withoutWeak()
	for range t.agent.Limits.Replans {
		steps, err := t.replan(ctx)
		if err != nil {
			return err
		}
		if len(steps) == 0 {
			break
		}
		if err := t.Team.Answer.Worker.RunPlan(ctx, steps); err != nil {
			return err
		}
	}
	return t.Team.Answer.Explain(ctx)
}

// end checks the citations, saves the answer and closes the turn.
func (t *turn) end(ctx context.Context, failure error) {
	defer t.Team.Answer.Asker.Stream.EndTrace()
	defer func() {
		if r := recover(); r != nil {
			t.Team.Answer.Asker.Stream.Emit(agent.FailedFrom(agent.BrokenBy(r)))
		}
	}()
	if ctx.Err() != nil {
		failure, t.Team.Answer.Asker.Stream.Metrics.Interrupted = nil, true
	}
	t.Team.Answer.SayHeld(true)
	answer := agent.Answer{Text: t.Team.Answer.Said(), Effects: t.effects(), Sources: t.Team.Answer.Sources, Cut: t.Team.Answer.Asker.Stream.Cut || failure != nil || t.Team.Answer.Asker.Stream.Metrics.Interrupted}
	if answer.Cut {
		answer.Text = t.Team.Answer.Worker.Saved.Longer(strings.TrimSuffix(answer.Text, t.Team.Answer.Passages)) + t.Team.Answer.Passages
	}
	answer.Log = t.Team.Answer.Log()
	said := answer.Text
	for _, l := range answer.Log {
		said += "\n" + l.Thought
	}
	t.Team.Answer.Worker.Guard.Record.RememberSaid(ctx, said)
	if t.citations == nil {
		t.citations = new(t.Team.Answer.Check(ctx, answer.Text))
	}
	answer.Citations = *t.citations
	t.Team.Answer.Asker.Stream.ReportDegradations(failure)
	if failure != nil {
		answer.Error = failure.Error()
	}
	answer.Metrics = t.Team.Answer.Asker.Stream.Timed()
	answer.Course = t.Team.Answer.Asker.Stream.Course(t.ending(answer, failure))
	if t.staysOpen(ctx) {
		_ = t.Team.Answer.Asker.Stream.Journal.Progress(context.WithoutCancel(ctx), t.Team.Answer.Asker.Stream.Turn, answer.Text) // what is kept already is seldom less
	} else {
		if err := t.save(ctx, answer); err != nil && failure == nil {
			failure = fmt.Errorf("save the answer: %w", err)
		}
		t.archive(ctx)
	}
	t.Team.Answer.Asker.Stream.Emit(t.ending(answer, failure))
}

// effects are what the turn did to the world, and what of it has to be known.
func (t *turn) effects() agent.Effects {
	did := t.Team.Answer.Worker.EffectsBy("")
	if t.withoutNotes {
		did = append(did, agent.Effect{Kind: agent.WithoutNotes})
	}
	return agent.Sum(did).OrUnchanged(t.Team.Answer.Worker.Writers())
}

// ending is the event that ends the turn.
func (t *turn) ending(answer agent.Answer, failure error) agent.Body {
	if failure == nil {
		return agent.Ended{Answer: answer.Text, Log: answer.Log, Effects: answer.Effects, Sources: answer.Sources, Dropped: t.Team.Answer.Worker.Dropped(), Unasked: t.Team.Answer.Worker.Guard.Unasked(), Unanswered: t.Team.Answer.Unanswered, Nearest: t.Team.Answer.Nearest, Close: t.Team.Answer.Close, Coverage: t.Team.Answer.Coverage, Metrics: answer.Metrics}
	}
	told := agent.FailedFrom(failure)
	told.Effects, told.Dropped = answer.Effects, t.Team.Answer.Worker.Dropped()
	if t.Team.Answer.Passages != "" {
		told.Hint = cmp.Or(told.Hint, "What was found is listed above. Ask again for an answer; `lifehub doctor` checks the model server.")
	}
	if t.Team.Answer.Asker.Stream.Turn == "" && strings.TrimSpace(t.message) != "" {
		told.Unkept, told.Hint = true, cmp.Or(told.Hint, "Nothing was sent, and nothing is lost. Fix that (`lifehub doctor` may know how), then send the message again.")
	}
	return told
}

// staysOpen reports whether nobody stopped the turn, and LifeHub ends all the same.
func (t *turn) staysOpen(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), agent.ErrShutdown) && t.Team.Answer.Asker.Stream.Journal != nil && t.Team.Answer.Asker.Stream.Turn != ""
}

// save writes the answer, also of a turn that was cancelled.
func (t *turn) save(ctx context.Context, answer agent.Answer) error {
	if t.Team.Answer.Asker.Stream.Turn == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), events.SaveTimeout)
	defer cancel()
	return t.Team.Answer.Conversations.Finish(ctx, t.Team.Answer.Asker.Stream.Turn, answer)
}

// reopen resumes an interrupted turn.
func (t *turn) reopen(ctx context.Context, id string) (err error) {
	defer func() {
		t.Team.Answer.Asker.Stream.Emit(agent.Started{Conversation: t.Team.Answer.Worker.Guard.Record.Conversation, Message: t.message, Mode: string(t.Team.Mode), Resumed: true})
	}()
	defer agent.Catch(&err)
	if t.Team.Answer.Asker.Stream.Journal == nil {
		return errors.New("this conversation is not saved")
	}
	left, err := t.Team.Answer.Asker.Stream.Journal.Reopen(ctx, t.Team.Answer.Worker.Guard.Record.Conversation, id)
	if err != nil {
		return fmt.Errorf("resume the turn: %w", err)
	}
	t.Team.Answer.Asker.Stream.Turn = id
	t.sent(left.Question)
	t.Team.Answer.Worker.Saved = ReadJournal(left)
	if t.Team.Answer.Worker.Saved.HasPlan() {
		t.Team.Mode = cmp.Or(t.Team.Answer.Worker.Saved.Mode(), agent.PlanMode)
	}
	return nil
}

// runCommand makes the one call that the user asked for.
func (t *turn) runCommand(ctx context.Context) error {
	step := *t.command
	step.ID = "1"
	t.Team.Answer.Worker.NoteWriter(step.Tool)
	if t.Team.Answer.Worker.Tool(step.Tool) == nil {
		return errors.New(gate.Because("the tool "+step.Tool+" is not available", t.Team.Answer.Worker.Missing[step.Tool]))
	}
	steps, err := t.Team.Answer.Worker.Plan(ctx, agent.PlanMade{Steps: []agent.Step{step}})
	if err != nil {
		return err
	}
	if err := t.Team.Answer.Worker.RunPlan(ctx, steps); err != nil {
		return err
	}
	for _, f := range t.Team.Answer.Worker.Found {
		why, declined := strings.CutPrefix(f.Why(), gate.Declined)
		switch {
		case f.Status == agent.Done:
			t.Team.Answer.Say(f.Result.Text)
		case declined:
			t.Team.Answer.Say("You declined `" + step.Tool + "`" + why + ".")
		default:
			t.Team.Answer.Say("Not done: " + why + ".")
		}
	}
	return nil
}
