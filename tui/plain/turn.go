package plain

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/plan"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// turn sends a message.
func (c *chat) turn(ctx context.Context, question string) error {
	return c.startTurn(ctx, func(ctx context.Context) <-chan agent.Event { return c.o.Assistant.Ask(ctx, c.conversation, question) })
}

// startTurn starts a turn, in a new conversation if none is open.
func (c *chat) startTurn(ctx context.Context, begin func(context.Context) <-chan agent.Event) error {
	if c.conversation == "" && c.o.Conversations != nil {
		id, err := c.o.Conversations.New(ctx)
		if err != nil {
			return err
		}
		c.conversation = id
	}
	return c.follow(ctx, begin)
}

// follow starts a turn and writes its events as lines until it ends.
func (c *chat) follow(ctx context.Context, begin func(context.Context) <-chan agent.Event) error {
	c.resumable, c.turnID, c.cited = "", "", transcript.Sources{}
	turnCtx, stop := context.WithCancelCause(ctx)
	cancel := func() { stop(nil) }
	defer cancel()
	events := begin(turnCtx)
	stopped := false
	for {
		select {
		case e, open := <-events:
			if !open {
				c.flush()
				for stopped && len(c.queue) > 0 { // they were meant to follow a complete answer
					c.note("not sent: " + c.queue[0])
					c.queue = c.queue[1:]
				}
				return c.failed
			}
			switch asked := e.Body.(type) {
			case agent.PermissionAsked:
				c.permit(turnCtx, asked)
			case agent.InputAsked:
				c.input(turnCtx, asked)
			default:
				c.show(e)
			}
			if c.ending {
				return c.stopTurn(func() { stop(agent.ErrShutdown) }, events, backend.Terminated)
			}
			if c.failed != nil {
				cancel() // the output is gone, but the events must be drained
			}
		case s := <-c.signals:
			if s != os.Interrupt {
				return c.stopTurn(func() { stop(agent.ErrShutdown) }, events, backend.Terminated)
			}
			if stopped {
				return c.stopTurn(cancel, events, backend.Interrupted)
			}
			cancel()
			stopped = true
		}
	}
}

// stopTurn cancels a turn because the user left, and waits until it is saved.
func (c *chat) stopTurn(cancel func(), events <-chan agent.Event, how backend.Ended) error {
	cancel()
	for range events { // drain
	}
	c.flush()
	return leftError{how}
}

// show writes an event as lines. Parts of the answer are written as they arrive.
func (c *chat) show(e agent.Event) {
	switch said := e.Body.(type) {
	case agent.Said:
		if c.thinking {
			c.flush()
		}
		if said.Takes > 0 { // what is printed stays
			c.flush()
			c.print("(The last of this was not part of the answer.)\n")
		}
		c.stream(said.Content)
		return
	case agent.Thought:
		if said.Step != "" || said.Content == "" {
			break // thoughts of parallel workers would be mixed
		}
		if !c.thinking {
			c.flush()
			c.print("thinking: ")
			c.thinking = true
		}
		c.stream(said.Content)
		return
	}
	c.flush()
	c.window.Count(e.Body)
	turn := e.Turn
	switch e := e.Body.(type) {
	case agent.Started:
		c.turnID = turn
	case agent.Remembered:
		for _, line := range (&transcript.Remembered{Remembered: e}).Lines(time.Now()) {
			c.print("%s\n", strings.TrimPrefix(line, "· "))
		}
	case agent.PlanMade:
		for _, s := range e.Steps {
			c.print("plan %s: %s %s\n", safetext.Line(s.ID), safetext.Line(s.Tool), plan.BriefArguments(s.Input))
		}
		for _, d := range e.Dropped {
			c.print("not as planned: %s\n", safetext.Line(d))
		}
	case agent.PhaseStarted:
		if e.Step != "" {
			c.print("%s\n", safetext.Line(fmt.Sprintf("%s worker: attempt %d", e.Agent, e.Attempt)))
		}
	case agent.ArtifactChanged:
		c.print("%s\n", safetext.Line(transcript.ArtifactLine(e)))
	case agent.Evaluated:
		c.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("step %s: attempt %d, score %.2f %s", e.Step, e.Attempt, e.Score, e.Feedback))))
	case agent.StepChanged:
		if e.Status != agent.Pending && e.Status != agent.Running {
			c.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("step %s: %s %s", e.Step, e.Status, plan.InWords(e.Reason)))))
		}
	case agent.ToolEnded:
		if text := e.Brief(); text != "" {
			c.print("step %s returned: %s\n", safetext.Line(e.Step), safetext.Line(text))
		}
		if e.Coverage != nil {
			c.print("%s\n", safetext.Line(e.Coverage.Health()))
			if c.typed { // somebody waits while the model reads
				for _, s := range e.Sources[:min(len(e.Sources), transcript.ShownPassages)] {
					c.print("found: %s\n", safetext.Line(s.Title()))
				}
			}
		}
	case agent.ToolProgressed:
		c.print("step %s: %s\n", safetext.Line(e.Step), (&plan.Call{Progress: e.Progress}).Far())
	case agent.PermissionGiven:
		c.print("%s\n", strings.TrimSpace(safetext.Line(fmt.Sprintf("%s %s", cmp.Or(decided[e.Decision], string(e.Decision)), e.Reason))))
	case agent.Cited:
		c.cite(e.Citation, e.Source)
	case agent.Noticed:
		if e.Steering != nil {
			c.print("> %s\n", safetext.Text(strings.ReplaceAll(e.Steering.Text, "\n", "\n> ")))
			break
		}
		c.note(e.Text)
	case agent.Reading:
		if !e.Again {
			c.note(e.String())
		}
	case agent.Failed:
		c.print("error: %s\n", safetext.Line(e.Message))
		if e.Hint != "" {
			c.print("  %s\n", safetext.Line(e.Hint))
		}
		c.resumable = c.turnID
		c.tellEffects(e.Effects, c.o.CanUndo())
	case agent.Ended:
		if e.Interrupted {
			c.print("stopped\n")
			c.resumable = c.turnID
		}
		if text := e.Coverage.StillReading(); text != "" {
			c.note(text + " (/retry)")
		}
		c.tellEffects(e.Effects, c.o.CanUndo())
	}
}

// tellEffects writes the effects of a turn, and whether they can be undone.
func (c *chat) tellEffects(did agent.Effects, undo bool) {
	if did != nil {
		c.print("%s\n", transcript.EffectsLine(did, undo))
	}
}

// cite writes a citation and its verdict, and adds it to the sources.
func (c *chat) cite(cited agent.Citation, from agent.Source) {
	c.cited.Add(cited, from)
	c.print("%s\n", transcript.Cited{Citation: cited, Source: from}.InWords())
}
