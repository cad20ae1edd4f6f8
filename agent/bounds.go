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

var errTooDeep = fmt.Errorf("it is nested more than %d deep", maxDepth)

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
		return errTooDeep
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

// sizes counts the subschemas of schemas, each as often as references to it are followed.
type sizes struct {
	known   map[*jsonschema.Schema]int
	dynamic bool // there is a reference whose target depends on the value
}

// of returns the size of a schema, at most maxExpanded+1. A reference of a schema to itself counts as
// one: how often it is followed depends on the value.
func (s *sizes) of(schema *jsonschema.Schema) int {
	if size, known := s.known[schema]; known {
		return size
	}
	if s.known == nil {
		s.known = map[*jsonschema.Schema]int{}
	}
	s.known[schema] = 1
	s.dynamic = s.dynamic || schema.DynamicRef != nil || schema.RecursiveRef != nil
	size := 1
	for _, parts := range []iter.Seq[*jsonschema.Schema]{ofSame(schema), ofParts(schema)} {
		for part := range parts {
			size = min(size+s.of(part), maxExpanded+1)
		}
	}
	s.known[schema] = size
	return size
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

// ofSame returns the subschemas that apply to the same value as the schema.
func ofSame(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		each(yield, s.Ref, s.AllOf, s.AnyOf, s.OneOf, s.Not, s.If, s.Then, s.Else, s.DependentSchemas, s.Dependencies)
	}
}

// ofParts returns the subschemas that apply to the parts of a value.
func ofParts(s *jsonschema.Schema) iter.Seq[*jsonschema.Schema] {
	return func(yield func(*jsonschema.Schema) bool) {
		each(yield, s.Properties, s.PatternProperties, s.AdditionalProperties, s.PropertyNames, s.UnevaluatedProperties,
			s.Items, s.PrefixItems, s.Items2020, s.AdditionalItems, s.Contains, s.UnevaluatedItems)
	}
}

// work counts the steps that a check of a value takes at most, before it is made: the check itself cannot
// be stopped, and a schema that refers to itself makes their number grow with a power of the value's depth.
type work struct{ left, depth int }

// check reports whether the steps of a check are within the bound.
func (w *work) check(s *jsonschema.Schema, value any) bool {
	w.left -= 1 + own(s, value)
	w.depth++
	defer func() { w.depth-- }()
	if w.left < 0 || w.depth > maxWork/100 {
		return false
	}
	for part := range ofSame(s) {
		if !w.check(part, value) {
			return false
		}
	}
	switch v := value.(type) {
	case map[string]any:
		return w.object(s, v)
	case []any:
		return w.list(s, v)
	}
	return true
}

// own returns the steps that a schema takes without its subschemas.
func own(s *jsonschema.Schema, value any) (steps int) {
	if s.Enum != nil {
		steps += len(s.Enum.Values)
	}
	switch v := value.(type) {
	case string:
		steps += len(v)/64 + patternSteps(s.Pattern, v)
	case []any:
		steps += len(v)
		if s.UniqueItems {
			steps += 20 * parts(v) // short lists are compared pair by pair
		}
	case map[string]any:
		steps += len(v) + len(s.Required)
	}
	return steps
}

func (w *work) object(s *jsonschema.Schema, object map[string]any) bool {
	for name, value := range object {
		if s.PropertyNames != nil && !w.check(s.PropertyNames, name) {
			return false
		}
		for pattern, part := range s.PatternProperties {
			if w.left -= patternSteps(pattern, name); !w.check(part, value) {
				return false
			}
		}
		rest := func(yield func(*jsonschema.Schema) bool) {
			each(yield, s.AdditionalProperties, s.UnevaluatedProperties)
		}
		if property, known := s.Properties[name]; known {
			rest = func(yield func(*jsonschema.Schema) bool) { yield(property) }
		}
		for part := range rest {
			if !w.check(part, value) {
				return false
			}
		}
	}
	return true
}

func (w *work) list(s *jsonschema.Schema, list []any) bool {
	first, _ := s.Items.([]*jsonschema.Schema) // before draft 2020, where it is called prefixItems
	if first == nil {
		first = s.PrefixItems
	}
	for i, value := range list {
		rest := func(yield func(*jsonschema.Schema) bool) { each(yield, s.Contains, s.UnevaluatedItems) }
		if i < len(first) {
			rest = func(yield func(*jsonschema.Schema) bool) { each(yield, s.Contains, first[i]) }
		} else if items, all := s.Items.(*jsonschema.Schema); all || s.Items2020 != nil || s.AdditionalItems != nil {
			rest = func(yield func(*jsonschema.Schema) bool) {
				each(yield, s.Contains, items, s.Items2020, s.AdditionalItems)
			}
		}
		for part := range rest {
			if !w.check(part, value) {
				return false
			}
		}
	}
	return true
}

// parts returns the number of values in a value.
func parts(value any) (n int) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			n += parts(item)
		}
	case map[string]any:
		for _, item := range v {
			n += parts(item)
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

// patternSteps returns the steps that matching a text takes: instructions for each byte, of which a
// hundred take as long as another step.
func patternSteps(pattern jsonschema.Regexp, text string) int {
	if p, ok := pattern.(*boundedPattern); ok {
		return p.size*len(text)/100 + 1
	}
	return 0
}
