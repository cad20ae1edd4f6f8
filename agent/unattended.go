package agent

import (
	"maps"
	"net/url"
	"slices"
)

// allowsUntrusted reports whether a rule lets a call run whatever was read
// before it.
func (g *gate) allowsUntrusted(tool string, as ruled) bool {
	return slices.ContainsFunc(append(g.list(), as.tried...), func(r Rule) bool { return r.Untrusted && r.matches(tool, as) })
}

// allowing returns the rule with which a run where nobody can be asked would
// let a call run, as [ParseRule] reads it, with VALUE and HOST for what it has
// to name. "": there is none. untrusted: it has to be one for after untrusted text.
func (t *turn) allowing(c call) (rule string, untrusted bool) {
	name := c.tool.Spec().Name
	args, err := readObject(c.ruled().plain)
	if err != nil {
		return "", false
	}
	bound, text := RuleFor(name, Auto), name
	for _, argument := range slices.Sorted(maps.Keys(args)) {
		bound.Where = append(bound.Where, pinned(argument, args[argument]))
		text += " " + argument + "=VALUE"
	}
	if fetcher, ok := c.tool.(Fetcher); ok {
		if to, err := url.Parse(fetcher.Address(c.input)); err == nil {
			bound.Where, text = []Where{{Argument: "url", Fit: OnHost, Values: []string{to.Hostname()}}}, name+" url=host:HOST"
		}
	}
	after := bound
	after.Untrusted = true
	for _, try := range []struct {
		rule Rule
		text string
	}{{RuleFor(name, Auto), name}, {bound, text}, {after, text}} {
		c.as = c.ruled()
		c.as.tried = []Rule{try.rule}
		if t.verdict(c).level == Auto {
			return try.text, try.rule.Untrusted
		}
	}
	return "", false
}
