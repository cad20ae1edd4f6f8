package gate

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/internal/pattern"
)

// Rule sets the level of the calls that it matches: those of the tools whose
// name fits, and whose arguments fit each of its conditions.
type Rule struct {
	Tool  string  // glob over the tool's name
	Where []Where // on arguments, sorted by their names; none: any arguments
	Only  bool    // and the call has no argument but those that Where names
	Level agent.Level
	From  string // file:line it stands in; "" when it was made in this run

	// Untrusted: it lets calls run also after untrusted text was read, which may
	// have chosen their arguments.
	Untrusted bool

	// Narrows marks a rule of a folder that the user trusts: it makes calls
	// stricter, whatever the user's own rules say, and never freer.
	Narrows bool
}

// MatchesTool reports whether the rule speaks of calls of the tool.
func (r Rule) MatchesTool(tool string) bool {
	ok, err := path.Match(r.Tool, tool)
	return ok && err == nil
}

// SpeaksOf reports whether the rule is about calls of the tool: by its name or,
// if it tightens, by a former one.
func (r Rule) SpeaksOf(tool agent.Tool) bool {
	return r.MatchesTool(tool.Spec().Name) || r.Level != agent.Auto && slices.ContainsFunc(agent.FormerNames(tool), r.MatchesTool)
}

// Matches reports whether the rule speaks of a call. Where the arguments leave a
// doubt, a rule that loosens does not match, and one that tightens does.
func (r Rule) Matches(tool string, input args.Input) bool {
	if !r.MatchesTool(tool) {
		return false
	}
	if len(r.Where) == 0 && !r.Only {
		return true
	}
	given, err := input.Object()
	if err != nil {
		return r.Level != agent.Auto
	}
	if r.Level != agent.Auto {
		return r.mayMatch(given)
	}
	return r.surelyMatches(given)
}

// Rules decide the level of a call. The last match wins; a deny beats all.
// A nil *Rules leaves each tool its own level.
type Rules struct {
	list []Rule
}

// List returns the rules in the order in which they stand.
func (r *Rules) List() []Rule {
	if r == nil {
		return nil
	}
	return slices.Clone(r.list)
}

// With returns the rules followed by more, which win over those before.
func (r *Rules) With(more ...Rule) *Rules {
	return &Rules{list: append(r.List(), more...)}
}

// Narrowed returns the rules with those of a trusted folder, which can only
// make calls stricter.
func (r *Rules) Narrowed(by *Rules) *Rules {
	more := by.List()
	for i := range more {
		more[i].Narrows = true
	}
	return r.With(more...)
}

// Verdict is a level, and why.
type Verdict struct {
	Level  agent.Level
	Reason string
	Fixed  bool     // no yes of the user loosens it for longer than one call
	Unsaid []string // what would leave the machine that the user did not say
}

// Decide returns the level of a call of tool, whose own level is given, and
// why: the rule and where it stands, or that no rule speaks of it.
func (r *Rules) Decide(tool string, own agent.Level, as Reading) Verdict {
	if own == agent.Deny {
		return Verdict{Level: agent.Deny, Reason: fmt.Sprintf("%s is denied by default, and rules cannot override it", tool), Fixed: true}
	}
	does := map[agent.Level]string{agent.Auto: "runs"}[own]
	if does == "" {
		does = "asks"
	}
	v := Verdict{Level: own, Reason: fmt.Sprintf("no rule for %s; it %s by default", tool, does)}
	because := func(rule Rule) string { return reasonMark + rule.String() }
	var matching []Rule
	for _, rule := range r.List() {
		if rule.MatchesCall(tool, as) {
			matching = append(matching, rule)
		}
	}
	for _, rule := range matching {
		switch {
		case rule.Level == agent.Deny:
			return Verdict{Level: agent.Deny, Reason: because(rule), Fixed: true}
		case !rule.Narrows:
			v.Level, v.Reason = rule.Level, because(rule)
		}
	}
	for _, rule := range matching {
		if rule.Narrows && rule.Level == agent.Confirm && v.Level == agent.Auto {
			v = Verdict{Level: agent.Confirm, Reason: because(rule), Fixed: true}
		}
	}
	if own == agent.ConfirmEach {
		return Verdict{Level: agent.ConfirmEach, Reason: tool + " asks each time, and rules cannot override it", Fixed: true}
	}
	return v
}

// reasonMark begins a rule in the reason of a Verdict; [Format] begins with a brace.
const reasonMark = "rule "

// WithoutRule returns the reason of a Verdict without the rule it ends with, for
// a program that may not see the rules.
func WithoutRule(reason string) string {
	before, _, _ := strings.Cut(reason, reasonMark+"{")
	return strings.TrimSuffix(before, "; ")
}

// String shows the rule and where it stands.
func (r Rule) String() string {
	if r.From == "" {
		return Format(r) + " (this run)"
	}
	return Format(r) + " (" + r.From + ")"
}

// For is the rule that matches the tool of this name and no other.
func For(tool string, level agent.Level) Rule {
	return Rule{Tool: globEscaper.Replace(tool), Level: level}
}

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// maxKeptRule bounds a rule that LifeHub offers to write, in bytes: nobody
// reads a longer one.
const maxKeptRule = 1000

// ForCall is the rule that an "always" to this call writes. It matches the
// call, and others only as far as the tool says (see [Bounded]). false: there is none.
func ForCall(tool agent.Tool, input args.Input) (Rule, bool) {
	given, err := input.Object()
	if err != nil {
		return Rule{}, false
	}
	rule := For(tool.Spec().Name, agent.Auto)
	if bounded, ok := tool.(agent.Bounded); ok {
		for _, name := range bounded.Bounds() {
			rule.Where = append(rule.Where, Pinned(name, given[name]))
			if given[name] != nil {
				break
			}
		}
		if len(rule.Where) == 0 {
			return Rule{}, false
		}
	} else {
		rule.Only = true
		for name, value := range given {
			rule.Where = append(rule.Where, Pinned(name, value))
		}
	}
	sortWhere(rule.Where)
	return rule, len(Format(rule)) <= maxKeptRule && rule.Matches(tool.Spec().Name, input)
}

// toolGlob refuses what no tool's name can fit, such as {a,b}, a|b and [!a]: a
// deny that fits nothing would forbid nothing.
var toolGlob = pattern.Lazy(`^[A-Za-z0-9_.*?\[\]^\\-]+$`)

func checkGlob(glob string) error {
	if glob == "" {
		return errors.New("the tool's name is missing")
	}
	if _, err := path.Match(glob, ""); err != nil || !toolGlob.MatchString(glob) {
		return fmt.Errorf("%q is not a pattern for a tool's name: letters, digits, _ and -, with *, ? and [a-z]", glob)
	}
	return nil
}

// IsBound reports whether the rule limits the values of an argument. Any other
// leaves all of a call to who wrote what was read before it.
func (r Rule) IsBound() bool {
	return slices.ContainsFunc(r.Where, func(w Where) bool {
		return len(w.Values) > 0 && !slices.ContainsFunc(w.Values, func(value string) bool {
			return w.Fit != OneOf && strings.Trim(value, "*?./") == ""
		})
	})
}
