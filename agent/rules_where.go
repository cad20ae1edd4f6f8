package agent

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Where is a condition of a Rule on one argument of a call.
type Where struct {
	Argument string
	Fit      Fit
	Values   []string // one of them must fit; none for NotGiven
}

// Fit is how an argument is compared.
type Fit string

// The ways to compare. A list fits when each of its items does.
const (
	LikeGlob Fit = "glob"   // * stands for anything, ? for one character, \ for the next one itself
	OneOf    Fit = "one_of" // it is one of the values
	Under    Fit = "under"  // it is a path below the folder
	OnHost   Fit = "host"   // it is a web address on the host; *.example.org: on one below it
	NotGiven Fit = "absent" // the call does not have it
)

// surelyMatches tells whether each condition holds beyond doubt.
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

// holds tells whether the condition holds beyond doubt: neither an argument
// whose name differs in its case alone nor a second reading of the value may
// stand in the way.
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

// mayMatch tells whether each condition may hold in some reading of the
// arguments: a rule that tightens is not to be slipped by another spelling.
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

// mayFit looks at a value, and at everything inside it.
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
	return slices.ContainsFunc(w.Values, func(pattern string) bool {
		pattern = loose(pattern)
		switch w.Fit {
		case LikeGlob:
			return globMatch(pattern, text) || globMatch(plainNumber(pattern), text)
		case OneOf:
			return pattern == text || plainNumber(pattern) == text
		case Under:
			return mayBeUnder(pattern, text)
		case OnHost:
			return mayBeOnHost(pattern, text)
		}
		return false
	})
}

// textOf is a value as patterns see it: a text is itself, a number has one
// spelling, all else is JSON with sorted keys.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return plainNumber(v.String())
	}
	text, err := json.Marshal(value)
	if err != nil { // cannot be: it was read from JSON
		return ""
	}
	return string(text)
}

// plainNumber gives a number one spelling; what is none stays.
func plainNumber(text string) string {
	if !isNumber(text) {
		return text
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if n := int64(f); float64(n) == f && f < 1<<53 && f > -1<<53 {
		return strconv.FormatInt(n, 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// loose folds what looks or counts the same: case, compatible characters,
// characters that show nothing, blanks around.
func loose(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
	return strings.TrimSpace(strings.ToLower(text))
}

// pinned is the condition that an argument is as it is in a call.
func pinned(name string, value any) Where {
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

// globSurelyMatches tells whether a text is one that the writer of a pattern
// had in mind: beside other characters, a wildcard stands for nothing on
// another line and for no way out of a folder. One * alone is anything.
func globSurelyMatches(pattern, text string) bool {
	if !globMatch(pattern, text) {
		return false
	}
	plain := argumentUnescaper.Replace(pattern) // what of it is meant as it stands is in the text as often
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

// waysUp counts the .. among the segments of a path.
func waysUp(text string) (n int) {
	for _, segment := range strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == ".." {
			n++
		}
	}
	return n
}

// globMatch matches a whole text in time that grows with both lengths only.
func globMatch(pattern, text string) bool {
	p, s := []rune(pattern), []rune(text)
	star, mark := -1, 0 // the last *, and what it stands for so far
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

// isUnder tells that a path lies below a folder, or is it, in whatever
// system's reading. Links are not followed: the tools themselves don't.
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

// mayBeUnder tells whether a path may mean a place below a folder: below any
// root if it is absolute, below any vault if not. Both are loose.
func mayBeUnder(folder, name string) bool {
	name = strings.TrimPrefix(name, "file://")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	want, have := segmentsOf(folder), segmentsOf(name)
	farthest := 1 // the vault's name may stand before
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

// isOnHost tells that an address is one of the host's, at its usual port,
// with nothing in it that could be read in two ways.
func isOnHost(pattern, address string) bool {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f || unicode.IsSpace(r) }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Opaque != "" || u.Port() != "" {
		return false
	}
	return hostFits(pattern, u.Hostname())
}

func mayBeOnHost(pattern, address string) bool {
	address = strings.NewReplacer(`\`, "/", " ", "", "\t", "", "\n", "", "\r", "").Replace(address)
	plain := strings.TrimPrefix(strings.TrimPrefix(pattern, "*"), ".")
	if !strings.Contains(address, "//") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return strings.Contains(address, plain)
	}
	return hostFits(pattern, u.Hostname()) || u.Hostname() == "" && strings.Contains(address, plain)
}

func hostFits(pattern, host string) bool {
	host, ok := plainHost(host)
	if !ok {
		return false
	}
	if below, isGlob := strings.CutPrefix(pattern, "*."); isGlob {
		parent, ok := plainHost(below)
		return ok && strings.HasSuffix(host, "."+parent)
	}
	want, ok := plainHost(pattern)
	return ok && host == want
}

// plainHost is a host's name in the one spelling that DNS knows.
func plainHost(host string) (string, bool) {
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(host), "."))
	return name, err == nil && name != ""
}
