package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"lifehub/internal/text"
)

const (
	maxDepth  = 500  // nested lists and objects
	maxDigits = 1000 // bytes of a number
)

// readJSON parses a value of anyone's. Numbers keep their digits, and are within the range of a float64:
// the exact arithmetic of a check takes as much memory as an exponent says.
func readJSON(raw []byte) (any, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return value, checkParts(value, 0)
}

func checkParts(value any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	switch v := value.(type) {
	case json.Number:
		return checkNumber(v.String())
	case []any:
		for _, item := range v {
			if err := checkParts(item, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := checkParts(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkNumber returns an error for a number that is out of range, or too long.
func checkNumber(digits string) error {
	f, err := strconv.ParseFloat(digits, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(digits), "e")
	if err != nil || len(digits) > maxDigits || f == 0 && strings.Trim(mantissa, "-0.") != "" {
		return fmt.Errorf("the number %s is out of range", text.Cut(digits, 40))
	}
	return nil
}

// size counts what a check of one value may have to do: a step for each subschema, as often as references
// to it are followed, for each value that is allowed, and for each instruction of a pattern.
type size int

// add adds a schema that is so many subschemas below the first. A reference to itself is too deep.
func (n *size) add(s *jsonschema.Schema, depth int) error {
	*n += size(1 + len(s.Required) + instructions(s.Pattern))
	if s.Enum != nil {
		*n += size(parts(s.Enum.Values))
	}
	if s.Const != nil {
		*n += size(parts(*s.Const))
	}
	if s.UniqueItems {
		*n += 20 // short lists are compared pair by pair
	}
	for pattern := range s.PatternProperties {
		*n += size(instructions(pattern))
	}
	switch {
	case s.DynamicRef != nil || s.RecursiveRef != nil:
		return errors.New("$dynamicRef and $recursiveRef are not supported")
	case depth > maxDepth:
		return fmt.Errorf("it refers to itself, or is nested more than %d deep", maxDepth)
	case *n > maxExpanded:
		return fmt.Errorf("it is too large: with its references followed it has more than %d parts", maxExpanded)
	}
	for part := range subschemas(s) {
		if err := n.add(part, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func subschemas(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		each(yield, s.Ref, s.AllOf, s.AnyOf, s.OneOf, s.Not, s.If, s.Then, s.Else, s.DependentSchemas, s.Dependencies,
			s.Properties, s.PatternProperties, s.AdditionalProperties, s.PropertyNames, s.UnevaluatedProperties,
			s.Items, s.PrefixItems, s.Items2020, s.AdditionalItems, s.Contains, s.UnevaluatedItems)
	}
}

// each yields the schemas of a field that holds one, several or none.
func each(yield func(*jsonschema.Schema) bool, fields ...any) {
	for _, field := range fields {
		var list []*jsonschema.Schema
		switch f := field.(type) {
		case *jsonschema.Schema:
			list = append(list, f)
		case []*jsonschema.Schema:
			list = f
		case map[string]*jsonschema.Schema:
			list = slices.Collect(maps.Values(f))
		case map[jsonschema.Regexp]*jsonschema.Schema:
			list = slices.Collect(maps.Values(f))
		case map[string]any:
			for _, value := range f {
				if schema, ok := value.(*jsonschema.Schema); ok {
					list = append(list, schema)
				}
			}
		}
		for _, schema := range list {
			if schema != nil && !yield(schema) {
				return
			}
		}
	}
}

// parts returns the number of values in a value; 64 bytes of text count as one.
func parts(value any) (n int) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			n += parts(item)
		}
	case map[string]any:
		for name, item := range v {
			n += parts(item) + len(name)/64
		}
	case string:
		n = len(v) / 64
	}
	return n + 1
}

// boundedPattern is a pattern with the number of its instructions.
type boundedPattern struct {
	compiled *regexp.Regexp
	size     int
}

func (p *boundedPattern) String() string               { return p.compiled.String() }
func (p *boundedPattern) MatchString(text string) bool { return p.compiled.MatchString(text) }

// patterns compiles the patterns of one schema; left is how many instructions they may still have.
type patterns struct{ left int }

func (p *patterns) compile(pattern string) (jsonschema.Regexp, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if p.left -= len(program.Inst); p.left < 0 {
		return nil, errors.New("the patterns are too large")
	}
	compiled, err := regexp.Compile(pattern)
	return &boundedPattern{compiled, len(program.Inst)}, err
}

func instructions(pattern jsonschema.Regexp) int {
	if p, ok := pattern.(*boundedPattern); ok {
		return p.size
	}
	return 0
}
