package tui

import (
	"context"
	"os"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// turn sends a message.
func (c *printer) turn(ctx context.Context, question string) error {
	return c.startTurn(ctx, question, c.o.Assistant.Ask)
}

// startTurn starts a turn, in a new conversation if none is open.
func (c *printer) startTurn(ctx context.Context, message string, begin chat.TurnStarter) error {
	if c.conversation == "" && c.o.Conversations != nil {
		id, err := c.o.Conversations.New(ctx)
		if err != nil {
			return err
		}
		c.conversation = id
	}
	return c.follow(ctx, func(ctx context.Context) <-chan agent.Event { return begin(ctx, c.conversation, message) })
}

// follow starts a turn and writes its events as lines until it ends.
func (c *printer) follow(ctx context.Context, begin func(context.Context) <-chan agent.Event) error {
	c.resumable, c.view, c.cited = "", chat.View{}, nil
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
				return c.stopTurn(func() { stop(agent.ErrShutdown) }, events, chat.Terminated)
			}
			if c.failed != nil {
				cancel() // the output is gone, but the events must be drained
			}
		case s := <-c.signals:
			if s != os.Interrupt {
				return c.stopTurn(func() { stop(agent.ErrShutdown) }, events, chat.Terminated)
			}
			if stopped {
				return c.stopTurn(cancel, events, chat.Interrupted)
			}
			cancel()
			stopped = true
		}
	}
}

// stopTurn cancels a turn because the user left, and waits until it is saved.
func (c *printer) stopTurn(cancel func(), events <-chan agent.Event, how chat.Ended) error {
	cancel()
	for range events { // drain
	}
	c.flush()
	return leftError{how}
}

// show writes an event as lines. Parts of the answer are written as they arrive.
func (c *printer) show(e agent.Event) {
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
	c.view.Apply(e, time.Now())
	if noticed, ok := e.Body.(agent.Noticed); ok && noticed.Steering != nil {
		c.print("> %s\n", safetext.Text(strings.ReplaceAll(noticed.Steering.Text, "\n", "\n> ")))
		return
	}
	for _, line := range c.view.Lines(e, time.Now()) {
		c.print("%s\n", line)
	}
	switch e := e.Body.(type) {
	case agent.ToolEnded:
		if c.typed && e.Coverage != nil { // somebody waits while the model reads
			for _, s := range e.Sources[:min(len(e.Sources), transcript.ShownPassages)] {
				c.print("found: %s\n", safetext.Line(s.Title()))
			}
		}
	case agent.Cited:
		c.cite(e)
	case agent.Failed:
		c.print("error: %s\n", safetext.Line(e.Message))
		if e.Hint != "" {
			c.print("  %s\n", safetext.Line(e.Hint))
		}
		c.resumable = c.view.Turn
		c.tellEffects(e.Effects, c.o.CanUndo())
	case agent.Ended:
		if e.Interrupted {
			c.print("stopped\n")
			c.resumable = c.view.Turn
		}
		for _, line := range e.Caveats() {
			if line == e.Coverage.StillReading() {
				line += " (/retry)"
			}
			c.note(line)
		}
		c.tellEffects(e.Effects, c.o.CanUndo())
	}
}

// tellEffects writes the effects of a turn, and whether they can be undone.
func (c *printer) tellEffects(did agent.Effects, undo bool) {
	if did != nil {
		c.print("%s\n", chat.EffectsLine(did, undo))
	}
}

// cite writes a citation and its verdict, and adds it to the sources.
func (c *printer) cite(e agent.Cited) {
	c.cited = chat.Cite(c.cited, e.Citation, e.Source)
	c.print("%s\n", transcript.Cited{Citation: e.Citation, Source: e.Source}.InWords())
}
