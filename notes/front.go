package notes

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"

	"lifehub/internal/userfile"
)

// MaxFront bounds the length of front matter in bytes. A longer block is treated
// as text.
const MaxFront = 64 << 10

// ExportedFront is the front matter key of a conversation exported as a note.
// Such a note can be read, but is not indexed: an answer must not become the
// source of the next one.
const (
	ExportedFront = "---\n" + exportedKey + ": " + exportedValue + "\n---\n\n"
	exportedKey   = "lifehub"
	exportedValue = "conversation"
)

// frontMatter is the metadata block at the start of a note.
type frontMatter struct {
	fence string // "---" for YAML, "+++" for TOML, "" if there is none
	text  string // text between the fences; if the closing one is missing or too late, all text that may be meant
	long  bool   // the closing fence is too late
}

// splitFront separates the front matter from the body. An opening fence without a
// closing one is a thematic break, not front matter.
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
			return frontMatter{fence: fence, text: rest[:size]}, rest[size+len(line):]
		}
		if size += len(line); size > MaxFront {
			return frontMatter{text: rest, long: strings.Contains(rest, "\n"+fence+"\n")}, text
		}
	}
	return frontMatter{text: rest}, text
}

// Front separates and parses the front matter of a text; values is nil if there
// is none. Unlike Parse, it returns an error if the front matter is not closed or
// cannot be parsed.
func Front(raw []byte) (values map[string]any, body string, err error) {
	var n Note
	front, body := splitFront(n.decode(raw))
	if front.fence == "" && front.text != "" {
		n.problem("its front matter is not closed within %d KiB", MaxFront>>10)
	}
	n.try("front matter", func() { values, err = front.parse() })
	if len(n.Problems) > 0 {
		err = errors.New(strings.Join(n.Problems, "; "))
	}
	return values, body, err
}

// readFront sets Front and the fields derived from it.
func (n *Note) readFront(front frontMatter) {
	n.Untrusted = sourceLine.MatchString(front.text) // corrected below if the front matter can be parsed; the title of a clipping is often invalid YAML
	if front.long {
		n.problem("its front matter is longer than %d KiB and reads as text", MaxFront>>10)
	}
	values, err := front.parse()
	if err != nil {
		n.problem("its front matter cannot be read: %v", err)
		return
	}
	n.Front = values
	if front.fence != "" {
		n.Untrusted = false
	}
	for key, value := range values {
		n.Untrusted = n.Untrusted || isSource(key) && filled(value)
	}
	n.Exported = values[exportedKey] == exportedValue
	for _, key := range []string{"tags", "tag"} {
		n.addTags(namesIn(values[key], ", \t\n", "#/"))
	}
}

func (n *Note) addTags(tags []string) {
	for _, tag := range tags {
		n.Tags = append(n.Tags, strings.ToLower(tag))
	}
}

// isSource reports whether a key names the origin of a note's text.
func isSource(key string) bool {
	return strings.EqualFold(key, "source") || strings.EqualFold(key, "url")
}

// sourceLine matches a key that names a source, in YAML or TOML.
var sourceLine = regexp.MustCompile(`(?im)^[ \t]*["']?(?:source|url)["']?[ \t]*[:=][ \t]*[^ \t\n]`)

func (f frontMatter) parse() (map[string]any, error) {
	var values map[string]any
	var err error
	switch {
	case f.fence == "" || strings.TrimSpace(f.text) == "":
	case f.fence == "+++":
		if err = userfile.CheckTOML("front matter", []byte(f.text)); err == nil {
			err = toml.Unmarshal([]byte(f.text), &values)
		}
	default:
		if err = userfile.CheckWritten("front matter", []byte(f.text)); err == nil {
			err = yaml.Unmarshal([]byte(f.text), &values)
		}
	}
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, errors.New(first)
	}
	return values, nil
}

// filled reports whether a front matter value is not empty.
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

// namesIn returns the names in a value of front matter or of a property, which is
// a list or a text with separators. markup lists characters to trim from names.
func namesIn(value any, separators, markup string) (names []string) {
	switch v := value.(type) {
	case string:
		names = strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(separators, r) })
	case []any:
		for _, item := range v {
			switch item.(type) {
			case string, uint64, int64, float64: // a year is a valid tag
				names = append(names, fmt.Sprint(item))
			}
		}
	}
	for i, name := range names {
		names[i] = strings.Trim(name, markup+" \t")
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
