package notes

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"lifehub/internal/text"
	"lifehub/notes/pdf"
)

// Parse parses the bytes of a note, as returned by [Folder.Raw]. It accepts any
// input: parts that cannot be parsed are listed in Problems, and the rest is
// read.
func Parse(entry Entry, raw []byte) Note {
	n := Note{Entry: entry}
	if IsPaged(entry.Path) {
		n.readPages(raw)
		return n
	}
	n.Text = n.decode(raw)
	front, body := splitFront(n.Text)
	n.try("front matter", func() { body = n.Text[n.readFront(front, len(n.Text)-len(body)):] })
	n.readFrontLinks(n.Text[:len(n.Text)-len(body)])
	n.BodyLine = 1 + strings.Count(n.Text[:len(n.Text)-len(body)], "\n")
	n.try("text", func() { n.readBody(body) })
	n.Untrusted = n.Untrusted || kindOf(n.Path) == canvasFile || kindOf(n.Path) == document // a file of another program
	if n.CopyOf != "" {
		n.problem("a sync program's copy of %s, searched last and without its tasks", n.CopyOf)
	}
	if n.Exported || n.CopyOf != "" {
		n.Tasks = nil // copies of tasks that are in the original notes
	}
	n.Title = n.title()
	n.Aliases = append(namesIn(n.property("aliases"), ",", "[]\"'"), namesIn(n.property("alias"), ",", "[]\"'")...)
	n.readIDs()
	n.Date = n.date()
	n.try("dates", func() { n.readDates(body) })
	slices.Sort(n.Tags)
	n.Tags = slices.Compact(n.Tags)
	return n
}

// ByOCR is the heading of a page that was read from a picture, where letters and
// digits may be wrong.
const ByOCR = "read by OCR"

// readPages reads the lines of a PDF or an image, one per page. Its text is not
// Markdown, so it has no links, tags or tasks.
func (n *Note) readPages(raw []byte) {
	if broken := bytes.Count(raw, []byte{0}); broken > 0 {
		n.problem("%s could not be read whole", text.Count(broken, "page"))
		raw = bytes.ReplaceAll(raw, []byte{0}, nil)
	}
	n.Text, n.BodyLine, n.Untrusted = n.decode(raw), 1, true
	n.Title, n.Date = NameOf(n.Path), n.date()
	for line := range strings.Lines(n.Text) {
		page := Heading{Level: 1, Line: len(n.Headings) + 1} // each page is a section
		if strings.HasPrefix(line, pdf.ScanMark) {
			page.Text = ByOCR
		}
		n.Headings = append(n.Headings, page)
	}
	n.Text = strings.ReplaceAll(n.Text, pdf.ScanMark, "")
}

// try recovers from a panic in a parser, so that one note does not affect the
// rest of the note or others.
func (n *Note) try(part string, read func()) {
	defer func() {
		if fault := recover(); fault != nil {
			n.problem("its %s could not be understood (%v)", part, fault)
		}
	}()
	read()
}

func (n *Note) problem(format string, args ...any) {
	n.Problems = append(n.Problems, fmt.Sprintf(format, args...))
}

// decode converts a file's bytes to valid UTF-8 with LF line ends.
func (n *Note) decode(raw []byte) string {
	// UTF-16, or UTF-8 with a byte order mark
	if decoded, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), raw); err == nil {
		raw = decoded
	}
	switch {
	case utf8.Valid(raw):
	case holdsUTF8(raw):
		n.problem("not all UTF-8; other bytes are read as �, and LifeHub does not change the note")
		raw = bytes.ToValidUTF8(raw, []byte("�"))
	default:
		n.problem("not UTF-8; it is read as Windows-1252, and LifeHub does not change it")
		raw, _ = charmap.Windows1252.NewDecoder().Bytes(raw) //nolint:errcheck // each byte stands for a character
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		n.problem("it contains NUL bytes, read as �")
		raw = bytes.ReplaceAll(raw, []byte{0}, []byte("�"))
	}
	return WithLF(string(raw))
}

// WithLF returns a text whose lines end in LF, whichever of LF, CRLF and CR ended them.
func WithLF(text string) string {
	if strings.IndexByte(text, '\r') < 0 {
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
}

// Changeable returns an error if the bytes of a note cannot be changed, because what is written to it would be in
// another encoding than the rest.
func Changeable(raw []byte) error {
	if bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) || bytes.HasPrefix(raw, []byte{0xFE, 0xFF}) {
		return errors.New("the note is written in UTF-16, which LifeHub reads but does not change; save it as UTF-8 first")
	}
	if !utf8.Valid(raw) {
		return errors.New("the note is not written in UTF-8, so LifeHub does not change it; save it as UTF-8 first")
	}
	return nil
}

func (n *Note) title() string {
	if values := listOf(n.property("title")); len(values) > 0 {
		if title, ok := values[0].(string); ok && strings.TrimSpace(title) != "" {
			return strings.Join(strings.Fields(title), " ")
		}
	}
	for _, h := range n.Headings {
		if h.Level == 1 && h.Text != "" {
			return h.Text
		}
	}
	return NameOf(n.Path)
}

// NameOf returns the name of a note from its path. Logseq writes a slash in a
// name as %2F or as three underscores.
func NameOf(notePath string) string {
	name := strings.TrimSuffix(path.Base(notePath), path.Ext(notePath))
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.ReplaceAll(name, "___", "/")
}
