package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"lifehub/internal/when"
)

// Repaired is arguments that fit the schema of their tool.
type Repaired struct {
	Input   Args
	Changed []string // changes that kept the meaning
	Lost    []string // arguments dropped from a call that changes nothing
}

// Repair turns the arguments that a model wrote into valid arguments of the
// tool, or returns an error. It makes only these changes:
//
//   - a JSON object inside a string is parsed; no arguments at all become {}
//   - other text becomes the argument of a tool that requires exactly one
//   - "5" becomes 5 and "true" true, or 5 becomes "5", as the schema requires
//   - a single value becomes a list of one, or a list of one its value
//   - null for an optional argument is dropped; so is an unknown argument if
//     the schema allows none, except that one with a value is an error if the
//     call may change something
//   - a missing required argument gets its default, if it has one
//   - a value that differs from an enum value only in case gets its case
//   - a date in words, such as "next Friday", becomes YYYY-MM-DD if the schema
//     requires a date
func (s *Schemas) Repair(tool Tool, raw json.RawMessage) (Repaired, error) {
	spec := tool.Spec()
	args, err := ReadObject(raw)
	alone := false
	if err != nil {
		if args, alone = aloneArgument(raw, ShapeOf(spec.Schema)); !alone {
			return Repaired{}, fmt.Errorf("the arguments of %s are not a JSON object: %w", spec.Name, err)
		}
	}
	now := s.Now
	if now == nil {
		now = time.Now
	}
	shape := ShapeOf(spec.Schema)
	r := repairing{writes: MayWrite(tool), today: now()}
	out := Repaired{Changed: r.object(args, shape)}
	err = s.check(spec.Schema, args)
	switch takes := strings.Join(PropertyOrder(spec.Schema), ", "); {
	case len(r.lost) > 0 && (r.writes || err != nil):
		return Repaired{}, fmt.Errorf("%s has no %s: it takes %s", spec.Name, strings.Join(r.lost, " and no "), takes)
	case err != nil:
		return Repaired{}, fmt.Errorf("invalid arguments for %s: %w", spec.Name, err)
	}
	for _, name := range r.lost {
		out.Lost = append(out.Lost, name+" is not an argument")
	}
	written, err := compact(raw, args, alone || len(out.Changed)+len(out.Lost) > 0)
	out.Input = Args{raw: written, object: args}
	return out, err
}

// repairing holds the options and state of one repair.
type repairing struct {
	writes bool // the call may change something
	today  time.Time
	lost   []string // unknown arguments with a value
}

// aloneArgument returns the arguments of a call whose raw arguments are a plain
// string, if the tool requires a single string.
func aloneArgument(raw json.RawMessage, s Shape) (map[string]any, bool) {
	var text string
	if len(s.Required) != 1 || !s.Properties[s.Required[0]].is("string") || json.Unmarshal(raw, &text) != nil {
		return nil, false
	}
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return nil, false // meant as an object or list
	}
	return map[string]any{s.Required[0]: strings.Trim(text, `"`)}, true
}

// ReadObject parses the arguments. Numbers keep their digits.
func ReadObject(raw json.RawMessage) (map[string]any, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, nil
	}
	value, err := readJSON(raw)
	if err != nil {
		return nil, err
	}
	if text, ok := value.(string); ok {
		if strings.TrimSpace(text) == "" {
			return map[string]any{}, nil
		}
		if value, err = readJSON([]byte(text)); err != nil {
			return nil, errors.New("it is a text")
		}
	}
	args, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is %.40s", raw)
	}
	return args, nil
}

// compact returns the arguments as they are shown and run: the model's own
// bytes without insignificant white space, unless something was changed.
func compact(raw json.RawMessage, args map[string]any, changed bool) (json.RawMessage, error) {
	if !changed && !hasDoubles(raw) {
		var out bytes.Buffer
		if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '{' &&
			json.Compact(&out, trimmed) == nil {
			return out.Bytes(), nil
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(args); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// hasDoubles reports whether an object in the JSON may have a duplicate key,
// which parsers resolve differently.
func hasDoubles(raw json.RawMessage) bool {
	doc, err := hujson.Parse(raw)
	if err != nil {
		return true
	}
	for value := range doc.All() {
		seen := map[string]bool{}
		for _, name := range keysOf(value) {
			if seen[name] {
				return true
			}
			seen[name] = true
		}
	}
	return false
}

// keysOf returns the keys of an object in source order.
func keysOf(value *hujson.Value) (names []string) {
	if value == nil {
		return nil
	}
	if object, ok := value.Value.(*hujson.Object); ok {
		for _, member := range object.Members {
			names = append(names, member.Name.Value.(hujson.Literal).String()) // keys are always strings
		}
	}
	return names
}

// Shape is the part of a JSON Schema used for repairing.
type Shape struct {
	Type        any              `json:"type"` // a name or a list of names
	Properties  map[string]Shape `json:"properties"`
	Required    []string         `json:"required"`
	Items       *Shape           `json:"items"`
	Enum        []any            `json:"enum"`
	Minimum     *float64         `json:"minimum"`
	Maximum     *float64         `json:"maximum"`
	Default     json.RawMessage  `json:"default"`
	Format      string           `json:"format"`
	Pattern     string           `json:"pattern"`
	Description string           `json:"description"`
	Additional  json.RawMessage  `json:"additionalProperties"`
}

// ShapeOf parses a schema; invalid JSON yields the zero Shape.
func ShapeOf(schema json.RawMessage) Shape {
	var s Shape
	_ = json.Unmarshal(schema, &s) // a zero Shape repairs nothing
	return s
}

func (s Shape) is(name string) bool {
	switch t := s.Type.(type) {
	case string:
		return t == name
	case []any:
		return slices.Contains(t, any(name))
	}
	return false
}

func (s Shape) accepts(names ...string) bool { return slices.ContainsFunc(names, s.is) }

func (r *repairing) object(args map[string]any, s Shape) (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		property, known := s.Properties[name]
		switch {
		case !known && string(bytes.TrimSpace(s.Additional)) == "false":
			if saysNothing(args[name]) {
				notes = append(notes, fmt.Sprintf("%s was empty", name))
			} else {
				r.lost = append(r.lost, name)
			}
			delete(args, name)
		case !known:
		case args[name] == nil && !property.is("null") && !slices.Contains(s.Required, name):
			delete(args, name)
			notes = append(notes, fmt.Sprintf("%s was null", name))
		default:
			if repaired, note := r.value(args[name], property); note != "" {
				args[name] = repaired
				notes = append(notes, fmt.Sprintf("%s %s", name, note))
			}
		}
	}
	for _, name := range s.Required {
		if _, there := args[name]; !there && len(s.Properties[name].Default) > 0 {
			if value, err := readJSON(s.Properties[name].Default); err == nil {
				args[name] = value
				notes = append(notes, fmt.Sprintf("%s was missing and has its default", name))
			}
		}
	}
	return notes
}

// saysNothing reports whether a value is empty.
func saysNothing(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// value converts a value to the type that the schema requires. The note describes
// the change; it is "" if there was none.
func (r *repairing) value(value any, s Shape) (repaired any, note string) {
	switch v := value.(type) {
	case string:
		return r.text(v, s)
	case json.Number:
		if s.is("string") && !s.accepts("number", "integer") {
			return v.String(), "was a number"
		}
		if s.is("integer") {
			if f, err := v.Float64(); err == nil && f == float64(int64(f)) && strings.ContainsAny(v.String(), ".eE") {
				return json.Number(strconv.FormatInt(int64(f), 10)), "was a fraction"
			}
		}
	case bool:
		if s.is("string") && !s.is("boolean") {
			return strconv.FormatBool(v), "was true or false"
		}
	case []any:
		return r.list(v, s)
	case map[string]any:
		if notes := r.object(v, s); len(notes) > 0 {
			return v, strings.Join(notes, ", ")
		}
		return v, ""
	}
	if s.is("array") && value != nil {
		return r.single(value, s)
	}
	return value, ""
}

func (r *repairing) text(v string, s Shape) (any, string) {
	text := strings.TrimSpace(v)
	if s.Type != nil && !s.is("string") {
		switch {
		case s.accepts("integer", "number") && IsNumber(text):
			return json.Number(text), "was a text"
		case s.is("boolean") && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
			return strings.EqualFold(text, "true"), "was a text"
		case s.is("array"):
			if list, err := readJSON([]byte(text)); err == nil {
				if list, ok := list.([]any); ok {
					return list, "was a text"
				}
			}
			return r.single(v, s)
		case s.is("object"):
			if object, err := ReadObject(json.RawMessage(text)); err == nil {
				return object, "was a text"
			}
		}
		return v, ""
	}
	if day, ok := r.day(text, s); ok {
		return day, fmt.Sprintf("%.60q is %s", text, day)
	}
	for _, allowed := range s.Enum {
		if word, ok := allowed.(string); ok && word != v && strings.EqualFold(word, text) &&
			!slices.Contains(s.Enum, any(v)) {
			return word, "was written otherwise"
		}
	}
	return v, ""
}

// aDay matches the description of an argument that takes a date.
var aDay = regexp.MustCompile(`(?:^|[\s,;:(])YYYY-MM-DD(?:$|[\s,;.:)])`)

func (s Shape) isDay() bool {
	return (s.Type == nil || s.is("string")) && (s.Format == "date" || aDay.MatchString(s.Description))
}

// day converts a date in words to YYYY-MM-DD if the schema requires a date.
func (r *repairing) day(text string, s Shape) (day string, ok bool) {
	if !s.isDay() {
		return "", false
	}
	if _, err := when.ParseDay(text); err == nil {
		return "", false
	}
	named, ok := when.DayIn(text, when.DayOf(r.today), r.writes)
	return named.String(), ok
}

func (r *repairing) list(v []any, s Shape) (any, string) {
	if s.Type != nil && !s.is("array") && len(v) == 1 {
		repaired, note := r.value(v[0], s)
		return repaired, cmp.Or(note, "was a list of one")
	}
	if s.Items == nil {
		return v, ""
	}
	var note string
	for i := range v {
		if repaired, n := r.value(v[i], *s.Items); n != "" {
			v[i], note = repaired, "has an item that "+n
		}
	}
	return v, note
}

func (r *repairing) single(value any, s Shape) (any, string) {
	var note string
	if s.Items != nil {
		value, note = r.value(value, *s.Items)
	}
	return []any{value}, cmp.Or(note, "was not a list")
}

// IsNumber reports whether s is a number in JSON syntax that can be compared.
func IsNumber(s string) bool {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	return json.Valid([]byte(s)) && checkNumber(s) == nil
}

// Kind describes the values that an argument may have.
func (s Shape) Kind() string {
	if len(s.Enum) > 0 {
		var list []string
		for _, value := range s.Enum {
			list = append(list, fmt.Sprintf("%v", value))
		}
		return strings.Join(list, "|")
	}
	if s.is("array") && s.Items != nil && s.Items.Type != nil {
		return "list of " + s.Items.Kind()
	}
	bounds := ""
	if s.Minimum != nil {
		bounds += " from " + strconv.FormatFloat(*s.Minimum, 'f', -1, 64)
	}
	if s.Maximum != nil {
		bounds += " to " + strconv.FormatFloat(*s.Maximum, 'f', -1, 64)
	}
	return fmt.Sprint(s.Type) + bounds
}

// PropertyOrder returns the names of the arguments in the order of the schema.
func PropertyOrder(schema json.RawMessage) []string {
	doc, err := hujson.Parse(schema)
	if err != nil {
		return nil
	}
	return keysOf(doc.Find("/properties"))
}

func textsIn(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case json.Number:
		return []string{v.String()}
	case []any:
		for _, item := range v {
			texts = append(texts, textsIn(item)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = append(append(texts, name), textsIn(v[name])...)
		}
	}
	return texts
}

// aForm matches the description of an argument with a fixed form.
var aForm = regexp.MustCompile(`\b(?:path|url|YYYY-MM-DD)\b`)

// NoContent returns the name of an argument in which holds reports true for
// some text, although its schema admits no free text there, only a number,
// date, path or enum; "" if there is none.
func NoContent(schema json.RawMessage, input Args, holds func(text string) bool) (name string) {
	given, err := input.Object()
	if err != nil {
		return ""
	}
	properties := ShapeOf(schema).Properties
	for _, name := range slices.Sorted(maps.Keys(given)) {
		s, known := properties[name]
		if s.Items != nil {
			s = *s.Items
		}
		text := s.Type == nil || s.accepts("string", "object")
		formed := !text || len(s.Enum) > 0 || s.Format != "" || s.Pattern != "" ||
			aForm.MatchString(name+" "+s.Description)
		if known && formed && slices.ContainsFunc(textsIn(given[name]), holds) {
			return name
		}
	}
	return ""
}
