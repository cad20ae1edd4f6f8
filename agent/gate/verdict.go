package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/llm"
)

// Verdict returns what the gate would do with a call.
func (g *Guard) Verdict(ctx context.Context, c Call) Verdict {
	c.as = g.Gate.reading(ctx, c)
	return g.verdict(c)
}

// verdict decides by the tool's level, the rules, and the origin of the
// arguments.
func (g *Guard) verdict(c Call) Verdict {
	if g.Gate.ReadOnly != nil && g.Gate.ReadOnly() && !agent.HasNoEffect(c.Tool) {
		return Verdict{Level: agent.Deny, Reason: "this chat is read-only, whatever the rules say", Fixed: true}
	}
	made := g.originOf(c)
	if g.isLiteral(c) {
		made = Origin{}
	}
	if g.Gate.allowsUntrusted(c.Name(), c.as) {
		made.Untrusted = nil
	}
	own, newAddress := g.ownLevel(c)
	_, reads := agent.ServerOf(c.Tool)
	if reads && own == agent.Confirm {
		own = agent.Auto
	}
	v := g.Gate.level(g.Record.Conversation, c.Name(), own, c.as)
	if agent.IsOutward(c.Tool) || newAddress {
		v.Unsaid = g.notFromUser(c, made)
	}
	if reads && len(v.Unsaid) == 0 {
		made.Untrusted = nil // the server learns nothing, whoever chose the arguments
	}
	if v.Level == agent.ConfirmEach && newAddress {
		v.Reason = c.Name() + " asks for each address, unless a rule names its host"
	}
	if v.Level != agent.Auto {
		if v.Level != agent.Deny && len(made.Untrusted) > 0 {
			v.Reason = untrustedReason(c, made) + "; " + v.Reason
			v.Fixed = true // allowing it for longer would have no effect
		}
		return v
	}
	switch {
	case len(made.Untrusted) > 0 && (newAddress || !agent.ReadOnly(c.Tool) && !agent.WritesOnlyArtifacts(c.Tool)):
		return Verdict{Level: agent.Confirm, Reason: untrustedReason(c, made) + ", whatever the rules say", Fixed: true, Unsaid: v.Unsaid}
	case len(v.Unsaid) > 0:
		reason := "it contains text you did not type: " + strings.Join(v.Unsaid, ", ")
		if len(made.Untrusted) > 0 {
			reason = untrustedReason(c, made) + "; " + reason
		}
		return Verdict{Level: agent.Confirm, Reason: reason, Fixed: true, Unsaid: v.Unsaid}
	}
	return v
}

// originOf returns the origin of a call; if unknown, everything read so far.
func (g *Guard) originOf(c Call) Origin {
	if c.Origin == nil {
		return g.Record.ReadSoFar()
	}
	return *c.Origin
}

// isLiteral reports whether the user's message spells out this very call, as in
// @add_task text="Buy milk". Then nothing else influenced it.
func (g *Guard) isLiteral(c Call) bool {
	head, rest, _ := strings.Cut(strings.TrimSpace(g.Record.Typed(g.Prompts().Question)), " ")
	if head != "@"+c.Name() {
		return false
	}
	pairs, err := SplitArguments(rest)
	if err != nil {
		return false
	}
	named := map[string]string{}
	for _, pair := range pairs {
		named[pair[0]] = pair[1]
	}
	raw, err := json.Marshal(named)
	if err != nil || len(named) != len(pairs) {
		return false
	}
	given, err := g.Schemas.Repair(c.Tool, raw)
	return err == nil && given.Input.Canonical() == c.Input.Canonical()
}

func untrustedReason(c Call, made Origin) string {
	from := slices.Compact(slices.Sorted(slices.Values(made.Untrusted)))
	return fmt.Sprintf("untrusted text was read before %s was planned: %s", c.Name(), strings.Join(from[:min(len(from), 5)], ", "))
}

// knownAddress reports whether the address comes from the user or this turn's
// search.
func (g *Guard) knownAddress(address string) bool {
	want, p := agent.PlainAddress(address), g.Prompts()
	given := append(g.Record.Found(), g.Record.Typed(p.Question))
	for _, m := range p.History {
		if m.Role == llm.User {
			given = append(given, g.Record.Typed(m.Text))
		}
	}
	for _, text := range given {
		for _, found := range agent.AddressText.FindAllString(text, -1) {
			if want != "" && slices.Contains([]string{agent.PlainAddress(found), agent.PlainAddress(strings.TrimRight(found, ".,;:!?)]*_"))}, want) {
				return true
			}
		}
	}
	return false
}

// ownLevel returns the level of a call before any rule, and whether it opens an
// address that no question has shown. Such an address is confirmed each time
// unless a rule names its host.
func (g *Guard) ownLevel(c Call) (own agent.Level, newAddress bool) {
	own = c.Tool.Level(c.Input.JSON())
	fetcher, ok := c.Tool.(agent.Fetcher)
	switch {
	case !ok || own == agent.Deny:
		return own, false
	case !agent.IsOutward(c.Tool) && g.knownAddress(fetcher.Address(c.Input.JSON())):
		return agent.Auto, false
	case g.Gate.namesHost(c.Name(), c.Input, c.as):
		return agent.Confirm, true
	}
	return agent.ConfirmEach, true
}

// allowing returns the rule, in the form that [ParseOne] reads, that would let
// the call run without a user to ask, with VALUE and HOST as placeholders; ""
// if there is none. untrusted reports whether the rule must also apply after
// untrusted text.
func (g *Guard) allowing(c Call) (rule string, untrusted bool) {
	name := c.Name()
	given, err := c.as.Plain.Object()
	if err != nil {
		return "", false
	}
	bound, text := For(name, agent.Auto), name
	for _, argument := range slices.Sorted(maps.Keys(given)) {
		bound.Where = append(bound.Where, Pinned(argument, given[argument]))
		text += " " + argument + "=VALUE"
	}
	if fetcher, ok := c.Tool.(agent.Fetcher); ok {
		if to, err := url.Parse(fetcher.Address(c.Input.JSON())); err == nil {
			bound.Where, text = []Where{{Argument: "url", Fit: OnHost, Values: []string{to.Hostname()}}}, name+" url=host:HOST"
		}
	}
	after := bound
	after.Untrusted = true
	for _, try := range []struct {
		rule Rule
		text string
	}{{For(name, agent.Auto), name}, {bound, text}, {after, text}} {
		c.as.Tried = []Rule{try.rule}
		if g.verdict(c).Level == agent.Auto {
			return try.text, try.rule.Untrusted
		}
	}
	return "", false
}

// Ready prepares a permitted call to run. A change that was not shown is
// computed now; one that was shown stays as it is. Text derived from untrusted
// text is fingerprinted before the call writes it, so that it is known when it
// is read back. planned is the call before the user could edit it: what the
// user put into the arguments is the user's own.
func (g *Guard) Ready(ctx context.Context, planned Call, p *Permit) error {
	if !p.asked && !agent.ReadOnly(planned.Tool) {
		_ = p.prepare(ctx) // Run returns the error
	}
	made := g.originOf(planned)
	if agent.ReadOnly(planned.Tool) || len(made.Untrusted) == 0 || g.Command || g.isLiteral(planned) {
		return nil
	}
	gone, come := changedLines(p.preview.Diff)
	g.Record.AddOwn(g.Record.OwnLines(ctx, gone)...)
	var prints []int64
	for _, text := range append(p.withoutPlaces(planned.Input).Texts(), come) {
		prints = append(prints, g.Record.Prints(text, true)...)
	}
	if err := g.Record.Save(ctx, agent.WasWritten, made.Untrusted[0], prints); err != nil {
		return fmt.Errorf("note down that what it writes is untrusted: %w", err)
	}
	return nil
}

// withoutPlaces returns the arguments except those that name an existing note,
// whose name is the user's own.
func (p *Permit) withoutPlaces(input args.Input) args.Input {
	given, err := input.Copy()
	if err != nil || strings.HasPrefix(p.preview.Diff, "--- /dev/null") {
		return input
	}
	for name := range p.places {
		delete(given, name)
	}
	rest, err := args.Of(given)
	if err != nil {
		return input
	}
	return rest
}

// changedLines returns the lines that a unified diff removes and adds.
func changedLines(diff string) (gone, come string) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case line[0] == '-':
			gone += line[1:]
		case line[0] == '+':
			come += line[1:]
		}
	}
	return gone, come
}
