package notes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"

	"lifehub/internal/pattern"
	"lifehub/internal/userfile"
)

// MaxFront bounds front matter, in bytes: beyond it, it is no front matter.
const MaxFront = 64 << 10

// ExportedFront is the front matter of a conversation that was exported as a
// note. Such a note can be read, and is left out of the index: what was
// answered is no source for the next answer.
const (
	ExportedFront = "---\n" + exportedKey + ": " + exportedValue + "\n---\n\n"
	exportedKey   = "lifehub"
	exportedValue = "conversation"
)

// frontMatter is the block of settings at the head of a note.
type frontMatter struct {
	fence string // "---": YAML, "+++": TOML, "": there is none
	text  string // between the fences; behind one that is never closed, or too late, all that may be meant
	long  bool   // it is closed too late
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
			return frontMatter{fence: fence, text: rest[:size]}, rest[size+len(line):]
		}
		if size += len(line); size > MaxFront {
			return frontMatter{text: rest, long: strings.Contains(rest, "\n"+fence+"\n")}, text
		}
	}
	return frontMatter{text: rest}, text
}

// Front parts a text from the front matter at its head, and reads that; nil: it
// has none. What a note would pass over is an error here: front matter that is
// never closed, or cannot be read.
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

// readFront fills Front and what follows from it.
func (n *Note) readFront(front frontMatter) {
	n.Untrusted = sourceLine.MatchString(front.text) // unless it can be read, and says otherwise: a clipper's title is enough to break it
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

// isSource reports whether a key names where the words of a note come from.
func isSource(key string) bool {
	return strings.EqualFold(key, "source") || strings.EqualFold(key, "url")
}

// sourceLine is how a source is named in YAML and in TOML.
var sourceLine = pattern.Lazy(`(?im)^[ \t]*["']?(?:source|url)["']?[ \t]*[:=][ \t]*[^ \t\n]`)

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

// filled reports whether a front matter value says anything.
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

// namesIn are the names in a value of front matter or of a property: a list, or
// a text with separators between them. Around a name may stand signs of markup.
func namesIn(value any, separators, markup string) (names []string) {
	switch v := value.(type) {
	case string:
		names = strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(separators, r) })
	case []any:
		for _, item := range v {
			switch item.(type) {
			case string, uint64, int64, float64: // years make good tags
				names = append(names, fmt.Sprint(item))
			}
		}
	}
	for i, name := range names {
		names[i] = strings.Trim(name, markup+" \t")
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
