package gate

import (
	"encoding/json"
	"math/big"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"lifehub/agent/args"
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
		if w.Fit != OnHost {
			break
		}
		if err := checkHost(value); err != nil {
			return err
		}
	}
	return nil
}

// surelyMatches reports whether every condition holds beyond doubt.
func (r Rule) surelyMatches(args map[string]any) bool {
	named := map[string]bool{}
	for _, w := range r.Where {
		named[w.Argument] = true
		if !w.holds(args) {
			return false
		}
	}
	for name := range args {
		if r.Only && !named[name] {
			return false
		}
	}
	return true
}

// holds reports whether the condition holds beyond doubt: no argument has a
// name that differs only in case, and the value has no other reading.
func (w Where) holds(args map[string]any) bool {
	for name := range args {
		if name != w.Argument && strings.EqualFold(name, w.Argument) {
			return false
		}
	}
	value := args[w.Argument]
	if w.Fit == NotGiven || value == nil {
		return w.Fit == NotGiven && value == nil
	}
	if w.Fit != OnHost && w.Fit != Under && w.surelyFits(textOf(value)) {
		return true
	}
	items, isList := value.([]any)
	if !isList {
		text, isText := value.(string)
		return isText && w.surelyFits(text)
	}
	for _, item := range items {
		text, isText := item.(string)
		if !isText || !w.surelyFits(text) {
			return false
		}
	}
	return len(items) > 0
}

func (w Where) surelyFits(text string) bool {
	return slices.ContainsFunc(w.Values, func(value string) bool {
		switch w.Fit {
		case LikeGlob:
			return globSurelyMatches(value, text)
		case OneOf:
			return value == text
		case Under:
			return isUnder(value, text)
		case OnHost:
			return isOnHost(value, text)
		}
		return false
	})
}

// mayMatch reports whether every condition holds in some reading of the
// arguments, so that another spelling cannot evade a rule that tightens.
func (r Rule) mayMatch(args map[string]any) bool {
	named := map[string]bool{}
	for _, w := range r.Where {
		named[w.Argument] = true
		if !w.mayHold(args) {
			return false
		}
	}
	for name, value := range args {
		if r.Only && !named[name] && value != nil {
			return false
		}
	}
	return true
}

func (w Where) mayHold(args map[string]any) bool {
	given := false
	for name, value := range args {
		if !strings.EqualFold(name, w.Argument) || value == nil {
			continue
		}
		given = true
		if w.Fit != NotGiven && w.mayFit(value) {
			return true
		}
	}
	return w.Fit == NotGiven && !given
}

// mayFit checks a value and everything nested in it.
func (w Where) mayFit(value any) bool {
	switch v := value.(type) {
	case []any:
		if slices.ContainsFunc(v, w.mayFit) {
			return true
		}
	case map[string]any:
		for _, inner := range v {
			if w.mayFit(inner) {
				return true
			}
		}
	}
	text := loose(textOf(value))
	_, isText := value.(string)
	return slices.ContainsFunc(w.Values, func(pattern string) bool {
		pattern = loose(pattern)
		switch w.Fit {
		case LikeGlob:
			return globMatch(plainNumber(pattern), text) ||
				slices.ContainsFunc(readings(text), func(text string) bool { return globMatch(pattern, text) })
		case OneOf:
			return pattern == text || plainNumber(pattern) == text
		case Under:
			return mayBeUnder(pattern, text)
		case OnHost:
			return isText && mayBeOnHost(pattern, text)
		}
		return false
	})
}

// readings returns the text and, if it may be a path, the cleaned path:
// relative, absolute, and without its first segment, which may name the vault.
func readings(text string) []string {
	list := []string{text}
	if !strings.ContainsAny(text, `/\`) {
		return list
	}
	name := text
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	segments := segmentsOf(name)
	plain := strings.Join(segments, "/")
	list = append(list, plain, "/"+plain)
	if len(segments) > 1 {
		list = append(list, strings.Join(segments[1:], "/"))
	}
	return list
}

// textOf returns the text that patterns are matched against: a string as it is,
// a number in canonical form, anything else as JSON with sorted keys.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return plainNumber(v.String())
	}
	text, err := json.Marshal(value)
	if err != nil { // impossible: the value came from JSON
		return ""
	}
	return string(text)
}

// maxExponent bounds the numbers that are expanded.
const maxExponent = 100

// plainNumber returns a number in canonical form, with all its digits. Other
// text, and numbers with a huge exponent, are returned unchanged.
func plainNumber(text string) string {
	if !args.IsNumber(text) || len(text) > maxExponent {
		return text
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n > maxExponent || n < -maxExponent {
			return text
		}
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	digits, _ := exact.FloatPrec()
	return exact.FloatString(digits)
}

// loose folds case, compatible characters, invisible characters and surrounding
// spaces.
func loose(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
	return strings.TrimSpace(strings.ToLower(text))
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

// globSurelyMatches reports whether text matches as the author of the pattern
// intended: a wildcard next to other characters matches neither a line break
// nor a .. segment. A lone * matches anything.
func globSurelyMatches(pattern, text string) bool {
	if !globMatch(pattern, text) {
		return false
	}
	plain := argumentUnescaper.Replace(pattern) // the literal part of the pattern must account for all of them
	return pattern == "*" || lineBreaks(plain) == lineBreaks(text) && waysUp(plain) == waysUp(text)
}

func lineBreaks(text string) (n int) {
	for _, r := range text {
		if strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) {
			n++
		}
	}
	return n
}

// waysUp counts the .. segments of a path.
func waysUp(text string) (n int) {
	for _, segment := range strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == ".." {
			n++
		}
	}
	return n
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

// isUnder reports whether a path is certainly the folder or below it, on any
// operating system. Links are not followed; the tools do not follow them
// either.
func isUnder(folder, name string) bool {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\\' || r == '\u2215' || r == '\u2044' }) ||
		strings.Contains(name, ":") || strings.HasPrefix(name, "~") || path.IsAbs(folder) != path.IsAbs(name) {
		return false
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == ".." || segment != "." && segment != strings.TrimRight(segment, ". ") {
			return false
		}
	}
	folder, name = path.Clean(folder), path.Clean(name)
	return folder == "." || folder == "/" || name == folder || strings.HasPrefix(name, folder+"/")
}

// mayBeUnder reports whether a path could be below the folder: below any root
// if it is absolute, in any vault otherwise. Both are normalized by loose.
func mayBeUnder(folder, name string) bool {
	name = strings.TrimPrefix(name, "file://")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	want, have := segmentsOf(folder), segmentsOf(name)
	farthest := 1 // the first segment may name the vault
	if path.IsAbs(strings.ReplaceAll(name, `\`, "/")) || strings.HasPrefix(name, "~") || strings.Contains(name, ":") || strings.Contains(name, "..") {
		farthest = len(have)
	}
	for at := 0; at <= farthest && at+len(want) <= len(have); at++ {
		if slices.Equal(have[at:at+len(want)], want) {
			return true
		}
	}
	return false
}

func segmentsOf(name string) (list []string) {
	for _, segment := range strings.Split(path.Clean(strings.ReplaceAll(name, `\`, "/")), "/") {
		if segment = strings.TrimRight(segment, ". "); segment != "" {
			list = append(list, segment)
		}
	}
	return list
}
