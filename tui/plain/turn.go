package plain

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/arguments"
	"lifehub/tui/backend"
	"lifehub/tui/plan"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// turn asks one question.
func (p *Chat) turn(ctx context.Context, question string) error {
	err := p.startTurn(ctx, func(ctx context.Context) <-chan agent.Event { return p.Assistant.Ask(ctx, p.conversation, question) })
	if err != nil || p.missed == "" || p.Models == nil || p.ending {
		return err
	}
	if p.offerPull(ctx, p.missed) {
		return p.turn(ctx, question)
	}
	return nil
}

// startTurn begins a turn in a way of its own, in a conversation that is there.
func (p *Chat) startTurn(ctx context.Context, begin func(context.Context) <-chan agent.Event) error {
	if p.conversation == "" && p.Conversations != nil {
		id, err := p.Conversations.New(ctx)
		if err != nil {
			return err
		}
		p.conversation = id
	}
	return p.follow(ctx, begin)
}

// follow writes the events of a turn as lines.
func (p *Chat) follow(ctx context.Context, begin func(context.Context) <-chan agent.Event) error {
	p.resumable, p.turnID, p.missed, p.cited = "", "", "", transcript.Sources{}
	turnCtx, stop := context.WithCancelCause(ctx)
	cancel := func() { stop(nil) }
	defer cancel()
	events := begin(turnCtx)
	stopped := false
	for {
		select {
		case e, open := <-events:
			if !open {
				p.flush()
				for stopped && len(p.queue) > 0 { // meant for after a whole answer
					p.note("not sent: " + p.queue[0])
					p.queue = p.queue[1:]
				}
				if !stopped && p.Reader.Always {
					p.secondRead(ctx)
				}
				return p.failed
			}
			switch asked := e.Body.(type) {
			case agent.PermissionAsked:
				p.permit(turnCtx, asked)
			case agent.InputAsked:
				p.input(turnCtx, asked)
			default:
				p.show(e)
			}
			if p.ending {
				return p.stopTurn(func() { stop(agent.ErrShutdown) }, events, backend.Terminated)
			}
			if p.failed != nil {
				cancel() // nobody reads on; the turn is read to its end
			}
		case s := <-p.Signals:
			if s != os.Interrupt {
				return p.stopTurn(func() { stop(agent.ErrShutdown) }, events, backend.Terminated)
			}
			if stopped {
				return p.stopTurn(cancel, events, backend.Interrupted)
			}
			cancel()
			stopped = true
		}
	}
}

// secondRead writes what the model says of the sentences that quote nothing.
func (p *Chat) secondRead(ctx context.Context) {
	if p.Reader.Read == nil || p.turnID == "" || p.failed != nil {
		return
	}
	citations, err := p.Reader.Read(ctx, p.conversation, p.turnID)
	if err != nil {
		p.note(err.Error())
	}
	for _, c := range citations {
		if c.Verdict == agent.Supported || c.Verdict == agent.Contradicted || c.Verdict == agent.Cites && c.Detail != "" {
			p.print("%s\n", transcript.Cited{Citation: c}.InWords())
		}
	}
}

// stopTurn leaves in the middle of a turn, which saves what it has.
func (p *Chat) stopTurn(cancel func(), events <-chan agent.Event, how backend.Ended) error {
	cancel()
	for range events { // until it has saved
	}
	p.flush()
	return leftError{how}
}

// show writes an event as a line; pieces of the answer as they come.
func (p *Chat) show(e agent.Event) {
	switch said := e.Body.(type) {
	case agent.Said:
		if p.thinking {
			p.flush()
		}
		p.stream(said.Content)
		return
	case agent.Thought:
		if said.Step != "" || said.Content == "" {
			break // workers think side by side, and are told of by their steps
		}
		if !p.thinking {
			p.flush()
			p.print("thinking: ")
			p.thinking = true
		}
		p.stream(said.Content)
		return
	}
	p.flush()
	p.window.Count(e.Body)
	turn := e.Turn
	switch e := e.Body.(type) {
	case agent.Started:
		p.turnID = turn
	case agent.Remembered:
		for _, line := range (&transcript.Remembered{Remembered: e}).Lines(time.Now()) {
			p.print("%s\n", strings.TrimPrefix(line, "· "))
		}
	case agent.PlanMade:
		for _, s := range e.Steps {
			p.print("plan %s: %s %s\n", safetext.Line(s.ID), safetext.Line(s.Tool), arguments.Brief(s.Input))
		}
		for _, d := range e.Dropped {
			p.print("not as planned: %s\n", safetext.Line(d))
		}
	case agent.PhaseStarted:
		if e.Step != "" {
			p.print("%s\n", safetext.Line(fmt.Sprintf("%s worker: attempt %d", e.Agent, e.Attempt)))
		}
	case agent.ArtifactChanged:
		p.print("%s\n", safetext.Line(transcript.ArtifactLine(e)))
	case agent.Evaluated:
		p.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("step %s: attempt %d, score %.2f %s", e.Step, e.Attempt, e.Score, e.Feedback))))
	case agent.StepChanged:
		if e.Status != agent.Pending && e.Status != agent.Running {
			p.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("step %s: %s %s", e.Step, e.Status, plan.InWords(e.Reason)))))
		}
	case agent.ToolEnded:
		if text := e.Brief(); text != "" {
			p.print("step %s returned: %s\n", safetext.Line(e.Step), safetext.Line(text))
		}
		if e.Coverage != nil {
			p.print("%s\n", safetext.Line(e.Coverage.Health()))
		}
	case agent.ToolProgressed:
		p.print("step %s: %s\n", safetext.Line(e.Step), (&plan.Call{Progress: e.Progress}).Far())
	case agent.PermissionGiven:
		p.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("%s %s", cmp.Or(decided[e.Decision], string(e.Decision)), e.Reason))))
	case agent.Cited:
		p.cited.Add(e.Citation, e.Source)
		p.print("%s\n", transcript.Cited{Citation: e.Citation, Source: e.Source}.InWords())
	case agent.Noticed:
		p.note(e.Text)
	case agent.Failed:
		p.print("error: %s\n", safetext.Line(e.Message))
		if e.Hint != "" {
			p.print("  %s\n", safetext.Line(e.Hint))
		}
		p.missed, p.resumable = backend.MissingModel(e.Err), p.turnID
		p.tellEffects(e.Effects, p.CanUndo())
	case agent.Ended:
		if e.Interrupted {
			p.print("stopped\n")
			p.resumable = p.turnID
		}
		if text := e.Coverage.StillReading(); text != "" {
			p.note(text + " (/retry)")
		}
		p.tellEffects(e.Effects, p.CanUndo())
	}
}

// tellEffects ends a turn with what it did, and whether a command undoes it.
func (p *Chat) tellEffects(did agent.Effects, undo bool) {
	if did != nil {
		p.print("%s\n", transcript.EffectsLine(did, undo))
	}
}
