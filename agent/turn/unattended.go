package turn

import (
	"maps"
	"net/url"
	"slices"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/rules"
)

// allowsUntrusted reports whether a rule lets a call run whatever was read
// before it.
func (g *gate) allowsUntrusted(tool string, as rules.Reading) bool {
	return slices.ContainsFunc(append(g.list(), as.Tried...), func(r rules.Rule) bool { return r.Untrusted && r.MatchesCall(tool, as) })
}

// allowing returns the rule with which a run where nobody can be asked would
// let a call run, as [rules.ParseOne] reads it, with VALUE and HOST for what it has
// to name. "": there is none. untrusted: it has to be one for after untrusted text.
func (t *turn) allowing(c call) (rule string, untrusted bool) {
	name := c.tool.Spec().Name
	args, err := args.ReadObject(c.ruled().Plain)
	if err != nil {
		return "", false
	}
	bound, text := rules.For(name, agent.Auto), name
	for _, argument := range slices.Sorted(maps.Keys(args)) {
		bound.Where = append(bound.Where, rules.Pinned(argument, args[argument]))
		text += " " + argument + "=VALUE"
	}
	if fetcher, ok := c.tool.(agent.Fetcher); ok {
		if to, err := url.Parse(fetcher.Address(c.input)); err == nil {
			bound.Where, text = []rules.Where{{Argument: "url", Fit: rules.OnHost, Values: []string{to.Hostname()}}}, name+" url=host:HOST"
		}
	}
	after := bound
	after.Untrusted = true
	for _, try := range []struct {
		rule rules.Rule
		text string
	}{{rules.For(name, agent.Auto), name}, {bound, text}, {after, text}} {
		c.as = c.ruled()
		c.as.Tried = []rules.Rule{try.rule}
		if t.verdict(c).Level == agent.Auto {
			return try.text, try.rule.Untrusted
		}
	}
	return "", false
}
