package notes

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
)

var (
	orgHeading = regexp.MustCompile(`^(\*+)[ \t]+(.*?)((?:[ \t]+:(?:[\w@#%]+:)+)?)[ \t]*$`)
	orgKeyword = regexp.MustCompile(`^[ \t]*(?:#\+|:)([A-Za-z][\w-]*):(?:[ \t]+(.*))?$`)
	orgLink    = regexp.MustCompile(`\[\[([^\[\]\n]+)\](?:\[([^\[\]\n]+)\])?\]`)
	orgTime    = regexp.MustCompile(`[<\[](\d{4}-\d\d-\d\d[^<>\[\]\n]{0,40})[>\]]`)
	orgBlock   = regexp.MustCompile(`(?i)^[ \t]*#\+(begin|end)_(\w+)(?:[ \t]+([\w+-]+))?`)
)

// fromOrg converts an Org file to Markdown line by line, which preserves line
// numbers. It converts headings, tags, keywords, properties, links, dates and
// code blocks; the remaining syntax is similar enough.
func fromOrg(raw []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(raw) + len(raw)/16)
	file := WithLF(string(raw))
	code, drawer, own := "", false, orgPlaces(file)
	for i, line := range strings.Split(file, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if block := orgBlock.FindStringSubmatch(line); block != nil {
			kind := strings.ToLower(block[2])
			switch opens := strings.EqualFold(block[1], "begin"); {
			case opens && code == "" && (kind == "src" || kind == "example"):
				code = kind
				out.WriteString("```" + block[3])
				continue
			case !opens && code == kind:
				code = ""
				out.WriteString("```")
				continue
			case code == "": // other blocks, such as quotations, are text
				continue
			}
		}
		if code != "" {
			out.WriteString(line)
			continue
		}
		out.WriteString(orgLine(line, &drawer, own))
	}
	if code != "" {
		out.WriteString("\n```")
	}
	return out.Bytes()
}

// What a link in an Org file finds by its name there: a heading, without state and priority, and a target.
var (
	orgTitle = regexp.MustCompile(`(?m)^\*+[ \t]+(?:\p{Lu}{2,}[ \t]+)?(?:\[#\w+\][ \t]+)?(.*?)` +
		`(?:[ \t]+:[\w@#%:]+:)?[ \t]*$`)
	orgTarget = regexp.MustCompile(`(?m)<<([^<>\n]+)>>|^[ \t]*#\+(?i:name):[ \t]+(.*?)[ \t]*$`)
)

// orgPlaces returns the keys of the names that places in an Org file have.
func orgPlaces(file string) map[string]bool {
	own := map[string]bool{}
	if !strings.Contains(file, "[[") {
		return own
	}
	for _, m := range slices.Concat(orgTitle.FindAllStringSubmatch(file, -1),
		orgTarget.FindAllStringSubmatch(file, -1)) {
		own[text.Key(strings.Join(m[1:], ""))] = true
	}
	return own
}

// orgLine converts a line outside of code.
func orgLine(line string, drawer *bool, own map[string]bool) string {
	bare := strings.TrimSpace(line)
	if bare == "" {
		return line
	}
	switch {
	case line[0] == '*':
		if h := orgHeading.FindStringSubmatch(line); h != nil {
			text := strings.Repeat("#", min(len(h[1]), 6)) + " " + orgInline(h[2], own)
			for tag := range strings.FieldsFuncSeq(h[3], func(c rune) bool { return strings.ContainsRune(": \t", c) }) {
				text += " #" + strings.Trim(tag, "@#%")
			}
			return text
		}
	case strings.EqualFold(bare, ":properties:"):
		*drawer = true
		return ""
	case strings.EqualFold(bare, ":end:"):
		*drawer = false
		return ""
	case bare == "#" || strings.HasPrefix(bare, "# "): // a comment, which must not become a heading
		return orgInline(strings.TrimSpace(bare[1:]), own)
	case bare[0] == '#' || *drawer:
		if k := orgKeyword.FindStringSubmatch(line); k != nil {
			return orgProperty(strings.ToLower(k[1]), k[2])
		}
	}
	return orgInline(line, own)
}

// orgUnlisted matches the headings of a converted Org file whose subtrees are not in Org's agenda.
var orgUnlisted = regexp.MustCompile(`^COMMENT(?: |$)|(?:^| )#ARCHIVE(?: |$)`)

// dropUnlisted removes the tasks, in the order of their lines, that are in a subtree that is not in Org's agenda.
func (n *Note) dropUnlisted() {
	next, level := 0, 0 // level is that of the subtree; 0: none
	n.Tasks = slices.DeleteFunc(n.Tasks, func(t Task) bool {
		for ; next < len(n.Headings) && n.Headings[next].Line <= t.Line; next++ {
			h := n.Headings[next]
			if level > 0 && h.Level > level {
				continue
			}
			if level = 0; orgUnlisted.MatchString(h.Text) || h.Line == t.Line && orgUnlisted.MatchString(t.Text) {
				level = h.Level
			}
		}
		return level > 0
	})
}

// orgProperty converts a keyword or property.
func orgProperty(key, value string) string {
	value = orgTime.ReplaceAllString(strings.TrimSpace(value), "$1")
	if value == "" {
		return ""
	}
	switch key {
	case "filetags":
		key, value = "tags", strings.Join(strings.FieldsFunc(value,
			func(c rune) bool { return strings.ContainsRune(": \t", c) }), ", ")
	case "roam_refs":
		key = "source"
	case "roam_aliases":
		key, value = "alias", strings.Trim(strings.ReplaceAll(value, `" "`, `, `), `"`)
	case "date", "created":
		key, value = "date", value[:min(len(value), len("2006-01-02"))]
	}
	return key + ":: " + value
}

func orgInline(line string, own map[string]bool) string {
	if !strings.ContainsAny(line, "[<") {
		return line
	}
	line = orgTime.ReplaceAllString(line, "$1")
	return orgLink.ReplaceAllStringFunc(line, func(link string) string {
		found := orgLink.FindStringSubmatch(link)
		target, shown := strings.TrimPrefix(found[1], "file:"), found[2]
		target, _, _ = strings.Cut(target, "::") // drop the location within the file
		switch {
		case strings.HasPrefix(target, "*"):
			target = "#" + target[1:]
		case target == found[1] && own[text.Key(target)]:
			target = "#" + target
		}
		switch {
		case strings.Contains(target, "://") && shown == "":
			return "<" + found[1] + ">"
		case strings.Contains(target, "://"):
			return "[" + shown + "](" + found[1] + ")"
		case shown != "":
			return "[[" + target + "|" + shown + "]]"
		}
		return "[[" + target + "]]"
	})
}
