package notes

import (
	"strings"

	"lifehub/internal/pattern"
)

// propertyLine is "key:: value" on its own line, as Logseq and the
// Dataview plugin have it, also as a list item.
var propertyLine = pattern.Lazy(`^[ \t]*(?:[-*+][ \t]+)?([\pL_][\pL\pN_-]{0,40})::[ \t]+(\S.*)$`)

// readProperties reads those above all other text into Front, where front
// matter does not say otherwise, and tags wherever they stand.
func (n *Note) readProperties(lines lineIndex, code map[int]bool) {
	if !strings.Contains(lines.body, "::") {
		return
	}
	head := true // nothing but properties so far
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
		if key == "tags" || key == "tag" {
			n.addTags(namesIn(value, ",", "[]#/"))
		}
		if _, said := n.Front[key]; head && !said {
			if n.Front == nil {
				n.Front = map[string]any{}
			}
			n.Front[key] = value
			n.Untrusted = n.Untrusted || isSource(key)
		}
	}
}
