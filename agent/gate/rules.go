package gate

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"lifehub/agent"
)

// Rule sets the level of the calls that it matches: those of a tool whose name
// matches Tool, with arguments that fit every condition in Where.
type Rule struct {
	Tool  string  // glob matched against the tool's name
	Where []Where // conditions on arguments, sorted by name; empty matches any arguments
	Only  bool    // the call has no arguments besides those in Where
	Level agent.Level
	From  string // file:line of the rule; "" if it was made in this run

	// Untrusted rules apply even after untrusted text was read, which may have
	// chosen the arguments.
	Untrusted bool
}

// MatchesTool reports whether the rule covers the named tool.
func (r Rule) MatchesTool(tool string) bool {
	ok, err := path.Match(r.Tool, tool)
	return ok && err == nil
}

// SpeaksOf reports whether the rule covers the tool, by its name or, if the
// rule tightens, by a former name.
func (r Rule) SpeaksOf(tool agent.Tool) bool {
	return r.MatchesTool(tool.Spec().Name) || r.Level != agent.Auto &&
		slices.ContainsFunc(agent.PropertiesOf(tool).FormerNames, r.MatchesTool)
}

// Matches reports whether the rule covers a call. A rule that tightens compares
// the canonical form of the arguments and matches what has none; one that
// allows matches only what is written in canonical form.
func (r Rule) Matches(tool string, input agent.Args) bool {
	if !r.MatchesTool(tool) {
		return false
	}
	if len(r.Where) == 0 && !r.Only {
		return true
	}
	allows := r.Level == agent.Auto
	given, err := input.Object()
	if err != nil {
		return !allows
	}
	for name, value := range given {
		named := slices.ContainsFunc(r.Where, func(w Where) bool { return strings.EqualFold(w.Argument, name) })
		if r.Only && !named && (allows || value != nil) {
			return false
		}
	}
	return !slices.ContainsFunc(r.Where, func(w Where) bool { return !w.holds(given, allows) })
}

// Rules decides the level of calls. The last match wins, except that a deny
// beats everything. A nil *Rules leaves every tool at its own level.
type Rules struct {
	list []Rule
}

// List returns a copy of the rules in order.
func (r *Rules) List() []Rule {
	if r == nil {
		return nil
	}
	return slices.Clone(r.list)
}

// With returns the rules followed by more, which take precedence.
func (r *Rules) With(more ...Rule) *Rules {
	return &Rules{list: append(r.List(), more...)}
}

// Verdict is the level of a call and the reason for it.
type Verdict struct {
	Level       agent.Level
	Reason      string
	Fixed       bool   // the user can allow one call, nothing longer
	Destination string // where the call sends to, which the user can allow for the conversation; or ""

	copied  bool // it runs because it sends only what the user typed
	private bool // text of the notes may have had a part in the call
}

// Decide returns the verdict for a call of the tool, whose default level is
// own. The reason names the rule and its file and line, or that no rule
// matches.
func (r *Rules) Decide(tool string, own agent.Level, as Reading) Verdict {
	if own == agent.Deny {
		return Verdict{Level: agent.Deny, Reason: fmt.Sprintf("%s is denied by default, and rules cannot override it",
			tool), Fixed: true}
	}
	does := "asks"
	if own == agent.Auto {
		does = "runs"
	}
	v := Verdict{Level: own, Reason: fmt.Sprintf("no rule for %s; it %s by default", tool, does)}
	because := func(rule Rule) string { return reasonMark + rule.String() }
	for _, rule := range r.List() {
		if !rule.MatchesCall(tool, as) {
			continue
		}
		if rule.Level == agent.Deny {
			return Verdict{Level: agent.Deny, Reason: because(rule), Fixed: true}
		}
		v.Level, v.Reason = rule.Level, because(rule)
	}
	if own == agent.ConfirmEach {
		return Verdict{Level: agent.ConfirmEach, Reason: tool +
			" asks each time, and rules cannot override it", Fixed: true}
	}
	return v
}

// reasonMark begins a rule in the reason of a Verdict; [Format] begins with a brace.
const reasonMark = "rule "

// WithoutRule returns the reason of a Verdict without the rule at its end, for
// a program that may not see the rules.
func WithoutRule(reason string) string {
	before, _, _ := strings.Cut(reason, reasonMark+"{")
	return strings.TrimSuffix(before, "; ")
}

// String returns the rule and its file and line.
func (r Rule) String() string {
	if r.From == "" {
		return Format(r) + " (this run)"
	}
	return Format(r) + " (" + r.From + ")"
}

// For returns the rule that matches only the named tool.
func For(tool string, level agent.Level) Rule {
	return Rule{Tool: globEscaper.Replace(tool), Level: level}
}

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// maxKeptRule bounds the size of a rule that LifeHub offers to save, in bytes:
// no user would read a longer one.
const maxKeptRule = 1000

// ForCall returns the rule that an "always" for this call saves. It matches the
// call, and other calls only as far as the tool permits (see [agent.Properties]).
// It reports false if there is no such rule.
func ForCall(tool agent.Tool, input agent.Args) (Rule, bool) {
	given, err := input.Object()
	if err != nil {
		return Rule{}, false
	}
	rule := For(tool.Spec().Name, agent.Auto)
	if bounds := tool.Properties().Bounds; bounds != nil {
		for _, name := range bounds {
			rule.Where = append(rule.Where, Pinned(name, given[name]))
			if given[name] != nil {
				break // the first that the call has is decisive
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

// toolGlob matches the patterns that a tool name can fit. It rejects {a,b}, a|b
// and [!a], because a deny that matches nothing would forbid nothing.
var toolGlob = regexp.MustCompile(`^[A-Za-z0-9_.*?\[\]^\\-]+$`)

func checkGlob(glob string) error {
	if glob == "" {
		return errors.New("the tool's name is missing")
	}
	if _, err := path.Match(glob, ""); err != nil || !toolGlob.MatchString(glob) {
		return fmt.Errorf("%q is not a pattern for a tool's name: letters, digits, _ and -, with *, ? and [a-z]", glob)
	}
	return nil
}

// IsBound reports whether the rule limits the value of some argument. A rule
// that does not leaves the whole call to whoever wrote the text read before it.
func (r Rule) IsBound() bool {
	return slices.ContainsFunc(r.Where, func(w Where) bool {
		return len(w.Values) > 0 && !slices.ContainsFunc(w.Values, func(value string) bool {
			return w.Fit != OneOf && strings.Trim(value, "*?./") == ""
		})
	})
}
