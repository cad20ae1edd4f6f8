package args

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/internal/when"
)

// RepairMeant is like [Schemas.Repair] but first resolves what can have only
// one meaning under the schema:
//
//   - an unknown name means the argument whose name consists of the same words,
//     or whose name it abbreviates or extends, or that extends it: start is
//     start_date, due_date is due
//   - a remaining unknown name means the one missing required argument that
//     accepts its value, if its name resembles no other argument
//   - a date under an unknown name means the only argument that takes a date
//   - a number out of bounds means the bound, in a call that changes nothing
//   - a value not in an enum means the value that it abbreviates, or whose part
//     of the description ("open: pending, not done") contains it
//
// It is for calls by models. A person sees an error instead.
func (s *Schemas) RepairMeant(tool agent.Tool, raw json.RawMessage) (Repaired, error) {
	return s.repair(tool, raw, true)
}

// NameWords splits a name at punctuation and before capitals.
func NameWords(name string) []string {
	var parted strings.Builder
	small := false
	for _, r := range name {
		if small && unicode.IsUpper(r) {
			parted.WriteByte(' ')
		}
		small = unicode.IsLower(r) || unicode.IsDigit(r)
		parted.WriteRune(r)
	}
	return strings.FieldsFunc(parted.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// stems returns the stems of the words of a name, in order.
func stems(name string) (list []string) {
	for _, word := range NameWords(name) {
		list = append(list, text.Stem(word, ""))
	}
	return list
}

// SameWords reports whether two names consist of the same words, in any order.
func SameWords(a, b string) bool {
	return strings.EqualFold(strings.Join(NameWords(a), ""), strings.Join(NameWords(b), "")) ||
		slices.Equal(slices.Sorted(slices.Values(stems(a))), slices.Sorted(slices.Values(stems(b))))
}

// abbreviates reports whether the words of short are prefixes of the first
// words of long, one by one.
func abbreviates(short, long string) bool {
	a, b := NameWords(strings.ToLower(short)), NameWords(strings.ToLower(long))
	if len(a) == 0 || len(a) > len(b) {
		return false
	}
	for i := range a {
		if !strings.HasPrefix(b[i], a[i]) {
			return false
		}
	}
	return true
}

// extends reports whether long starts with all the words of short and has more.
func extends(long, short string) bool {
	a, b := stems(long), stems(short)
	return len(b) > 0 && len(b) < len(a) && slices.Equal(a[:len(b)], b)
}

// near returns the name that word means: the one with the same words, else the
// one that it abbreviates, else the one that it extends. ok is false if there
// is no such name or several.
func near(word string, names []string) (name string, ok bool) {
	for _, means := range []func(a, b string) bool{SameWords, abbreviates, extends} {
		if found := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !means(word, name) }); len(found) > 0 {
			return found[0], len(found) == 1
		}
	}
	return "", false
}

// rename renames unknown arguments to the ones they mean.
func (r *repairing) rename(args map[string]any, s Shape) (notes []string) {
	if len(s.Properties) == 0 || !slices.Contains([]string{"", "false"}, strings.TrimSpace(string(s.Additional))) {
		return nil // unknown arguments are allowed
	}
	absent := func(name string) bool { _, there := args[name]; return !there }
	to := func(given, name string) {
		args[name] = args[given]
		delete(args, given)
		notes = append(notes, fmt.Sprintf("%s is %s here", given, name))
	}
	var unknown []string
	meant := map[string][]string{} // unknown names, by the argument that they mean
	for _, given := range slices.Sorted(maps.Keys(args)) {
		if _, known := s.Properties[given]; known {
			continue
		}
		unknown = append(unknown, given)
		free := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Properties)), func(name string) bool { return !absent(name) || !s.Properties[name].takes(args[given]) })
		if name, ok := near(given, free); ok {
			meant[name] = append(meant[name], given)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(meant)) {
		if given := meant[name]; len(given) == 1 {
			to(given[0], name)
			unknown = slices.DeleteFunc(unknown, func(u string) bool { return u == given[0] })
		}
	}
	day, only := s.onlyDay()
	dated := func() {
		days := slices.DeleteFunc(slices.Clone(unknown), func(u string) bool { return !r.isDay(args[u]) })
		if only && absent(day) && len(days) == 1 {
			to(days[0], day)
			unknown = slices.DeleteFunc(unknown, func(u string) bool { return u == days[0] })
		}
	}
	if len(unknown) > 1 { // otherwise the value may be that of a required argument
		dated()
	}
	for _, name := range s.Required {
		if !absent(name) || len(s.Properties[name].Default) > 0 {
			continue
		}
		if taken := slices.DeleteFunc(slices.Clone(unknown), func(u string) bool { return !s.Properties[name].takes(args[u]) }); len(taken) == 1 && s.fills(taken[0], name) && s.onlyMissing(args, name) {
			to(taken[0], name)
			unknown = slices.DeleteFunc(unknown, func(u string) bool { return u == taken[0] })
		}
	}
	dated()
	return notes
}

// onlyMissing reports whether no other required argument of the same type is
// missing.
func (s Shape) onlyMissing(args map[string]any, name string) bool {
	return !slices.ContainsFunc(s.Required, func(other string) bool {
		_, there := args[other]
		return other != name && !there && len(s.Properties[other].Default) == 0 && fmt.Sprint(s.Properties[other].Type) == fmt.Sprint(s.Properties[name].Type)
	})
}

// onlyDay returns the only argument that takes a date; ok is false if there is
// none or several.
func (s Shape) onlyDay() (name string, ok bool) {
	for property, shape := range s.Properties {
		if shape.isDay() && name != "" {
			return "", false
		} else if shape.isDay() {
			name = property
		}
	}
	return name, name != ""
}

// isDay reports whether a value is a date, in digits or in words.
func (r *repairing) isDay(value any) bool {
	text, isText := value.(string)
	if !isText {
		return false
	}
	if _, err := time.Parse(time.DateOnly, strings.TrimSpace(text)); err == nil {
		return true
	}
	_, ok := when.Day(text, r.today, r.writes)
	return ok
}

// fills reports whether an unknown name may mean the missing argument: either
// their names are alike, or the unknown one resembles no other and neither is
// just a preposition such as "to".
func (s Shape) fills(unknown, missing string) bool {
	like := func(name string) bool {
		return abbreviates(unknown, name) || abbreviates(name, unknown) ||
			slices.ContainsFunc(stems(unknown), func(word string) bool { return slices.Contains(stems(name), word) })
	}
	if like(missing) {
		return true
	}
	if text.StopWord(strings.ToLower(unknown), "") || text.StopWord(strings.ToLower(missing), "") {
		return false
	}
	for name := range s.Properties {
		if like(name) {
			return false
		}
	}
	return true
}

// takes reports whether a value already has the type of the argument.
func (s Shape) takes(value any) bool {
	switch value.(type) {
	case nil:
		return false
	case string:
		return s.Type == nil || s.is("string")
	case json.Number:
		return s.Type == nil || s.accepts("number", "integer")
	case bool:
		return s.Type == nil || s.is("boolean")
	case []any:
		return s.Type == nil || s.is("array")
	}
	return s.Type == nil || s.is("object")
}

// meantValue replaces a value that the schema does not allow: a number by the
// nearest bound, if the call changes nothing; a string by the enum value that
// it means.
func (r *repairing) meantValue(value any, s Shape) (meant any, note string) {
	switch v := value.(type) {
	case string:
		if name, ok := s.choice(v); ok {
			return name, fmt.Sprintf("%.60q is %q here", v, name)
		}
	case json.Number:
		if r.writes { // never change an amount that is written or sent
			return value, ""
		}
		if n, err := v.Float64(); err == nil && s.Maximum != nil && n > *s.Maximum {
			return number(*s.Maximum), fmt.Sprintf("was %s: the most is %s", v, number(*s.Maximum))
		} else if err == nil && s.Minimum != nil && n < *s.Minimum {
			return number(*s.Minimum), fmt.Sprintf("was %s: the least is %s", v, number(*s.Minimum))
		}
	}
	return value, ""
}

func number(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

// choice returns the only enum value that a word may mean.
func (s Shape) choice(word string) (name string, ok bool) {
	if slices.Contains(s.Enum, any(word)) || len(NameWords(word)) == 0 {
		return "", false
	}
	var words []string
	for _, allowed := range s.Enum {
		if name, is := allowed.(string); is {
			words = append(words, name)
		}
	}
	if name, ok := near(word, words); ok || name != "" {
		return name, ok
	}
	described := slices.DeleteFunc(words, func(name string) bool { return !s.describes(name, word) })
	if len(described) != 1 {
		return "", false
	}
	return described[0], true
}

// describes reports whether the schema's description of an enum value, as in
// "open: pending, not done; due: …", contains word before any negation.
func (s Shape) describes(name, word string) bool {
	for _, clause := range strings.Split(s.Description, ";") {
		of, about, _ := strings.Cut(clause, ":")
		if !strings.EqualFold(strings.Trim(of, " \n\t-*\"'`"), name) {
			continue
		}
		for _, described := range NameWords(strings.ToLower(about)) {
			if text.Is(described, text.Negation) {
				return false
			}
			if text.Stem(described, "") == text.Stem(word, "") {
				return true
			}
		}
	}
	return false
}
