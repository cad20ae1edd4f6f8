package notes

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"

	"lifehub/internal/files"
	"lifehub/internal/text"
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
	fence string // "---" for YAML, "+++" for TOML, "{" for JSON, "" if there is none
	text  string // text between the fences; if the closing one is missing or too late, all text that may be meant
	long  bool   // the closing fence is too late
}

// openFence matches the first line of front matter. A word after the fence names its language.
var openFence = regexp.MustCompile(`^(---|\+\+\+)[ \t]*(?i:(yaml|toml|json))?[ \t]*$`)

// splitFront separates the front matter from the body. An opening fence without a
// closing one is a thematic break, not front matter.
func splitFront(text string) (front frontMatter, body string) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimSpace(first) == "{" {
		return splitJSON(text)
	}
	open := openFence.FindStringSubmatch(first)
	if open == nil {
		return frontMatter{}, text
	}
	fence, kind := open[1], open[1]
	if strings.EqualFold(open[2], "toml") {
		kind = "+++"
	}
	size := 0
	for line := range strings.Lines(rest) {
		switch end := strings.TrimRight(line, " \t\n"); {
		case end == fence, fence == "---" && end == "...":
			return frontMatter{fence: kind, text: rest[:size]}, rest[size+len(line):]
		}
		if size += len(line); size > MaxFront {
			return frontMatter{text: rest, long: strings.Contains(rest, "\n"+fence+"\n")}, text
		}
	}
	return frontMatter{text: rest}, text
}

// splitJSON separates front matter in JSON, as Hugo has it. An object that is the whole note is its text.
func splitJSON(text string) (front frontMatter, body string) {
	const end = "\n}\n"
	at := strings.Index(text[:min(len(text), MaxFront)], end) + len(end)
	if at < len(end) || !json.Valid([]byte(text[:at])) || strings.TrimSpace(text[at:]) == "" {
		return frontMatter{}, text
	}
	return frontMatter{fence: "{", text: text[:at]}, text[at:]
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

// readFront sets Front and the fields derived from it, and returns where the text of the note begins: after the front
// matter, or before it if it has lines that are no properties.
func (n *Note) readFront(front frontMatter, after int) (start int) {
	n.Untrusted = sourceLine.MatchString(front.text) // corrected below if the front matter can be parsed
	if front.long {
		n.problem("its front matter is longer than %d KiB and reads as text", MaxFront>>10)
	}
	values, unread, err := front.read()
	start = after
	switch {
	case err == nil && front.fence != "" && (len(values) > 0 || strings.TrimSpace(front.text) == ""):
		n.Untrusted = false
	case len(values) == 0: // a block of text between two lines
		return 0
	case len(unread) > 0:
		start = 0
		n.problem("line %s of its front matter is no property and reads as text", joined(unread))
	}
	n.Front = values
	for key, value := range values {
		n.Untrusted = n.Untrusted || isSource(key) && filled(value)
	}
	n.Exported = values[exportedKey] == exportedValue
	for _, key := range []string{"tags", "tag"} {
		n.addTags(namesIn(n.property(key), ", \t\n", "#/[]\"'"))
	}
	return start
}

// property returns a value of the front matter, whatever the case of its key.
func (n *Note) property(key string) any {
	if value, ok := n.Front[key]; ok {
		return value
	}
	for _, each := range slices.Sorted(maps.Keys(n.Front)) {
		if strings.EqualFold(each, key) {
			return n.Front[each]
		}
	}
	return nil
}

func joined(numbers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ", ")
}

// readFrontLinks adds the wikilinks in front matter, as Obsidian has them in properties.
func (n *Note) readFrontLinks(front string) {
	lines := newLineIndex(front, 1)
	for i := 0; i < len(front); i++ {
		if link, spot, end := readLink(front, i); end > 0 && link.Wiki {
			link.Line = lines.at(i)
			n.addLink(link, spot, n.Text)
			i = end - 1
		}
	}
}

func (n *Note) addTags(tags []string) {
	for _, tag := range tags {
		n.Tags = append(n.Tags, text.Key(tag))
	}
}

// isSource reports whether a key names the origin of a note's text.
func isSource(key string) bool {
	return strings.EqualFold(key, "source") || strings.EqualFold(key, "url")
}

// sourceLine matches a key that names a source, in YAML or TOML.
var sourceLine = regexp.MustCompile(`(?im)^[ \t]*["']?(?:source|url)["']?[ \t]*[:=][ \t]*[^ \t\n]`)

// read returns the properties. If they cannot be parsed as a whole, err says why, each property that can be read alone
// is read, and unread are the lines of the note that belong to none.
func (f frontMatter) read() (values map[string]any, unread []int, err error) {
	values, err = f.parse()
	if err == nil && !f.hides(values) {
		return values, nil, nil
	}
	whole := values
	if err == nil { // a value of the whole may hold other properties
		whole = nil
	}
	values = map[string]any{}
	var entry []string
	add := func() {
		if len(entry) > 0 {
			f.addEntry(values, entry, whole)
		}
		entry = nil
	}
	for i, line := range strings.Split(strings.TrimSuffix(f.text, "\n"), "\n") {
		bare := strings.TrimSpace(line)
		switch {
		case f.entry().MatchString(line):
			add()
			entry = []string{line}
		case bare == "" || bare[0] == '#':
		case len(entry) > 0 && (line[0] == ' ' || line[0] == '\t' || line[0] == '-'):
			entry = append(entry, line)
		default:
			add()
			unread = append(unread, i+2)
		}
	}
	add()
	return values, unread, err
}

var (
	yamlEntry = regexp.MustCompile(`^("[^"\n]*"|'[^'\n]*'|[^\s"'#:{}\[\],&*!|>%@` + "`" +
		`-][^:\n]*?)[ \t]*:(?:[ \t]+(\S.*)?|$)`)
	tomlEntry = regexp.MustCompile(`^("[^"\n]*"|'[^'\n]*'|[\w.-]+)[ \t]*=[ \t]*(\S.*)?$`)
)

// entry matches the first line of a property: its key and its value, as written.
func (f frontMatter) entry() *regexp.Regexp {
	if f.fence == "+++" {
		return tomlEntry
	}
	return yamlEntry
}

// hides reports whether a property that was written is none: YAML takes "tags: #a" for a comment, and the lines behind
// a quote that is not closed for a part of its value.
func (f frontMatter) hides(values map[string]any) bool {
	if f.fence != "---" {
		return false
	}
	for line := range strings.Lines(f.text) {
		m := yamlEntry.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || m[1] == "<<" {
			continue
		}
		if value, read := values[strings.Trim(m[1], `"'`)]; !read || value == nil && strings.HasPrefix(m[2], "#") {
			return true
		}
	}
	return false
}

// addEntry adds the property in lines: parsed as part of the whole, alone, or else as text. A key may occur several
// times.
func (f frontMatter) addEntry(values map[string]any, lines []string, whole map[string]any) {
	m := f.entry().FindStringSubmatch(lines[0])
	key := strings.Trim(m[1], `"'`)
	value := whole[key]
	if value == nil {
		alone, _ := frontMatter{fence: f.fence, text: strings.ReplaceAll(strings.Join(lines, "\n"), "\t", "  ")}.parse()
		value = alone[key]
	}
	if value == nil { // as text
		var items []any
		for _, line := range append([]string{m[2]}, lines[1:]...) {
			line = strings.TrimSpace(line)
			if item := strings.Trim(strings.TrimPrefix(line, "- "), ` "'`); item != "" {
				items = append(items, item)
			}
		}
		if value = any(items); len(items) == 1 {
			value = items[0]
		}
	}
	before, again := values[key]
	if again && filled(before) {
		value = append(listOf(before), listOf(value)...)
	}
	values[key] = value
}

// listOf returns the items of a value of front matter.
func listOf(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	if !filled(value) {
		return nil
	}
	return []any{value}
}

func (f frontMatter) parse() (map[string]any, error) {
	var values map[string]any
	var err error
	switch {
	case f.fence == "" || strings.TrimSpace(f.text) == "":
	case f.fence == "+++":
		if err = files.CheckTOML("front matter", []byte(f.text)); err == nil {
			err = toml.Unmarshal([]byte(f.text), &values)
		}
	default: // JSON is YAML too
		if err = files.CheckWritten("front matter", []byte(f.text)); err == nil {
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
