package agent

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Rule sets the level of the tools whose name it matches.
type Rule struct {
	Tool  string // glob over the tool's name
	Level Level
	From  string // file:line it stands in; "" when it was made in this run
}

// Matches tells whether the rule speaks of the tool.
func (r Rule) Matches(tool string) bool {
	ok, err := path.Match(r.Tool, tool)
	return ok && err == nil
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

// Decide returns the level of a call of tool, whose own level is given, and
// why: the rule and where it stands, or that no rule speaks of it.
func (r *Rules) Decide(tool string, own Level) (Level, string) {
	level, reason := own, fmt.Sprintf("no rule speaks of %s; by itself it is %s", tool, own)
	if own == Deny {
		return Deny, fmt.Sprintf("%s is deny by itself, and no rule loosens that", tool)
	}
	for _, rule := range r.List() {
		if !rule.Matches(tool) {
			continue
		}
		level, reason = rule.Level, "rule "+rule.String()
		if level == Deny {
			break
		}
	}
	if own == ConfirmEach && level != Deny {
		return ConfirmEach, tool + " asks each time, and no rule loosens that"
	}
	return level, reason
}

// String shows the rule and where it stands.
func (r Rule) String() string {
	if r.From == "" {
		return FormatRule(r) + " (this run)"
	}
	return FormatRule(r) + " (" + r.From + ")"
}

// FormatRule is the rule as one line of YAML, as [AppendRule] writes it.
func FormatRule(r Rule) string {
	return fmt.Sprintf("{tool: %s, level: %s}", quoteYAML(r.Tool), r.Level)
}

// RuleFor is the rule that matches the tool of this name and no other.
func RuleFor(tool string, level Level) Rule {
	return Rule{Tool: globEscaper.Replace(tool), Level: level}
}

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// quoteYAML leaves a plain name plain, so that a file written by LifeHub
// reads as one written by hand.
func quoteYAML(s string) string {
	plain := s != ""
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		plain = plain && (letter || i > 0 && (r >= '0' && r <= '9' || r == '_' || r == '-'))
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// ParseRule reads the text of one rule, as --allow takes it: a tool's name or
// glob, or tool=level; the level is auto when it is not named.
func ParseRule(text string) (Rule, error) {
	tool, name, named := strings.Cut(strings.TrimSpace(text), "=")
	rule := Rule{Tool: strings.TrimSpace(tool), Level: Auto}
	if named {
		if err := rule.Level.UnmarshalText([]byte(strings.TrimSpace(name))); err != nil {
			return Rule{}, fmt.Errorf("rule %q: %w", text, err)
		}
	}
	if err := checkGlob(rule.Tool); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", text, err)
	}
	return rule, nil
}

func checkGlob(glob string) error {
	if glob == "" {
		return errors.New("the tool's name is missing")
	}
	if _, err := path.Match(glob, ""); err != nil {
		return fmt.Errorf("%q is no pattern for a tool's name", glob)
	}
	return nil
}
