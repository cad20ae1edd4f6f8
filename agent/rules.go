package agent

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
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
	level, reason := own, fmt.Sprintf("%s is %s by itself; no rule speaks of it", tool, own)
	if own == Deny {
		return Deny, fmt.Sprintf("%s is deny by itself; no rule loosens that", tool)
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

// ParseRules reads permissions.yaml:
//
//	rules:
//	  - tool: add_task
//	    level: auto
//
// file is its name in errors, which carry file:line.
func ParseRules(file string, text []byte) (*Rules, error) {
	tree, err := parseYAML(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %s", file, yamlLine(err), yamlMessage(err))
	}
	rules := &Rules{}
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		if err := rules.read(file, doc.Body); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

func (r *Rules) read(file string, body ast.Node) error {
	if isEmptyNode(body) {
		return nil
	}
	pairs, err := pairsOf(file, body)
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		if name := keyOf(pair); name != "rules" {
			return fmt.Errorf("%s:%d: unknown key %q; the file holds \"rules\" only", file, lineOf(pair), name)
		}
		if isEmptyNode(pair.Value) {
			continue
		}
		list, ok := pair.Value.(*ast.SequenceNode)
		if !ok {
			return fmt.Errorf("%s:%d: rules must be a list", file, lineOf(pair))
		}
		for _, item := range list.Values {
			rule, err := readRule(file, item)
			if err != nil {
				return err
			}
			r.list = append(r.list, rule)
		}
	}
	return nil
}

func readRule(file string, node ast.Node) (Rule, error) {
	pairs, err := pairsOf(file, node)
	if err != nil {
		return Rule{}, err
	}
	line := lineOf(node)
	if len(pairs) > 0 {
		line = lineOf(pairs[0])
	}
	rule := Rule{From: fmt.Sprintf("%s:%d", file, line)}
	seen := map[string]bool{}
	for _, pair := range pairs {
		key, here := keyOf(pair), lineOf(pair)
		value, ok := pair.Value.(ast.ScalarNode)
		if !ok {
			return Rule{}, fmt.Errorf("%s:%d: %s must be a word", file, here, key)
		}
		text := fmt.Sprint(value.GetValue())
		switch key {
		case "tool":
			rule.Tool, err = text, checkGlob(text)
		case "level":
			err = rule.Level.UnmarshalText([]byte(text))
		default:
			err = fmt.Errorf("unknown key %q; a rule has tool and level", key)
		}
		if err != nil {
			return Rule{}, fmt.Errorf("%s:%d: %w", file, here, err)
		}
		seen[key] = true
	}
	for _, key := range []string{"tool", "level"} {
		if !seen[key] {
			return Rule{}, fmt.Errorf("%s: a rule needs a %s", rule.From, key)
		}
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

// AppendRule returns the text of a permissions file with one more rule at
// the end of its list. text may be empty. What it cannot extend without
// touching the rest is an error.
func AppendRule(text []byte, rule Rule) ([]byte, error) {
	before, err := ParseRules("permissions", text)
	if err != nil {
		return nil, err
	}
	out := bytes.TrimRight(text, " \t\r\n")
	if len(out) > 0 {
		out = append(slices.Clone(out), '\n')
	}
	if !bytes.Contains(out, []byte("rules:")) {
		out = append(out, "rules:\n"...)
	}
	line := "- " + FormatRule(rule) + "\n"
	for _, indent := range []string{"  ", "", "    ", "      "} { // lists are indented as their writers like
		longer := append(slices.Clone(out), indent+line...)
		after, err := ParseRules("permissions", longer)
		if err == nil && len(after.list) == len(before.list)+1 && after.list[len(before.list)].Tool == rule.Tool {
			return longer, nil
		}
	}
	return nil, errors.New("the rules do not stand at the end of the permissions file as a list; add the rule by hand: " + FormatRule(rule))
}

// parseYAML parses text; a fault inside the parser is an error like any other.
func parseYAML(text []byte) (tree *ast.File, err error) {
	defer catch(&err)
	return parser.ParseBytes(text, 0)
}

func pairsOf(file string, node ast.Node) ([]*ast.MappingValueNode, error) {
	var pairs []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return nil, fmt.Errorf("%s:%d: want key: value here", file, lineOf(node))
	}
	seen := map[string]bool{}
	for _, pair := range pairs {
		if key := keyOf(pair); seen[key] {
			return nil, fmt.Errorf("%s:%d: %s is there twice", file, lineOf(pair), key)
		} else {
			seen[key] = true
		}
	}
	return pairs, nil
}

func keyOf(pair *ast.MappingValueNode) string { return strings.TrimSpace(pair.Key.String()) }

func isEmptyNode(node ast.Node) bool {
	if node == nil {
		return true
	}
	switch node.(type) {
	case *ast.NullNode, *ast.CommentGroupNode:
		return true
	}
	return false
}

func lineOf(node ast.Node) int {
	if pair, ok := node.(*ast.MappingValueNode); ok {
		node = pair.Key
	}
	if token := node.GetToken(); token != nil && token.Position != nil {
		return token.Position.Line
	}
	return 1
}

func yamlLine(err error) int {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		return y.GetToken().Position.Line
	}
	return 1
}

func yamlMessage(err error) string {
	var y yaml.Error
	if errors.As(err, &y) {
		return y.GetMessage()
	}
	return err.Error()
}
