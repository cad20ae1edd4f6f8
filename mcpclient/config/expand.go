package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// reference matches ${NAME}, ${NAME:-default} and ${env:NAME}.
var reference = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?:(:-)([^}]*))?\}`)

// oddReference returns the first malformed reference in text, or "".
func oddReference(text string) string {
	rest := reference.ReplaceAllString(text, "")
	_, odd, found := strings.Cut(rest, "${")
	if !found {
		return ""
	}
	odd, _, _ = strings.Cut(odd, "}")
	return "${" + odd + "}"
}

// expand replaces references by the values of variables and appends the names of
// unset ones to missing. An empty variable counts as unset, since that usually
// means a forgotten credential.
func expand(text string, lookup func(string) (string, bool), missing *[]string) string {
	return reference.ReplaceAllStringFunc(text, func(match string) string {
		parts := reference.FindStringSubmatch(match)
		if v, ok := lookup(parts[1]); ok && v != "" {
			return v
		}
		if parts[2] == "" && !slices.Contains(*missing, parts[1]) {
			*missing = append(*missing, parts[1])
		}
		return parts[3]
	})
}

// Resolved returns the entry with its variables expanded, and the names of those
// that are not set. If there are any, the server cannot start.
func (s Entry) Resolved(lookup func(string) (string, bool)) (Entry, []string) {
	var missing []string
	s.Args, s.Roots = slices.Clone(s.Args), slices.Clone(s.Roots)
	s.Env, s.Headers = maps.Clone(s.Env), maps.Clone(s.Headers)
	for _, text := range s.texts() {
		*text = expand(*text, lookup, &missing)
	}
	for _, texts := range []map[string]string{s.Env, s.Headers} {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			texts[name] = expand(texts[name], lookup, &missing)
		}
	}
	return s, missing
}
