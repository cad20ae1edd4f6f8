package notes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
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

// kind is what a file is by its name, and so how it is read.
type kind int

const (
	noNote kind = iota
	markdown
	plainText
	orgMode
	paged // a PDF
)

func kindOf(name string) kind {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return markdown
	case ".txt":
		return plainText
	case ".org":
		return orgMode
	case ".pdf":
		return paged
	}
	return noNote
}

// IsNote reports whether a file is a note by its name.
func IsNote(name string) bool { return kindOf(name) != noNote }

// IsPDF reports whether a note is a PDF by its name: its lines are its pages.
func IsPDF(name string) bool { return kindOf(name) == paged }

// MIMEType is that of what is read of a note, by its name: an org file is read as
// Markdown, and of a PDF its text.
func MIMEType(name string) string {
	if k := kindOf(name); k == markdown || k == orgMode {
		return "text/markdown"
	}
	return "text/plain"
}

// maxPDF is the longest PDF read, in bytes: most of it is pictures.
const maxPDF = 64 << 20

// maxSize is the longest file of a kind that is read.
func (k kind) maxSize() int64 {
	if k == paged {
		return maxPDF
	}
	return MaxSize
}

// markdownOf is what is read of a file: markdown as it is, of a PDF a line for
// each page.
func (k kind) markdownOf(ctx context.Context, raw []byte) ([]byte, error) {
	if k == markdown {
		if isBinary(raw) {
			return nil, &UnreadError{notText}
		}
		return raw, nil
	}
	var text []byte
	var err error
	if k == paged {
		text, err = pdf.Text(ctx, raw)
	} else {
		text, err = decodeText(raw)
	}
	if err != nil && ctx.Err() == nil && !CannotRead(err) && (!errors.Is(err, ErrBusy) || pdf.TimedOut(err)) {
		return nil, &UnreadError{err.Error()}
	}
	if k == orgMode {
		text = fromOrg(text)
	}
	return text, err
}

// ErrBusy says that a file was not read because its reader was ended: another attempt
// may do.
var ErrBusy = pdf.ErrBusy

// IsOutdated reports whether why a file was not read no longer holds for the same
// file: it took too long, by a limit that has changed.
func IsOutdated(reason string) bool { return pdf.IsOutdated(reason) }

// UnreadError says why a file is not read although it is called like a note. The
// file has to change before another attempt is worth it.
type UnreadError struct{ Reason string }

func (e *UnreadError) Error() string { return e.Reason }

const notText = "it is not text, whatever its name"

// isBinary reports whether a file begins like no text: with NUL bytes, and neither in
// UTF-8 nor with the mark of UTF-16.
func isBinary(raw []byte) bool {
	const block = 8 << 10
	isUTF16 := bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) || bytes.HasPrefix(raw, []byte{0xFE, 0xFF})
	return bytes.IndexByte(raw[:min(len(raw), block)], 0) >= 0 && !isUTF16 && !utf8.Valid(raw)
}

// decodeText makes UTF-8 of a text file. One rule: a byte order mark says what it
// is; without one it is UTF-8 if any letter in it is, else Windows-1252, of which
// Latin-1 is a part; a NUL byte says that it is no text.
func decodeText(raw []byte) ([]byte, error) {
	text, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), raw)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return nil, errors.New(notText)
	}
	if utf8.Valid(text) || holdsUTF8(text) {
		return text, nil
	}
	return charmap.Windows1252.NewDecoder().Bytes(text)
}

// holdsUTF8 reports whether a letter of several bytes stands in a text.
func holdsUTF8(text []byte) bool {
	for len(text) > 0 {
		_, size := utf8.DecodeRune(text)
		if size > 1 {
			return true
		}
		text = text[size:]
	}
	return false
}

// Reason is an error of reading a file in the words of a report, without the path
// that stands next to it.
func Reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	if unread := (*UnreadError)(nil); errors.As(err, &unread) {
		err = unread
	}
	return strings.ReplaceAll(err.Error(), "\x00", "")
}

// LeftOut counts what is in a folder and not read as notes, by kind: "image",
// "scanned PDF" and so on.
type LeftOut map[string]int

// The kinds of files that are left out, besides PDFs.
const (
	ExportedChat   = "exported conversation"
	otherFile      = "other file"
	unreadableFile = "unreadable file"
)

// otherKinds are the endings of kinds of files.
var otherKinds = [][2]string{
	{"image", " .png .jpg .jpeg .gif .webp .svg .bmp .heic .tif .tiff .avif "},
	{"recording", " .mp3 .wav .m4a .ogg .opus .flac .mp4 .mov .mkv .webm .avi "},
	{"office document", " .doc .docx .odt .rtf .xls .xlsx .ods .ppt .pptx .odp .epub "},
}

// addOther counts a file that is no note.
func (l LeftOut) addOther(name string) {
	ending := " " + strings.ToLower(path.Ext(name)) + " "
	for _, k := range otherKinds {
		if strings.Contains(k[1], ending) {
			l[k[0]]++
			return
		}
	}
	l[otherFile]++
}

// AddUnread counts a note that could not be read, by the reason.
func (l LeftOut) AddUnread(reason string) {
	kind, _, _ := strings.Cut(reason, ":")
	if !slices.Contains([]string{pdf.Scanned, pdf.Encrypted, pdf.Damaged, ExportedChat}, kind) {
		kind = unreadableFile
	}
	l[kind]++
}

// Plus adds two folders up.
func (l LeftOut) Plus(other LeftOut) LeftOut {
	sum := LeftOut{}
	for _, each := range []LeftOut{l, other} {
		for kind, n := range each {
			sum[kind] += n
		}
	}
	return sum
}

// Unread are those that one would expect to be found in a search.
func (l LeftOut) Unread() LeftOut {
	unread := LeftOut{}
	for kind, n := range l {
		if strings.HasSuffix(kind, "PDF") || kind == unreadableFile {
			unread[kind] = n
		}
	}
	return unread
}

// String says how many files of which kinds: "3 files left out: 2 images, 1 scanned
// PDF"; "": there are none.
func (l LeftOut) String() string {
	if len(l) == 0 {
		return ""
	}
	total, kinds := 0, make([]string, 0, len(l))
	for kind, n := range l {
		total += n
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(l[b]-l[a], strings.Compare(a, b)) })
	for i, kind := range kinds {
		kinds[i] = text.Count(l[kind], kind)
	}
	return text.Count(total, "file") + " left out: " + strings.Join(kinds, ", ")
}
