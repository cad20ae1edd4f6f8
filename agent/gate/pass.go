package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"lifehub/agent"
)

// Guard is the gate for the calls of one turn.
type Guard struct {
	Gate    *Gate
	Record  *Record
	Schemas *agent.Schemas

	mu      sync.Mutex
	copied  int      // calls so far that sent only what the user typed
	refused []string // tools that needed permission with no user to ask
}

// Unasked returns the tools that needed permission when there was no user to
// ask.
func (g *Guard) Unasked() []string { return g.refused }

// Unattended reports whether there is no user to ask.
func (g *Guard) Unattended() bool { return g.Gate.unattended }

// Pass takes a call through the gate. If the call needs permission, it asks the
// user and waits for the reply. The error is a *Refusal or that of a cancelled
// ctx.
func (g *Guard) Pass(ctx context.Context, c Call) (*Permit, error) {
	c.as = g.Gate.reading(ctx, c)
	v := g.verdict(c)
	if v.copied && !g.takeCopy() { // another call took the last one
		v = g.verdict(c)
	}
	for {
		var err error
		if v, err = g.consult(ctx, &c, v); err != nil {
			return nil, err
		}
		p := newPermit(c)
		switch v.Level {
		case agent.Auto:
			p.reason = v.Reason
			return p, nil
		case agent.Confirm, agent.ConfirmEach:
		default:
			if p, err, hidden := g.passHidden(ctx, c, v); hidden {
				return p, err
			}
			if err := g.recordDenial(ctx, &c, v.Reason); err != nil {
				return nil, err
			}
			return nil, &Refusal{"it is forbidden: " + v.Reason}
		}
		asked := agent.PermissionAsked{
			Reason: v.Reason, Destination: v.Destination,
			Check: func(input json.RawMessage) error { _, err := g.edited(c, input); return err },
		}
		rule, lasting := g.ruleFor(c)
		if lasting = lasting && !v.Fixed && v.Destination != searchResults; lasting {
			asked.Rule = Format(rule)
		}
		reply, err := g.ask(ctx, c, p, asked)
		switch {
		case err != nil:
			return nil, err
		case reply.Decision == agent.Edited:
			if c, err = g.edited(c, json.RawMessage(reply.Input)); err != nil {
				return nil, &Refusal{"the user changed the arguments, and they do not fit: " + err.Error()}
			}
			c.as = g.Gate.reading(ctx, c)
			v = g.verdict(c)
			if v.Level == agent.Auto {
				v.Level = agent.Confirm // show the edited call before it runs
			}
			continue
		case reply.Decision != agent.AllowOnce && reply.Decision != agent.AllowConversation &&
			reply.Decision != agent.AllowAlways:
			if g.Gate.unattended {
				return nil, &Refusal{reply.Reason}
			}
			return nil, &Refusal{agent.DeclinedFor(reply.Reason)}
		}
		switch {
		case v.Destination == searchResults, v.Destination != "" && v.private && reply.Decision != agent.AllowOnce:
			g.Gate.allowSend(g.Record.Conversation, v.Destination)
		case v.Destination != "" && reply.Decision != agent.AllowOnce:
			g.Gate.allowSend(g.Record.Conversation, opening+v.Destination)
		}
		if !lasting || reply.Decision == agent.AllowOnce {
			return p, nil // a one-time permission
		}
		if err := g.Gate.Remember(ctx, g.Record.Conversation, rule, reply.Decision); err != nil {
			g.Record.Stream.Notice("The rule %s could not be saved and applies to this run only: %v.", asked.Rule, err)
		}
		return p, nil
	}
}

// ErrAlreadyDone is returned by [Guard.PassAgain] if the user confirms that the
// call had happened.
var ErrAlreadyDone = errors.New("it was done already")

// PassAgain asks the user about a call that was started at since (zero if
// unknown) and whose outcome is unknown. It is repeated only if the user
// explicitly allows it.
func (g *Guard) PassAgain(ctx context.Context, c Call, since time.Time) (*Permit, error) {
	c.as = g.Gate.reading(ctx, c)
	if v := g.verdict(c); v.Level == agent.Deny {
		return nil, &Refusal{"LifeHub was stopped during the call: outcome unknown, and now it is denied: " + v.Reason}
	}
	if _, err := g.consult(ctx, &c, Verdict{Level: agent.Confirm}); err != nil {
		return nil, err
	}
	p := newPermit(c)
	reply, err := g.ask(ctx, c, p, agent.PermissionAsked{
		Unknown: true, Since: since,
		Reason: "LifeHub was stopped during this call: outcome unknown",
	})
	switch {
	case err != nil:
		return nil, err
	case reply.Decision == agent.AllowOnce:
		return p, nil
	case reply.Decision == agent.AlreadyDone:
		return nil, ErrAlreadyDone
	}
	return nil, &Refusal{Because("outcome unknown; not repeated", reply.Reason)}
}

// edited returns the call with other arguments, if they fit the tool's schema.
func (g *Guard) edited(c Call, input json.RawMessage) (Call, error) {
	if err := json.Unmarshal(input, new(map[string]any)); err != nil {
		return c, fmt.Errorf("the arguments are not a JSON object: %w", err)
	}
	repaired, err := g.Schemas.Repair(c.Tool, input)
	if err != nil {
		return c, err
	}
	c.Input = repaired.Input
	return c, nil
}

// ask emits the question and waits for the first reply; if there is no user to
// ask, the reply is a refusal. The question and the reply are journalled before
// they take effect.
func (g *Guard) ask(ctx context.Context, c Call, p *Permit, asked agent.PermissionAsked) (agent.Reply, error) {
	// ask about a call that happened even if it can't be prepared again
	if err := p.prepare(ctx); err != nil && !asked.Unknown {
		return agent.Reply{}, err
	}
	if err := c.Place.wait(ctx); err != nil {
		return agent.Reply{}, err
	}
	if err := g.Record.Stream.Enter(ctx, c.intended(), agent.Entry{
		Moment: agent.CallAsked, Step: c.Step,
		Reason: asked.Reason,
	}); err != nil {
		return agent.Reply{}, err
	}
	p.asked = true
	name := c.Name()
	replies := make(chan agent.Reply, 1)
	reply := func(r agent.Reply) {
		select {
		case replies <- r:
		default: // answered already
		}
	}
	if g.Gate.unattended {
		if !asked.Unknown && !c.unanswered { // otherwise no rule lets it run
			asked.Allow, asked.Untrusted = g.allowing(c)
		}
		reply(agent.Reply{Decision: agent.Refuse, Reason: name + " needs a permission, and nobody can be asked"})
		g.mu.Lock()
		g.refused = append(g.refused, name)
		g.mu.Unlock()
	}
	asked.Step, asked.Call, asked.Name, asked.Input, asked.Hash = c.Step, c.ID, name, p.input.JSON(), p.hash
	asked.Preview, asked.Reply = p.preview, reply
	defer g.Record.Stream.WaitForUser(0)()
	g.Record.Stream.Emit(asked)
	c.Place.LetNext()
	select {
	case r := <-replies:
		if err := g.Record.Stream.Enter(ctx, agent.Entry{
			Moment: agent.Decided, Step: c.Step, Decision: r.Decision,
			Reason: r.Reason,
		}); err != nil {
			return agent.Reply{}, err
		}
		g.Record.Stream.Emit(agent.PermissionGiven{Step: c.Step, Call: c.ID, Decision: r.Decision, Reason: r.Reason})
		return r, nil
	case <-ctx.Done():
		return agent.Reply{}, ctx.Err()
	}
}
