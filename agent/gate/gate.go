// Package gate decides whether a call may run: by the rules of permissions.yaml
// (rules.go), by the provenance of its arguments (record.go), and by the user's
// answer. Start at [Guard.Pass]; only the [Permit] that it returns runs a tool.
package gate

import (
	"context"
	"slices"
	"sync"

	"lifehub/agent"
)

// Gate holds the permission rules and what the user has allowed, for a
// conversation or permanently. It is safe for concurrent use.
type Gate struct {
	Session Session // nil: never read-only
	Hook    Hook    // nil: none is asked

	save       Saver
	unattended bool

	mu     sync.Mutex
	rules  *Rules
	grants map[string]*Rules  // by conversation: what the user allowed for its duration
	sends  map[[2]string]bool // by conversation and destination: where the user allowed private text to go
}

// Session says whether the chat is read-only now: then nothing that writes or sends
// may run, whatever the rules.
type Session interface{ ReadOnly() bool }

// Hook is asked about each call that the rules do not deny. A *Denial denies it;
// after any other error the user is asked.
type Hook interface {
	BeforeCall(ctx context.Context, call Before) error
}

// Saver stores a rule that the user allowed permanently.
type Saver interface {
	SaveRule(ctx context.Context, rule Rule) error
}

// New returns a gate with the given rules, which may be nil. If save is nil, a
// rule that the user allowed permanently lasts for this run. unattended means that there is no user to ask.
func New(r *Rules, save Saver, unattended bool) *Gate {
	return &Gate{rules: r, save: save, unattended: unattended, grants: map[string]*Rules{}, sends: map[[2]string]bool{}}
}

// list returns a copy of the current rules.
func (g *Gate) list() []Rule {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rules.List()
}

// level returns the verdict for a call of the named tool, whose default level
// is own.
func (g *Gate) level(conversation, name string, own agent.Level, as Reading) Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.rules.With(as.Tried...).Decide(name, own, as)
	if v.Level != agent.Confirm || v.Fixed {
		return v
	}
	for _, rule := range g.grants[conversation].List() {
		if rule.MatchesCall(name, as) {
			return Verdict{Level: agent.Auto, Reason: "you allowed " + Format(rule) + " for this conversation"}
		}
	}
	return v
}

// Remember records a rule that outlasts the call: for the conversation or
// permanently.
func (g *Gate) Remember(ctx context.Context, conversation string, rule Rule, d agent.Decision) error {
	g.mu.Lock()
	switch d {
	case agent.AllowConversation:
		g.grants[conversation] = g.grants[conversation].With(rule)
	case agent.AllowAlways:
		g.rules = g.rules.With(rule)
	}
	g.mu.Unlock()
	if d != agent.AllowAlways || g.save == nil {
		return nil
	}
	return g.save.SaveRule(ctx, rule)
}

// maySend reports whether the user allowed private text to go to a destination in
// the conversation.
func (g *Gate) maySend(conversation, to string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sends[[2]string{conversation, to}]
}

// allowSend records that the user allowed private text to go to a destination in
// the conversation.
func (g *Gate) allowSend(conversation, to string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sends[[2]string{conversation, to}] = true
}

// allowsUntrusted reports whether a rule allows the call even after untrusted
// text was read.
func (g *Gate) allowsUntrusted(tool string, as Reading) bool {
	return slices.ContainsFunc(append(g.list(), as.Tried...),
		func(r Rule) bool { return r.Untrusted && r.MatchesCall(tool, as) })
}

// names reports whether a rule allows the call that names its tool and, if it opens
// an address, the host: by such a rule the user has decided where text goes.
func (g *Gate) names(c Call) bool {
	_, opens := c.Tool.(agent.Fetcher)
	return slices.ContainsFunc(append(g.list(), c.as.Tried...), func(r Rule) bool {
		names := r.Tool == For(c.Name(), agent.Auto).Tool
		if names && opens {
			names = slices.ContainsFunc(r.Where, func(w Where) bool { return w.Fit == OnHost })
		}
		return names && r.Level == agent.Auto && r.MatchesCall(c.Name(), c.as)
	})
}

// WithHidden returns a context that hides the notes that rules deny to the
// tool.
func (g *Guard) WithHidden(ctx context.Context, tool agent.Tool) context.Context {
	return Hiding(ctx, g.Gate.list(), tool)
}

// reading returns the arguments of a call as rules see them. It resolves no
// names if no rule applies to a tool that only reads.
func (g *Gate) reading(ctx context.Context, c Call) Reading {
	if agent.ReadOnly(c.Tool) && !slices.ContainsFunc(g.list(), func(r Rule) bool { return r.SpeaksOf(c.Tool) }) {
		return Reading{Plain: c.Input}
	}
	return Read(ctx, c.Tool, c.Input)
}
