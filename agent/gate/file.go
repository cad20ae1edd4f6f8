package gate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"lifehub/internal/files"
)

// Parse reads permissions.yaml:
//
//	rules:
//	  - tool: add_task
//	    args: {note: tasks.md}
//	    level: auto
//
// file is the name used in errors, which carry file:line.
func Parse(file string, text []byte) (*Rules, error) {
	tree, err := files.ParseYAML(file, text)
	if err != nil {
		return nil, err
	}
	rules := &Rules{}
	for _, doc := range tree.Docs {
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
		key := keyOf(pair)
		seen[key] = true
		if key == "args" {
			if rule.Where, err = readWhere(file, pair.Value); err != nil {
				return Rule{}, err
			}
			continue
		}
		text, ok := files.Scalar(pair.Value)
		if !ok {
			return Rule{}, fmt.Errorf("%s:%d: %s must be a word", file, lineOf(pair), key)
		}
		switch key {
		case "tool":
			rule.Tool, err = text, checkGlob(text)
		case "level":
			err = rule.Level.UnmarshalText([]byte(text))
		case "only":
			if rule.Only = text == "true"; !rule.Only && text != "false" {
				err = errors.New("only is true or false")
			}
		default:
			err = fmt.Errorf("unknown key %q; a rule has tool, args, only and level", key)
		}
		if err != nil {
			return Rule{}, fmt.Errorf("%s:%d: %w", file, lineOf(pair), err)
		}
	}
	for _, key := range []string{"tool", "level"} {
		if !seen[key] {
			return Rule{}, fmt.Errorf("%s: a rule needs a %s", rule.From, key)
		}
	}
	return rule, nil
}

// readWhere parses the conditions of a rule:
//
//	args:
//	  text: 'Buy *'              # a glob
//	  note: null                 # not given
//	  path: {under: log/}
//	  url: {host: '*.example.org'}
//	  priority: {one_of: [low, high]}
func readWhere(file string, node ast.Node) ([]Where, error) {
	pairs, err := pairsOf(file, node)
	if err != nil {
		return nil, err
	}
	var list []Where
	for _, pair := range pairs {
		w := Where{Argument: keyOf(pair), Fit: LikeGlob}
		value := pair.Value
		if _, isNull := value.(*ast.NullNode); isNull {
			w.Fit = NotGiven
			list = append(list, w)
			continue
		}
		if kinds, err := pairsOf(file, value); err == nil {
			if len(kinds) != 1 || !slices.Contains([]Fit{LikeGlob, OneOf, Under, OnHost}, Fit(keyOf(kinds[0]))) {
				return nil, fmt.Errorf("%s:%d: the condition on %s is one of glob, one_of, under, host", file,
					lineOf(pair), w.Argument)
			}
			w.Fit, value = Fit(keyOf(kinds[0])), kinds[0].Value
		}
		items := []ast.Node{value}
		if many, isList := value.(*ast.SequenceNode); isList {
			items = many.Values
		}
		for _, item := range items {
			text, ok := files.Scalar(item)
			if !ok || text == "" && w.Fit != LikeGlob && w.Fit != OneOf {
				return nil, fmt.Errorf("%s:%d: the condition on %s needs a word, or a list of words", file,
					lineOf(pair), w.Argument)
			}
			w.Values = append(w.Values, text)
		}
		if err := w.check(); err != nil {
			return nil, fmt.Errorf("%s:%d: the condition on %s: %w", file, lineOf(pair), w.Argument, err)
		}
		if len(w.Values) == 0 {
			return nil, fmt.Errorf("%s:%d: the condition on %s fits nothing", file, lineOf(pair), w.Argument)
		}
		list = append(list, w)
	}
	sortWhere(list)
	return list, nil
}

// Append returns a permissions file, which may be empty, with rule added at the
// end of its list. It returns an error if the list cannot be extended without
// touching the rest of the file.
func Append(text []byte, rule Rule) ([]byte, error) {
	before, err := Parse("permissions", text)
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
	line := "- " + Format(rule) + "\n"
	for _, indent := range []string{"  ", "", "    ", "      "} { // try the usual indentations
		longer := append(slices.Clone(out), indent+line...)
		after, err := Parse("permissions", longer)
		if err == nil && len(after.list) == len(before.list)+1 && Format(after.list[len(before.list)]) == Format(rule) {
			return longer, nil
		}
	}
	return nil, errors.New("the permissions file does not end with a list of rules; add the rule by hand: " +
		Format(rule))
}

func pairsOf(file string, node ast.Node) ([]*ast.MappingValueNode, error) {
	var pairs []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return nil, fmt.Errorf("%s:%d: key: value is expected here", file, lineOf(node))
	}
	seen := map[string]bool{}
	for _, pair := range pairs {
		if key := keyOf(pair); seen[key] {
			return nil, fmt.Errorf("%s:%d: %s is given twice", file, lineOf(pair), key)
		} else {
			seen[key] = true
		}
	}
	return pairs, nil
}

// keyOf returns a key without its quotes.
func keyOf(pair *ast.MappingValueNode) string {
	if name, ok := pair.Key.(*ast.StringNode); ok {
		return name.Value
	}
	return strings.TrimSpace(pair.Key.String())
}

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
