package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/text"
)

// maxCopied bounds the calls of a turn that send only what the user typed without
// asking: the choice of the words could still say something about the notes.
const maxCopied = 2

// searchResults is the destination of a fetch of an address that this turn's web
// searches found.
const searchResults = "the pages that searches find"

// opening begins the destination of calls that open addresses of a host without text
// of the notes.
const opening = "opening "

// Verdict returns what the gate would do with a call.
func (g *Guard) Verdict(ctx context.Context, c Call) Verdict {
	c.as = g.Gate.reading(ctx, c)
	return g.verdict(c)
}

// verdict decides by the tool's level and the rules, and by the origin of the
// arguments: a write that derives from text from outside asks each time, and so
// does a call that sends what derives from both that and the user's own notes; one
// that sends what derives from the notes alone asks once for each destination.
func (g *Guard) verdict(c Call) Verdict {
	if g.Gate.Session != nil && g.Gate.Session.ReadOnly() && !agent.HasNoEffect(c.Tool) {
		return Verdict{Level: agent.Deny, Reason: "this chat is read-only, whatever the rules say", Fixed: true}
	}
	from, to := g.OriginOf(c), g.sendingOf(c)
	if g.Gate.allowsUntrusted(c.Name(), c.as) {
		from = agent.Origin{}
	}
	v := g.Gate.level(g.Record.Conversation, c.Name(), g.ownLevel(c, to), c.as)
	if to.opens && v.Level == agent.ConfirmEach {
		v = Verdict{Level: agent.Confirm, Reason: c.Name() + " asks for each address, unless a rule names its host"}
	}
	if v.Level != agent.Deny && !v.Fixed {
		v.Destination = to.name
	}
	outside := "untrusted text had a part in it: " + strings.Join(from.Outside[:min(len(from.Outside), 5)], ", ")
	v.private = from.Private
	private := "it may send text of your notes to " + to.name
	switch {
	case v.Level == agent.Deny:
		return v
	case from.IsOutside() && agent.MayWrite(c.Tool) && !c.Tool.Properties().ArtifactsOnly:
		return v.asking(true, outside)
	case from.IsOutside() && !from.Private && v.Level != agent.Auto:
		v.Reason = outside + "; " + v.Reason
		return v
	case to.name == "" || !from.Private:
		return v
	case v.Level == agent.Auto && g.copiesTyped(c):
		v.copied = true
		return v
	case from.IsOutside() && to.found:
		v.Destination = searchResults
		if !g.Gate.maySend(g.Record.Conversation, searchResults) {
			return v.asking(false, private+"; "+outside)
		}
	case from.IsOutside():
		return v.asking(true, private+"; "+outside)
	case !g.Gate.maySend(g.Record.Conversation, to.name) && !g.Gate.names(c):
		return v.asking(false, private)
	}
	return v
}

// asking returns the verdict of a call that asks because of where its arguments
// come from; if each is set, each time, whatever the rules say.
func (v Verdict) asking(each bool, reason string) Verdict {
	switch {
	case each && v.Level == agent.Auto:
		reason += ", whatever the rules say"
	case !each && v.Level == agent.Confirm, v.Level == agent.ConfirmEach:
		reason += "; " + v.Reason
	}
	v.Level, v.Reason = max(v.Level, agent.Confirm), reason
	if each {
		v.Fixed, v.Destination = true, ""
	}
	return v
}

// OriginOf returns the origin of a call; if unknown, that of the prompts. A call
// that the user spelled out is typed.
func (g *Guard) OriginOf(c Call) agent.Origin {
	switch {
	case c.Tool != nil && g.isLiteral(c):
		return agent.Origin{}
	case c.Origin == nil:
		return g.Record.Origin()
	}
	return *c.Origin
}

// sending is where a call sends its arguments.
type sending struct {
	name  string // host, MCP server or service; "" if nothing leaves
	opens bool   // the call opens an address that was neither typed nor found
	found bool   // it opens exactly an address that this turn's web searches found
}

func (g *Guard) sendingOf(c Call) sending {
	of := c.Tool.Properties()
	fetcher, fetches := c.Tool.(agent.Fetcher)
	switch {
	case of.Trusted && g.trusts(c, of.Server):
		return sending{}
	case of.Server != "":
		return sending{name: agent.ServerSource(of.Server)}
	case fetches:
		address := fetcher.Address(c.Input.JSON())
		to := sending{
			name: address, opens: of.Outward || !g.knownAddress(address),
			found: slices.Contains(g.Record.Found(), address),
		}
		if u, _, err := agent.ReadAddress(address); err == nil {
			to.name = u.Host
		}
		return to
	case of.Outward:
		return sending{name: cmp.Or(of.Service, c.Name())}
	}
	return sending{}
}

// trusts reports whether a server whose tools may read private text is asked
// without an influence from anybody else outside.
func (g *Guard) trusts(c Call, server string) bool {
	return !slices.ContainsFunc(g.OriginOf(c).Outside, func(source string) bool { return source != agent.ServerSource(server) })
}

// ownLevel returns the level of a call before any rule.
func (g *Guard) ownLevel(c Call, to sending) agent.Level {
	of := c.Tool.Properties()
	own := of.Level
	_, fetches := c.Tool.(agent.Fetcher)
	switch {
	case own == agent.Confirm && of.Trusted && to.name == "":
		return agent.Auto
	case own == agent.Deny || !fetches:
		return own
	case !to.opens || g.Gate.maySend(g.Record.Conversation, to.name) ||
		g.Gate.maySend(g.Record.Conversation, opening+to.name):
		return agent.Auto
	case g.Gate.names(c):
		return agent.Confirm // the rule decides
	}
	return agent.ConfirmEach
}

// isLiteral reports whether the user's message spells out this very call, as in
// @add_task text="Buy milk". Then nothing else influenced it.
func (g *Guard) isLiteral(c Call) bool {
	typed := g.Record.Typed()
	if len(typed) == 0 {
		return false
	}
	head, rest, _ := strings.Cut(strings.TrimSpace(typed[len(typed)-1]), " ")
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

// copiesTyped reports whether every value of the arguments is a run of words of a
// message that the user typed, and whether the turn may still make such a call.
func (g *Guard) copiesTyped(c Call) bool {
	given, err := c.Input.Object()
	if err != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.copied < maxCopied && isTyped(given, agent.ShapeOf(c.Tool.Spec().Schema), g.Record.Typed())
}

// takeCopy counts a call that sends only what the user typed. It reports false if
// the turn has made enough of them.
func (g *Guard) takeCopy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.copied++
	return g.copied <= maxCopied
}

// RecallSend counts a call that was started before the turn was interrupted.
func (g *Guard) RecallSend() { g.takeCopy() }

// isTyped reports whether the arguments are texts and numbers of the schema, each a
// run of whole words of one of the messages, character for character. Anything else,
// such as a list, could say more than its words.
func isTyped(given map[string]any, s agent.Shape, messages []string) bool {
	for name, value := range given {
		words := fmt.Sprint(value)
		_, isText := value.(string)
		_, isNumber := value.(json.Number)
		if _, known := s.Properties[name]; !known || !isText && !isNumber || words == "" ||
			!slices.ContainsFunc(messages, func(message string) bool { return hasRun(message, words) }) {
			return false
		}
	}
	return true
}

// hasRun reports whether words occur in a message without cutting a word.
func hasRun(message, words string) bool {
	for from := 0; ; {
		at := strings.Index(message[from:], words)
		if at < 0 {
			return false
		}
		at += from
		if text.WholeWords(message, at, at+len(words)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(message[at:])
		from = at + size
	}
}

// knownAddress reports whether the user typed the address or this turn's search
// found it.
func (g *Guard) knownAddress(address string) bool {
	want := agent.PlainAddress(address)
	for _, given := range append(g.Record.Found(), g.Record.Typed()...) {
		for _, found := range agent.AddressText.FindAllString(given, -1) {
			if want != "" && slices.Contains([]string{
				agent.PlainAddress(found),
				agent.PlainAddress(strings.TrimRight(found, ".,;:!?)]*_")),
			}, want) {
				return true
			}
		}
	}
	return false
}

// allowing returns the rule, in the form that [ParseOne] reads, that would let
// the call run without a user to ask, with VALUE and HOST as placeholders; ""
// if there is none. untrusted reports whether the rule must also apply after
// text from outside.
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
			bound.Where, text = []Where{{Argument: "url", Fit: OnHost, Values: []string{to.Hostname()}}},
				name+" url=host:HOST"
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

// ruleFor returns the rule that an "always" for the call saves; false if there is
// none. For a call that sends, it names the tool and its host.
func (g *Guard) ruleFor(c Call) (Rule, bool) {
	fetcher, fetches := c.Tool.(agent.Fetcher)
	of := c.Tool.Properties()
	switch {
	case fetches:
		rule := For(c.Name(), agent.Auto)
		u, _, err := agent.ReadAddress(fetcher.Address(c.Input.JSON()))
		if err != nil {
			return rule, false
		}
		rule.Where = []Where{{Argument: "url", Fit: OnHost, Values: []string{u.Hostname()}}}
		return rule, rule.MatchesCall(c.Name(), c.as)
	case of.Outward && of.Server == "":
		return For(c.Name(), agent.Auto), true
	}
	return ForCall(c.Tool, c.as.Plain)
}
