package notes

import (
	"regexp"
	"strings"
)

// propertyLine matches "key:: value" on its own line or as a list item, the
// syntax of Logseq and of the Dataview plugin.
var propertyLine = regexp.MustCompile(`^[ \t]*(?:[-*+][ \t]+)?([\pL_][\pL\pN_-]{0,40})::[ \t]+(\S.*)$`)

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
		case key == "id" && kindOf(n.Path) == orgMode:
			n.IDs = append(n.IDs, "id:"+value)
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
