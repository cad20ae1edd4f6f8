package gate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"lifehub/internal/text"
)

// Where is a condition of a Rule on one argument of a call.
type Where struct {
	Argument string
	Fit      Fit
	Values   []string // one must fit; empty for NotGiven
}

// Fit is how an argument is compared.
type Fit string

// A list fits if each of its items does.
const (
	LikeGlob Fit = "glob"   // * matches anything, ? one character, \ escapes the next character
	OneOf    Fit = "one_of" // equal to one of the values
	Under    Fit = "under"  // a path below the folder
	OnHost   Fit = "host"   // a web address on the host; *.example.org means a subdomain
	NotGiven Fit = "absent" // the argument is missing
)

// check returns an error if no call can fit the condition.
func (w Where) check() error {
	for _, value := range w.Values {
		if err := checkHost(value); err != nil && w.Fit == OnHost {
			return err
		}
	}
	return nil
}

// holds reports whether the arguments fit the condition, for a rule that allows or for one that tightens.
// Go and others read "PATH" as "path", so such an argument counts for a rule that tightens and prevents
// that another rule allows.
func (w Where) holds(arguments map[string]any, allows bool) bool {
	given, fits := false, false
	for name, value := range arguments {
		if !strings.EqualFold(name, w.Argument) {
			continue
		}
		if allows && name != w.Argument {
			return false
		}
		if value != nil {
			given, fits = true, fits || w.fits(value, allows)
		}
	}
	return fits || w.Fit == NotGiven && !given
}

// fits compares a value. Of a list or an object, a rule that tightens needs any item, at any depth; one that
// allows needs each item of a list, or the whole value as [Pinned] writes it.
func (w Where) fits(value any, allows bool) bool {
	text := textOf(value)
	var items []any
	switch v := value.(type) {
	case []any:
		items = v
	case map[string]any:
		items = slices.Collect(maps.Values(v))
	default:
		return slices.ContainsFunc(w.Values, func(pattern string) bool { return w.Fit.matches(pattern, text, allows) })
	}
	if w.Fit == LikeGlob && slices.ContainsFunc(w.Values, func(pattern string) bool {
		return pattern == "*" || pattern == argumentEscaper.Replace(text) ||
			!allows && w.Fit.matches(pattern, text, allows)
	}) {
		return true
	}
	fit := func(item any) bool { return w.fits(item, allows) }
	if !allows {
		return slices.ContainsFunc(items, fit)
	}
	_, isList := value.([]any)
	return isList && len(items) > 0 && !slices.ContainsFunc(items, func(item any) bool { return !fit(item) })
}

// matches is the one matcher of rules. A rule that allows needs a text in canonical form.
func (f Fit) matches(pattern, value string, allows bool) bool {
	switch f {
	case Under:
		return isUnder(pattern, value, allows)
	case OnHost:
		return isOnHost(pattern, value, allows)
	case OneOf:
		pattern = argumentEscaper.Replace(pattern)
	}
	if globMatch(pattern, value) {
		return !allows || pattern == "*" || escapes(argumentUnescaper.Replace(pattern)) == escapes(value)
	}
	// at any depth of a path
	anywhere := func(pattern string) string { return "*/" + strings.TrimLeft(text.Key(pattern), "/") }
	return !allows && (globMatch(anywhere(plainNumber(pattern)), text.Key("/"+plainNumber(value))) ||
		globMatch(anywhere(pattern), text.Key(plainPath(value))))
}

// escapes counts what a wildcard next to other characters does not match in a rule that allows: line breaks
// and .. segments. The literal part of a pattern must account for all that the text has.
func escapes(text string) (n int) {
	for segment := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == ".." {
			n++
		}
	}
	for _, r := range text {
		if strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) {
			n++
		}
	}
	return n
}

// textOf returns the text that patterns are matched against: a string as it is,
// a number as it is written, anything else as JSON with sorted keys.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	text, err := json.Marshal(value)
	if err != nil { // impossible: the value came from JSON
		return ""
	}
	return string(text)
}

// Pinned returns the condition that an argument equals value.
func Pinned(name string, value any) Where {
	if value == nil {
		return Where{Argument: name, Fit: NotGiven}
	}
	return Where{Argument: name, Fit: LikeGlob, Values: []string{argumentEscaper.Replace(textOf(value))}}
}

var (
	argumentEscaper   = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`)
	argumentUnescaper = strings.NewReplacer(`\\`, `\`, `\*`, `*`, `\?`, `?`)
)

func sortWhere(where []Where) {
	slices.SortFunc(where, func(a, b Where) int { return strings.Compare(a.Argument, b.Argument) })
}

// globMatch reports whether the pattern matches the whole text, in time bounded
// by the product of their lengths.
func globMatch(pattern, text string) bool {
	p, s := []rune(pattern), []rune(text)
	star, mark := -1, 0 // position of the last * and the end of its match so far
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
			continue
		case i < len(p) && p[i] == '?':
			i, j = i+1, j+1
			continue
		case i+1 < len(p) && p[i] == '\\' && p[i+1] == s[j]:
			i, j = i+2, j+1
			continue
		case i < len(p) && p[i] != '\\' && p[i] == s[j], i == len(p)-1 && p[i] == '\\' && s[j] == '\\':
			i, j = i+1, j+1
			continue
		case star >= 0:
			mark++
			i, j = star+1, mark
			continue
		}
		return false
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
