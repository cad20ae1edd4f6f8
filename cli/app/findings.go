package app

import (
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/internal/text"
)

// findingNames are one and several findings of a kind in words.
var findingNames = map[tools.FindingKind][2]string{
	tools.DeadLink: {"dead link", "dead links"}, tools.SameTitle: {"title of several notes", "titles of several notes"},
	tools.Copy:       {"copy of a sync program", "copies of a sync program"},
	tools.Overdue:    {"task overdue for a month", "tasks overdue for a month"},
	tools.Orphan:     {"note without links", "notes without links"},
	tools.Unreadable: {"file that cannot be read", "files that cannot be read"},
}

// FindingsText returns findings, each kind below a heading. head is the format of that, line of a place and what was
// found there, with the places of notes as shown by named and texts by quoted.
func FindingsText(found []tools.Finding, head, line string, named, quoted func(string) string) string {
	if len(found) == 0 {
		return "Nothing to repair.\n"
	}
	var b strings.Builder
	for i, f := range found {
		if i == 0 || f.Kind != found[i-1].Kind {
			fmt.Fprintf(&b, strings.Repeat("\n", min(1, i))+head, findingsHead(f.Kind, found))
		}
		f.Text = quoted(f.Text)
		fmt.Fprintf(&b, line, named(FindingPlace(f)), findingWords(f, named))
	}
	return b.String()
}

// findingsHead returns the number of findings of a kind in words: "3 dead links".
func findingsHead(kind tools.FindingKind, found []tools.Finding) string {
	n := len(slices.DeleteFunc(slices.Clone(found), func(f tools.Finding) bool { return f.Kind != kind }))
	if n == 1 {
		return "1 " + findingNames[kind][0]
	}
	return fmt.Sprintf("%d %s", n, findingNames[kind][1])
}

// FindingPlace returns where a finding is: its note, and its line if it has one.
func FindingPlace(f tools.Finding) string {
	if f.Line == 0 {
		return f.Path
	}
	return agent.PlaceName(f.Path, f.Line)
}

// findingWords says what was found there, with the paths of other notes as shown by named.
func findingWords(f tools.Finding, named func(path string) string) string {
	near := ""
	for i, path := range f.Near {
		if i > 0 {
			near += ", "
		}
		near += named(path)
	}
	switch said := text.OneLine(f.Text); {
	case f.Kind == tools.DeadLink && near != "":
		return said + ", nearest: " + near
	case f.Kind == tools.SameTitle:
		return said + ", also: " + near
	case f.Kind == tools.Copy:
		return "of " + near
	default:
		return said
	}
}
