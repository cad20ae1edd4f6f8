package notes

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"lifehub/internal/text"
)

// Parse reads a note from its bytes, as [Folder.Raw] returns them. It takes any
// bytes: what cannot be understood is named in Problems, and the rest is read.
func Parse(entry Entry, raw []byte) Note {
	n := Note{Entry: entry}
	if IsPDF(entry.Path) {
		n.readPages(raw)
		return n
	}
	n.Text = n.decode(raw)
	front, body := splitFront(n.Text)
	n.BodyLine = 1 + strings.Count(n.Text[:len(n.Text)-len(body)], "\n")
	n.try("front matter", func() { n.readFront(front) })
	n.try("text", func() { n.readBody(body) })
	if n.Exported {
		n.Tasks = nil // those in it are copies
	}
	n.Title = n.title()
	n.Aliases = append(namesIn(n.Front["aliases"], ",", "[]\"'"), namesIn(n.Front["alias"], ",", "[]\"'")...)
	n.Date = n.date()
	n.try("dates", func() { n.readDates(body) })
	slices.Sort(n.Tags)
	n.Tags = slices.Compact(n.Tags)
	return n
}

// readPages takes in the pages of a PDF, a line each. What is in them is no
// markdown: nothing there is a link, a tag or a task.
func (n *Note) readPages(raw []byte) {
	if broken := bytes.Count(raw, []byte{0}); broken > 0 {
		n.problem("%s could not be read whole", text.Count(broken, "page"))
		raw = bytes.ReplaceAll(raw, []byte{0}, nil)
	}
	n.Text, n.BodyLine, n.Untrusted = n.decode(raw), 1, true
	n.Title, n.Date = NameOf(n.Path), n.date()
	for line := range strings.Count(n.Text, "\n") {
		n.Headings = append(n.Headings, Heading{Level: 1, Line: line + 1}) // each page is a section
	}
}

// try keeps a fault of a parser from taking the whole note, and all the
// others, with it.
func (n *Note) try(what string, read func()) {
	defer func() {
		if fault := recover(); fault != nil {
			n.problem("its %s could not be understood (%v)", what, fault)
		}
	}()
	read()
}

func (n *Note) problem(format string, args ...any) {
	n.Problems = append(n.Problems, fmt.Sprintf(format, args...))
}

// decode makes valid UTF-8 with LF line ends of a file's bytes.
func (n *Note) decode(raw []byte) string {
	if decoded, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), raw); err == nil { // UTF-16, or UTF-8 with a mark
		raw = decoded
	}
	if !utf8.Valid(raw) {
		n.problem("it is not all UTF-8; the bytes that are not read as �")
		raw = bytes.ToValidUTF8(raw, []byte("�"))
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		n.problem("it holds NUL bytes; they read as �")
		raw = bytes.ReplaceAll(raw, []byte{0}, []byte("�"))
	}
	if bytes.IndexByte(raw, '\r') >= 0 {
		raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	}
	return string(raw)
}

func (n *Note) title() string {
	if title, ok := n.Front["title"].(string); ok && strings.TrimSpace(title) != "" {
		return strings.Join(strings.Fields(title), " ")
	}
	for _, h := range n.Headings {
		if h.Level == 1 && h.Text != "" {
			return h.Text
		}
	}
	return NameOf(n.Path)
}

// NameOf is a note's name by its path. Logseq writes the slash of a name as
// %2F or as three underscores.
func NameOf(notePath string) string {
	name := strings.TrimSuffix(path.Base(notePath), path.Ext(notePath))
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.ReplaceAll(name, "___", "/")
}
