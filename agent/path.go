package agent

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lifehub/pattern"
)

var (
	// placeText is note.md:12, note.md:12-14, note.md#L12 or "note.md, line 12",
	// also inside a code span.
	placeText = pattern.Lazy(`([^\s"'“”„«»()<>\[\]|:*#` + "`" + `]+\.(?:md|markdown))(?:(?::|#L|,? (?:on |in )?(?:lines?|Zeilen?) )(\d{1,7})(?:[-–]L?(\d{1,7}))?)?`)
	// restsOn are the words after which a bare name is said to be a source.
	restsOn = pattern.Lazy("(?i)(?:according to|see|from|laut|siehe|aus)\\s+(?:the |your |note |der |die )*[`\"“]?$")
)

// namedPlace is a place that an answer names; a line of 0 is not said.
type namedPlace struct {
	path          string
	line, endLine int
	before        string // what the answer says before it: the path may begin there
}

// pathsIn lists the places that an answer names by path and line, or by a
// path of its own in a folder. Code blocks, links to the web and the rest of
// an address are left out.
func pathsIn(answer string) (places []namedPlace) {
	for _, b := range blocksOf(answer) {
		if b.kind == code {
			continue
		}
		text := answer[b.start:b.end]
		for _, at := range placeText.FindAllStringSubmatchIndex(text, -1) {
			name, line, endLine := text[at[2]:at[3]], 0, 0
			if at[4] >= 0 {
				line, _ = strconv.Atoi(text[at[4]:at[5]]) // its digits are bounded
				endLine = line
			}
			if at[6] >= 0 {
				endLine, _ = strconv.Atoi(text[at[6]:at[7]])
			}
			if strings.HasPrefix(name, "/") || strings.HasSuffix(text[:at[2]], ":") && strings.Contains(name, "//") {
				continue // a part of an address, or a file outside the notes
			}
			if at[4] < 0 && !strings.Contains(name, "/") && !restsOn.MatchString(text[:at[2]]) {
				continue // the name of a file that may come to be
			}
			places = append(places, namedPlace{path.Clean(name), line, endLine, text[max(0, at[2]-longestPath):at[2]]})
		}
	}
	return places
}

// longestPath bounds a path that is looked for, in bytes.
const longestPath = 200

// exists tells whether a place that an answer names is in the notes. A path
// with blanks begins some words earlier than it seems to.
func (d *desk) exists(named namedPlace) bool {
	for {
		if d.holds(named) {
			return true
		}
		before, found := strings.CutSuffix(named.before, " ")
		if !found || strings.ContainsAny(named.before[max(0, len(before)-1):], "\n:;,!?") {
			return false
		}
		start := strings.LastIndexFunc(before, func(r rune) bool { return strings.ContainsRune(" \n\"'`“„«([", r) })
		if start >= 0 {
			_, size := utf8.DecodeRuneInString(before[start:])
			start += size
		}
		start = max(0, start)
		named.before, named.path = before[:start], before[start:]+" "+named.path
	}
}

// holds tells whether a place is in the notes just as it is named.
func (d *desk) holds(named namedPlace) bool {
	vaults := []string{""}
	for _, s := range d.sources {
		if !slices.Contains(vaults, s.Vault) {
			vaults = append(vaults, s.Vault)
		}
		if named.line == 0 && (path.Base(s.Path) == named.path || strings.Contains(s.Text, named.path)) {
			return true // its name alone, or a note speaks of it
		}
		if s.Path == named.path && (named.line == 0 || named.line >= s.Line && named.endLine <= s.EndLine && named.endLine >= named.line) {
			return true
		}
	}
	if d.reread == nil {
		return false
	}
	return slices.ContainsFunc(vaults, func(vault string) bool {
		for _, line := range []int{max(1, named.line), max(1, named.endLine)} {
			if _, ok := d.reread(Source{Path: named.path, Vault: vault, Line: line, EndLine: line}); !ok {
				return false
			}
		}
		return named.endLine >= named.line
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
