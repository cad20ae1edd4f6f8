package agent

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"lifehub/pattern"
)

var (
	// placeText is note.md:12, also inside a code span.
	placeText = pattern.Lazy(`([^\s"'“”„«»()<>\[\]|:*` + "`" + `]+\.(?:md|markdown))(?::(\d{1,7}))?`)
	// restsOn are the words after which a bare name is said to be a source.
	restsOn = pattern.Lazy("(?i)(?:according to|see|from|laut|siehe|aus)\\s+(?:the |your |note |der |die )*[`\"“]?$")
)

// pathsIn lists the places that an answer names by path and line, or by a
// path of its own in a folder; a line of 0 is not said. Code blocks, links to
// the web and the rest of an address are left out.
func pathsIn(answer string) (places []Source) {
	for _, b := range blocksOf(answer) {
		if b.kind == code {
			continue
		}
		text := answer[b.start:b.end]
		for _, at := range placeText.FindAllStringSubmatchIndex(text, -1) {
			name, line := text[at[2]:at[3]], 0
			if at[4] >= 0 {
				line, _ = strconv.Atoi(text[at[4]:at[5]]) // its digits are bounded
			}
			if strings.HasPrefix(name, "/") || strings.HasSuffix(text[:at[2]], ":") && strings.Contains(name, "//") {
				continue // a part of an address, or a file outside the notes
			}
			if at[4] < 0 && !strings.Contains(name, "/") && !restsOn.MatchString(text[:at[2]]) {
				continue // the name of a file that may come to be
			}
			places = append(places, Source{Path: name, Line: line, EndLine: line})
		}
	}
	return places
}

// exists tells whether a place that an answer names is in the notes.
func (d *desk) exists(named Source) bool {
	vaults := []string{""}
	for _, s := range d.sources {
		if !slices.Contains(vaults, s.Vault) {
			vaults = append(vaults, s.Vault)
		}
		if named.Line == 0 && (path.Base(s.Path) == named.Path || strings.Contains(s.Text, named.Path)) {
			return true // its name alone, or a note speaks of it
		}
		if s.Path == named.Path && (named.Line == 0 || named.Line >= s.Line && named.Line <= s.EndLine) {
			return true
		}
	}
	if d.reread == nil {
		return false
	}
	named.Line = max(1, named.Line)
	named.EndLine = named.Line
	return slices.ContainsFunc(vaults, func(vault string) bool {
		named.Vault = vault
		_, ok := d.reread(named)
		return ok
	})
}

// speaksOf tells whether a path was said before the answer: by the user, by a
// step or by what it brought.
func (t *turn) speaksOf(name string) bool {
	if strings.Contains(t.question, name) {
		return true
	}
	return slices.ContainsFunc(t.found, func(f finding) bool {
		return strings.Contains(string(f.step.Input), name) || strings.Contains(f.result.Text, name)
	})
}
