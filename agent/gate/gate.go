// Package gate decides whether a call may run: by the rules of permissions.yaml
// (rules.go), by the provenance of its arguments (record.go), and by the user's
// answer. Start at [Guard.Pass]; only the [Permit] that it returns runs a tool.
package gate

import (
	"context"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/agent/args"
)

// Gate remembers what was allowed for a conversation or for always. It is safe
// for concurrent use.
type Gate struct {
	// ReadOnly reports whether nothing that writes or sends may run, at this
	// moment, whatever the rules say; nil: it may.
	ReadOnly func() bool

	save       func(context.Context, Rule) error
	unattended bool

	mu     sync.Mutex
	rules  *Rules
	grants map[string]*Rules      // by conversation: what was allowed for the rest of it
	sent   map[[2]string][]string // by conversation and tool: the arguments that the user let go out
}

// New returns a gate with these rules, nil for none. save keeps an "always", nil
// for this run only. unattended: nobody can be asked.
func New(r *Rules, save func(context.Context, Rule) error, unattended bool) *Gate {
	return &Gate{rules: r, save: save, unattended: unattended, grants: map[string]*Rules{}, sent: map[[2]string][]string{}}
}

// list is the rules of this moment.
func (g *Gate) list() []Rule {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rules.List()
}

// level says whether a call of a tool, whose own level is given, may run, and why.
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

// Remember keeps a decision that holds for longer than one call.
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
	return g.save(ctx, rule)
}

// allowedOut lists the arguments that the user let go out through a tool, in
// the spelling of [args.Input.Canonical].
func (g *Gate) allowedOut(conversation, tool string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.sent[[2]string{conversation, tool}])
}

// allowOut remembers that the user let the arguments of a call go out, unless
// they are long.
func (g *Gate) allowOut(conversation, tool string, input args.Input) {
	const longest = 64 << 10 // bytes
	if len(input.String()) > longest {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	key := [2]string{conversation, tool}
	g.sent[key] = append(g.sent[key], input.Canonical())
}

// allowsUntrusted reports whether a rule lets a call run whatever was read
// before it.
func (g *Gate) allowsUntrusted(tool string, as Reading) bool {
	return slices.ContainsFunc(append(g.list(), as.Tried...), func(r Rule) bool { return r.Untrusted && r.MatchesCall(tool, as) })
}

// namesHost reports whether a rule lets a tool run for the host of a call.
func (g *Gate) namesHost(tool string, input args.Input, as Reading) bool {
	return slices.ContainsFunc(append(g.list(), as.Tried...), func(r Rule) bool {
		return r.Level == agent.Auto && r.Matches(tool, input) && slices.ContainsFunc(r.Where, func(w Where) bool { return w.Fit == OnHost })
	})
}

// hosts are the addresses of the hosts that rules let a tool ask, a line each.
func (g *Gate) hosts(tool string) (list []string) {
	for _, rule := range g.list() {
		for _, where := range rule.Where {
			if rule.Level == agent.Auto && where.Fit == OnHost && rule.MatchesTool(tool) {
				list = append(list, "https://"+strings.Join(where.Values, "/\nhttps://")+"/")
			}
		}
	}
	return list
}

// WithHidden carries the rules that hide notes from a tool.
func (g *Guard) WithHidden(ctx context.Context, tool agent.Tool) context.Context {
	return Hiding(ctx, g.Gate.list(), tool)
}

// reading is how rules read a call. Where no rule speaks of a tool that only
// reads, nothing needs to be looked up.
func (g *Gate) reading(ctx context.Context, c Call) Reading {
	if agent.ReadOnly(c.Tool) && !slices.ContainsFunc(g.list(), func(r Rule) bool { return r.SpeaksOf(c.Tool) }) {
		return Reading{Plain: c.Input}
	}
	return Read(ctx, c.Tool, c.Input)
}
