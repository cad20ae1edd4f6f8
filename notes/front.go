package notes

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
)

// maxFront bounds front matter, in bytes: beyond it, it is no front matter.
const maxFront = 64 << 10

// frontMatter is the block of settings at the head of a note.
type frontMatter struct {
	fence string // "---": YAML, "+++": TOML, "": there is none
	text  string // between the fences
}

// splitFront cuts the front matter off a note. A fence that is never closed
// is no front matter but a line across the page.
func splitFront(text string) (front frontMatter, body string) {
	first, rest, _ := strings.Cut(text, "\n")
	fence := strings.TrimRight(first, " \t")
	if fence != "---" && fence != "+++" {
		return frontMatter{}, text
	}
	size := 0
	for line := range strings.Lines(rest) {
		switch end := strings.TrimRight(line, " \t\n"); {
		case end == fence, fence == "---" && end == "...":
			return frontMatter{fence, rest[:size]}, rest[size+len(line):]
		}
		if size += len(line); size > maxFront {
			break
		}
	}
	return frontMatter{}, text
}

// readFront fills Front and what follows from it.
func (n *Note) readFront(front frontMatter) {
	values, err := front.parse()
	if err != nil {
		n.problem("its front matter cannot be read: %v", err)
		return
	}
	n.Front = values
	n.Foreign = filled(values["source"]) || filled(values["url"])
	n.Tags = append(frontTags(values["tags"]), frontTags(values["tag"])...)
}

func (f frontMatter) parse() (map[string]any, error) {
	var values map[string]any
	var err error
	switch {
	case strings.TrimSpace(f.text) == "":
	case f.fence == "+++":
		err = toml.Unmarshal([]byte(f.text), &values)
	case tooDeep(f.text):
		err = fmt.Errorf("it is nested too deep")
	default:
		err = yaml.Unmarshal([]byte(f.text), &values)
	}
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%s", first)
	}
	return values, nil
}

// tooDeep tells brackets that no person wrote, before the YAML parser has to
// follow them down.
func tooDeep(text string) bool {
	return strings.Count(text, "[")+strings.Count(text, "{") > 1000 || strings.Count(text, "*") > 1000
}

// filled tells whether a front matter value says anything.
func filled(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		return len(v) > 0
	}
	return true
}

// frontTags reads tags as people write them: a list, or words with commas or
// blanks between, with or without #.
func frontTags(value any) []string {
	var tags []string
	switch v := value.(type) {
	case string:
		for _, word := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
			if tag := strings.ToLower(strings.Trim(word, "#/")); tag != "" {
				tags = append(tags, tag)
			}
		}
	case []any:
		for _, item := range v {
			if tag := strings.ToLower(strings.Trim(strings.TrimSpace(fmt.Sprint(item)), "#/")); item != nil && tag != "" {
				tags = append(tags, tag)
			}
		}
	}
	return tags
}
