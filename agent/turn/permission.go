package turn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/rules"
)

// gate stands in front of every tool: only it makes a permit, and only a
// permit runs a tool. It remembers what was allowed for a conversation or for
// always. It is safe for concurrent use.
type gate struct {
	save       func(context.Context, rules.Rule) error
	unattended bool

	mu     sync.Mutex
	rules  *rules.Rules
	grants map[string]*rules.Rules // by conversation: what was allowed for the rest of it
	sent   map[[2]string][]string  // by conversation and tool: the arguments that the user let go out
}

func newGate(r *rules.Rules, save func(context.Context, rules.Rule) error, unattended bool) *gate {
	return &gate{rules: r, save: save, unattended: unattended, grants: map[string]*rules.Rules{}, sent: map[[2]string][]string{}}
}

// list is the rules of this moment.
func (g *gate) list() []rules.Rule {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rules.List()
}

// level says whether a call of a tool, whose own level is given, may run, and why.
func (g *gate) level(conversation, name string, own agent.Level, as rules.Reading) rules.Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.rules.With(as.Tried...).Decide(name, own, as)
	if v.Level != agent.Confirm || v.Fixed {
		return v
	}
	for _, rule := range g.grants[conversation].List() {
		if rule.MatchesCall(name, as) {
			return rules.Verdict{Level: agent.Auto, Reason: "you allowed " + rules.Format(rule) + " for this conversation"}
		}
	}
	return v
}

// Decide reports what the gate does with a call that a model makes in a new
// conversation, and why: in one where the user has said nothing that the call
// takes up. foreign: after text was read that is not the user's.
func (a *Agent) Decide(ctx context.Context, tool agent.Tool, input json.RawMessage, foreign bool) (agent.Level, string) {
	t := newTurn(a, "", nil)
	if foreign {
		t.markUntrusted("a page of the web, for example")
	}
	c := call{tool: tool, input: input}
	c.as = t.ruledBy(ctx, c)
	v := t.verdict(c)
	return v.Level, v.Reason
}

// remember keeps a decision that holds for longer than one call.
func (g *gate) remember(ctx context.Context, conversation string, rule rules.Rule, d agent.Decision) error {
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
// the spelling of [canonical].
func (g *gate) allowedOut(conversation, tool string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.sent[[2]string{conversation, tool}])
}

// allowOut remembers that the user let the arguments of a call go out, unless
// they are long.
func (g *gate) allowOut(conversation, tool string, input json.RawMessage) {
	const longest = 64 << 10 // bytes
	if len(input) > longest {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	key := [2]string{conversation, tool}
	g.sent[key] = append(g.sent[key], args.Canonical(input))
}

// permit is the gate's leave to run one call with exactly these bytes.
type permit struct {
	tool   agent.Tool
	input  json.RawMessage
	hash   string
	key    string // of CallKey
	asked  bool   // the user was asked, and the journal holds it
	reason string // why nobody was asked

	preview agent.Preview // of what it will change; as it was shown, if it was
}

func newPermit(c call) *permit {
	return &permit{tool: c.tool, input: bytes.Clone(c.input), hash: hash(c.input), key: c.key}
}

// errChanged refuses a call that is not the one that was allowed.
var errChanged = errors.New("the arguments are not those that were allowed")

// run is the only way to a tool's Run.
func (p *permit) run(ctx context.Context) (agent.Result, error) {
	if hash(p.input) != p.hash {
		return agent.Result{}, errChanged
	}
	return p.tool.Run(agent.WithIdempotencyKey(ctx, p.key), bytes.Clone(p.input))
}

// hash is the SHA-256 of the arguments, in hex.
func hash(input json.RawMessage) string {
	sum := sha256.Sum256(input)
	return hex.EncodeToString(sum[:])
}

// refusal says that a call may not run. It is told to the model.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

// pass takes a call through the gate: it asks the user where the level says
// so, and waits for the reply. The error is a *refusal, or that of a
// cancelled ctx.
func (t *turn) pass(ctx context.Context, c call) (*permit, error) {
	c.as = t.ruledBy(ctx, c)
	v := t.verdict(c)
	for {
		p := newPermit(c)
		switch v.Level {
		case agent.Auto:
			p.reason = v.Reason
			return p, nil
		case agent.Confirm, agent.ConfirmEach:
		default:
			if err := t.journal(ctx, intend(c), agent.Entry{Moment: agent.Decided, Step: c.step, Decision: agent.DenyByRule, Reason: v.Reason}); err != nil {
				return nil, err
			}
			return nil, &refusal{"it is forbidden: " + v.Reason}
		}
		asked := agent.PermissionAsked{Reason: v.Reason, New: v.Unsaid, Check: func(input json.RawMessage) error { _, err := t.edited(c, input); return err }}
		rule, lasting := rules.ForCall(c.tool, c.ruled().Plain)
		if lasting = lasting && !v.Fixed; lasting {
			asked.Rule = rules.Format(rule)
		}
		reply, err := t.askPermission(ctx, c, p, asked)
		switch {
		case err != nil:
			return nil, err
		case reply.Decision == agent.Edited:
			if c, err = t.edited(c, json.RawMessage(reply.Input)); err != nil {
				return nil, &refusal{"the user changed the arguments, and they do not fit: " + err.Error()}
			}
			c.as = t.ruledBy(ctx, c)
			v = t.verdict(c)
			if v.Level == agent.Auto {
				v.Level = agent.Confirm // what was changed is shown before it runs
			}
			continue
		case reply.Decision != agent.AllowOnce && reply.Decision != agent.AllowConversation && reply.Decision != agent.AllowAlways:
			if t.gate.unattended {
				return nil, &refusal{reply.Reason}
			}
			return nil, &refusal{because("the user said no", reply.Reason)}
		}
		t.gate.allowOut(t.conversation, c.tool.Spec().Name, c.input)
		if !lasting || reply.Decision == agent.AllowOnce {
			return p, nil // this call was seen; others will be
		}
		if err := t.gate.remember(ctx, t.conversation, rule, reply.Decision); err != nil {
			t.emit(agent.Noticed{Text: fmt.Sprintf("The rule %s could not be kept and holds for this run: %v.", asked.Rule, err)})
		}
		return p, nil
	}
}

// edited is a call with other arguments, if they are arguments of its tool.
func (t *turn) edited(c call, input json.RawMessage) (call, error) {
	if err := json.Unmarshal(input, new(map[string]any)); err != nil {
		return c, fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	mended, _, err := t.schemas.Repair(c.tool.Spec(), input)
	if err != nil {
		return c, err
	}
	c.input = mended
	return c, nil
}

// askPermission puts the question and waits for the first reply; where nobody
// can be asked, that is a no. Question and reply are in the journal before
// anything follows from them.
func (t *turn) askPermission(ctx context.Context, c call, p *permit, asked agent.PermissionAsked) (agent.Reply, error) {
	preview, err := t.preview(ctx, c)
	if err != nil && !asked.Unknown { // what has happened cannot be done again, and still is to be asked about
		return agent.Reply{}, err
	}
	if err := c.at.wait(ctx); err != nil {
		return agent.Reply{}, err
	}
	if err := t.journal(ctx, intend(c), agent.Entry{Moment: agent.CallAsked, Step: c.step, Reason: asked.Reason}); err != nil {
		return agent.Reply{}, err
	}
	p.asked, p.preview = true, preview
	name := c.tool.Spec().Name
	replies := make(chan agent.Reply, 1)
	reply := func(r agent.Reply) {
		select {
		case replies <- r:
		default: // answered already
		}
	}
	if t.gate.unattended {
		if !asked.Unknown { // no rule says what happened
			asked.Allow, asked.Untrusted = t.allowing(c)
		}
		reply(agent.Reply{Decision: agent.Refuse, Reason: name + " needs a permission, and nobody can be asked"})
		t.counting.Lock()
		t.unasked = append(t.unasked, name)
		t.counting.Unlock()
	}
	asked.Step, asked.Call, asked.Name, asked.Input, asked.Hash = c.step, c.id, name, bytes.Clone(p.input), p.hash
	asked.Preview, asked.Reply = preview, reply
	defer t.waitForUser(0)()
	t.emit(asked)
	c.at.letNext()
	select {
	case r := <-replies:
		if err := t.journal(ctx, agent.Entry{Moment: agent.Decided, Step: c.step, Decision: r.Decision, Reason: r.Reason}); err != nil {
			return agent.Reply{}, err
		}
		t.emit(agent.PermissionGiven{Step: c.step, Call: c.id, Decision: r.Decision, Reason: r.Reason})
		return r, nil
	case <-ctx.Done():
		return agent.Reply{}, ctx.Err()
	}
}

// preview asks the tool what the call would change. Its error is that of the
// call: what cannot be done is not asked about.
func (t *turn) preview(ctx context.Context, c call) (agent.Preview, error) {
	tool, ok := c.tool.(agent.Previewer)
	if !ok {
		return agent.Preview{}, nil
	}
	preview, err := agent.Guarded(agent.WithIdempotencyKey(ctx, c.key), func(ctx context.Context) (agent.Preview, error) { return tool.Preview(ctx, bytes.Clone(c.input)) })
	if ctx.Err() != nil {
		return agent.Preview{}, ctx.Err()
	}
	return preview, err
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// withHidden carries the rules that hide notes from a tool: a deny for some
// notes of read_note, or of the tool itself if it only reads.
func (t *turn) withHidden(ctx context.Context, tool agent.Tool) context.Context {
	var hide []rules.Rule
	for _, r := range t.gate.list() {
		if r.Level == agent.Deny && len(r.Where) > 0 && (r.MatchesTool(agent.ReadNote) || agent.ReadOnly(tool) && r.SpeaksOf(tool)) {
			r.Tool = "*"
			hide = append(hide, r)
		}
	}
	if len(hide) == 0 {
		return agent.Hiding(ctx, nil)
	}
	return agent.Hiding(ctx, func(path string) bool {
		call, err := json.Marshal(map[string]string{"path": path})
		return err == nil && slices.ContainsFunc(hide, func(r rules.Rule) bool { return r.Matches(agent.ReadNote, call) })
	})
}

// ruledBy does the same for a call of the turn. Where no rule speaks of a tool
// that only reads, nothing needs to be looked up.
func (t *turn) ruledBy(ctx context.Context, c call) rules.Reading {
	if agent.ReadOnly(c.tool) && !slices.ContainsFunc(t.gate.list(), func(r rules.Rule) bool { return r.SpeaksOf(c.tool) }) {
		return rules.Reading{Plain: c.input}
	}
	return rules.Read(ctx, c.tool, c.input)
}
