// Package args makes the arguments of a call fit the JSON Schema of its tool, and
// compares them: it repairs, checks and writes them in one spelling.
package args

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/when"
)

// Repaired is arguments that fit the schema of their tool.
type Repaired struct {
	Input   Input
	Changed []string // what was written otherwise and means the same
	Lost    []string // what was left out of a call that changes nothing
}

// Repair makes what a model wrote for arguments into arguments of the tool, or
// says why it cannot. It does no more than this:
//
//   - a JSON object inside a string is read; nothing at all is {}
//   - any other text is the one argument of a tool that needs no more than one
//   - "5" becomes 5 and "true" true where the schema wants it, 5 becomes "5"
//   - a single value becomes a list of one, a list of one its value
//   - null for an optional argument is left out, as is an unknown argument
//     where the schema allows none; one with a value stops a call that may
//     change something
//   - a missing argument that has a default gets it
//   - a word that is in an enum except for its case takes the enum's case
//   - a day in words, as "next Friday", becomes YYYY-MM-DD where the schema wants it
func (s *Schemas) Repair(tool agent.Tool, raw json.RawMessage) (Repaired, error) {
	return s.repair(tool, raw, false)
}

// repairing is how arguments are repaired.
type repairing struct {
	meant  bool // also what a model means by names and values that the schema does not have
	writes bool // the call may change something
	today  time.Time
	lost   []string // unknown arguments that say something
}

func (s *Schemas) repair(tool agent.Tool, raw json.RawMessage, meant bool) (Repaired, error) {
	spec := tool.Spec()
	args, err := ReadObject(raw)
	alone := false
	if err != nil {
		if args, alone = aloneArgument(raw, ShapeOf(spec.Schema)); !alone {
			return Repaired{}, fmt.Errorf("the arguments of %s are not a JSON object: %w", spec.Name, err)
		}
	}
	schema := s.of(spec.Schema)
	if schema == nil {
		written, err := compact(raw, args, false)
		return Repaired{Input: Input{raw: written, object: args}}, err
	}
	now := s.Now
	if now == nil {
		now = time.Now
	}
	shape := ShapeOf(spec.Schema)
	r := repairing{meant: meant, writes: agent.MayWrite(tool), today: now()}
	out := Repaired{Changed: r.object(args, shape)}
	if err := validate(schema, args); err != nil {
		return Repaired{}, fmt.Errorf("the arguments of %s do not fit: %w", spec.Name, err)
	}
	if r.writes && len(r.lost) > 0 {
		return Repaired{}, fmt.Errorf("%s would lose what %s says: it takes %s", spec.Name, strings.Join(r.lost, " and "), strings.Join(PropertyOrder(spec.Schema), ", "))
	}
	for _, name := range r.lost {
		out.Lost = append(out.Lost, name+" is not an argument")
	}
	written, err := compact(raw, args, alone || len(out.Changed)+len(out.Lost) > 0)
	out.Input = Input{raw: written, object: args}
	return out, err
}

// aloneArgument are the arguments of a call that was given a text and no
// object, where the tool needs one text and nothing else.
func aloneArgument(raw json.RawMessage, s Shape) (map[string]any, bool) {
	var text string
	if len(s.Required) != 1 || !s.Properties[s.Required[0]].is("string") || json.Unmarshal(raw, &text) != nil {
		return nil, false
	}
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return nil, false // it was to be an object
	}
	return map[string]any{s.Required[0]: strings.Trim(text, `"`)}, true
}

// ReadObject reads the arguments; numbers keep their digits.
func ReadObject(raw json.RawMessage) (map[string]any, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]any{}, nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if text, ok := value.(string); ok {
		if strings.TrimSpace(text) == "" {
			return map[string]any{}, nil
		}
		if value, err = jsonschema.UnmarshalJSON(strings.NewReader(text)); err != nil {
			return nil, errors.New("it is a text")
		}
	}
	args, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is %.40s", raw)
	}
	return args, nil
}

// compact writes the arguments as they will be shown and run: the model's own
// bytes except white space, unless something was changed.
func compact(raw json.RawMessage, args map[string]any, changed bool) (json.RawMessage, error) {
	if !changed && !hasDoubles(raw) {
		var out bytes.Buffer
		if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '{' && json.Compact(&out, trimmed) == nil {
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

// hasDoubles reports whether an object of the JSON has a key twice: one reader
// takes the first and another the last. Of JSON that is odd it may.
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

// keysOf are those of an object, in the order in which they stand.
func keysOf(value *hujson.Value) (names []string) {
	if value == nil {
		return nil
	}
	if object, ok := value.Value.(*hujson.Object); ok {
		for _, member := range object.Members {
			names = append(names, member.Name.Value.(hujson.Literal).String()) // the keys of an object are texts
		}
	}
	return names
}

// Shape is what repairing needs to know of a schema.
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

func ShapeOf(schema json.RawMessage) Shape {
	var s Shape
	_ = json.Unmarshal(schema, &s) // a shape that cannot be read repairs nothing
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

func (s Shape) wants(names ...string) bool { return slices.ContainsFunc(names, s.is) }

func (r *repairing) object(args map[string]any, s Shape) (notes []string) {
	if r.meant {
		notes = r.rename(args, s)
	}
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
			if value, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.Properties[name].Default)); err == nil {
				args[name] = value
				notes = append(notes, fmt.Sprintf("%s was missing and has its default", name))
			}
		}
	}
	return notes
}

// saysNothing reports whether a value is lost without a loss.
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

// value returns what the schema wants in place of value; note is "" when
// nothing had to be done.
func (r *repairing) value(value any, s Shape) (repaired any, note string) {
	repaired, note = r.form(value, s)
	if r.meant {
		var changed string
		repaired, changed = r.meantValue(repaired, s)
		note = cmp.Or(changed, note)
	}
	return repaired, note
}

// form returns a value in the type that the schema wants.
func (r *repairing) form(value any, s Shape) (repaired any, note string) {
	switch v := value.(type) {
	case string:
		return r.text(v, s)
	case json.Number:
		if s.is("string") && !s.wants("number", "integer") {
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
		case s.wants("integer", "number") && IsNumber(text):
			return json.Number(text), "was a text"
		case s.is("boolean") && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
			return strings.EqualFold(text, "true"), "was a text"
		case s.is("array"):
			if list, err := jsonschema.UnmarshalJSON(strings.NewReader(text)); err == nil {
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
		if word, ok := allowed.(string); ok && word != v && strings.EqualFold(word, text) && !slices.Contains(s.Enum, any(v)) {
			return word, "was written otherwise"
		}
	}
	return v, ""
}

// aDay is how a schema says that a text is a day.
var aDay = pattern.Lazy(`(?:^|[\s,;:(])YYYY-MM-DD(?:$|[\s,;.:)])`)

func (s Shape) isDay() bool {
	return (s.Type == nil || s.is("string")) && (s.Format == "date" || aDay.MatchString(s.Description))
}

// day is what a text that names a day in words is in a schema that wants a day.
func (r *repairing) day(text string, s Shape) (day string, ok bool) {
	if !s.isDay() {
		return "", false
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return "", false
	}
	named, ok := when.Day(text, r.today, r.writes)
	return named.Format(time.DateOnly), ok
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

// IsNumber reports whether a text is a number as JSON writes it.
func IsNumber(s string) bool {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	return json.Valid([]byte(s))
}

// Kind names what an argument may be.
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
		bounds += " from " + string(number(*s.Minimum))
	}
	if s.Maximum != nil {
		bounds += " to " + string(number(*s.Maximum))
	}
	return fmt.Sprint(s.Type) + bounds
}

// PropertyOrder is the order in which the schema's author wrote its arguments.
func PropertyOrder(schema json.RawMessage) []string {
	doc, err := hujson.Parse(schema)
	if err != nil {
		return nil
	}
	return keysOf(doc.Find("/properties"))
}

// Lists reports whether the schema's bounds leave few whole numbers, n among
// them.
func (s Shape) Lists(n json.Number) bool {
	whole, err := n.Int64()
	return err == nil && s.Minimum != nil && s.Maximum != nil && *s.Maximum-*s.Minimum < maxChoices &&
		float64(whole) >= *s.Minimum && float64(whole) <= *s.Maximum
}

// maxChoices is how many whole numbers may be between a schema's bounds for
// one of them to be the schema's own value.
const maxChoices = 48

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

// aForm is what a schema says of a text that has to have a form.
var aForm = pattern.Lazy(`\b(?:path|url|YYYY-MM-DD)\b`)

// NoContent names an argument that holds a text of some kind though its schema
// takes no content there but a number, a date, a path or one of some words; "":
// there is none.
func NoContent(schema json.RawMessage, input Input, holds func(text string) bool) (name string) {
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
		text := s.Type == nil || s.wants("string", "object")
		formed := !text || len(s.Enum) > 0 || s.Format != "" || s.Pattern != "" || aForm.MatchString(name+" "+s.Description)
		if known && formed && slices.ContainsFunc(textsIn(given[name]), holds) {
			return name
		}
	}
	return ""
}
