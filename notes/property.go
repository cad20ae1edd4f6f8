package notes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
)

// propertyLine matches "key:: value" on its own line or as a list item, the
// syntax of Logseq and of the Dataview plugin.
var propertyLine = regexp.MustCompile(`^[ \t]*(?:[-*+][ \t]+)?([\pL_][\pL\pN_-]*)::[ \t]+(\S.*)$`)

// readProperties adds the properties above all other text to Front, unless front
// matter has the same key, and tags from anywhere.
func (n *Note) readProperties(lines lineIndex, code map[int]bool) {
	if !strings.Contains(lines.body, "::") {
		return
	}
	head := true // only properties so far
	for line := lines.first; line <= lines.last(); line++ {
		text := lines.text(line)
		if strings.TrimSpace(text) == "" {
			continue
		}
		var m []string
		if strings.Contains(text, "::") && !code[line] && len(text) < maxLink {
			m = propertyLine.FindStringSubmatch(text)
		}
		if head = head && m != nil; m == nil {
			continue
		}
		key, value := strings.ToLower(m[1]), strings.TrimSpace(m[2])
		switch {
		case key == "tags", key == "tag":
			n.addTags(namesIn(value, ",", "[]#/"))
		case key == "id":
			n.IDs = append(n.IDs, idScheme+value)
		}
		if _, known := n.Front[key]; head && !known {
			if n.Front == nil {
				n.Front = map[string]any{}
			}
			n.Front[key] = value
			n.Untrusted = n.Untrusted || isSource(key)
		}
	}
}

// idScheme is the beginning of a link to what has an id: a note or heading of org-roam, a block of Logseq.
const idScheme = "id:"

// blockReference matches Logseq's link to a block.
var blockReference = regexp.MustCompile(`^\(\(([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\)\)`)

// ReferredID returns the name "id:…" that a link ((…)) at the start of a text refers to, and the length of the
// link; it has none if it is not one.
func ReferredID(text string) (id string, size int) {
	if found := blockReference.FindStringSubmatch(text[:min(len(text), maxLink)]); found != nil {
		return idScheme + found[1], len(found[0])
	}
	return "", 0
}

// stampInName matches the id at the start of a note's name in a Zettelkasten.
var stampInName = regexp.MustCompile(`^\d{12}(?:\d\d)?(?:\D|$)`)

// readIDs adds the id of the front matter and that in the note's name, which links name also without "id:".
func (n *Note) readIDs() {
	if value := n.property("id"); value != nil {
		id := strings.TrimSpace(fmt.Sprint(value))
		n.IDs = append(n.IDs, idScheme+id)
		if len(id) >= len("20060102") { // a shorter one is rather the title of another note
			n.IDs = append(n.IDs, id)
		}
	}
	if stamp := stampInName.FindString(NameOf(n.Path)); stamp != "" {
		n.IDs = append(n.IDs, strings.TrimRightFunc(stamp, func(r rune) bool { return r < '0' || r > '9' }))
	}
	slices.Sort(n.IDs)
	n.IDs = slices.Compact(n.IDs)
}

// TextOf returns the first line of the block or heading that has one of the note's IDs, without its mark; "" if
// the id is that of the note.
func (n Note) TextOf(id string) string {
	id, isID := strings.CutPrefix(id, idScheme)
	lines := strings.Split(n.Text, "\n")
	for at, line := range lines {
		if !isID || !strings.Contains(line, "::") {
			continue
		}
		m := propertyLine.FindStringSubmatch(line)
		if m == nil || !strings.EqualFold(m[1], "id") || text.Key(strings.TrimSpace(m[2])) != text.Key(id) {
			continue
		}
		for ; at >= 0; at-- {
			bare := strings.TrimLeft(lines[at], "#-*+ \t")
			if bare != strings.TrimLeft(lines[at], " \t") && !propertyLine.MatchString(lines[at]) {
				return strings.TrimSpace(bare)
			}
		}
	}
	return ""
}
