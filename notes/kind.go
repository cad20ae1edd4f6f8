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

// kind is the format of a file, determined by its name.
type kind int

const (
	noNote kind = iota
	markdown
	plainText
	orgMode
	canvasFile
	paged    // a PDF
	picture  // an image, which is a document of one page
	document // HTML, EPUB, Word
)

func kindOf(name string) kind {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return markdown
	case ".txt":
		return plainText
	case ".org":
		return orgMode
	case ".canvas":
		return canvasFile
	case ".pdf":
		return paged
	case ".png", ".jpg", ".jpeg", ".gif":
		return picture
	case ".html", ".htm", ".docx", ".epub":
		return document
	}
	return noNote
}

// IsNote reports whether a file name is that of a note. An image is one only in a
// folder that has images read; see [Folder.ReadWith].
func IsNote(name string) bool { return kindOf(name) != noNote && kindOf(name) != picture }

// IsText reports whether the file of a name holds its text as it is.
func IsText(name string) bool {
	return IsNote(name) && kindOf(name) != paged && kindOf(name) != document
}

// IsPicture reports whether a file name is that of an image whose text can be read.
func IsPicture(name string) bool { return kindOf(name) == picture }

// IsPaged reports whether a note's name is that of a PDF or an image. The lines of
// such a note are its pages.
func IsPaged(name string) bool { return kindOf(name) == paged || kindOf(name) == picture }

// MIMEType returns the type of the text that is read from a note: Markdown for
// Org files, canvases and documents, plain text for PDFs and images.
func MIMEType(name string) string {
	if k := kindOf(name); k == markdown || k == orgMode || k == canvasFile || k == document {
		return "text/markdown"
	}
	return "text/plain"
}

// maxPDF and maxPicture bound the sizes of PDFs and images that are read, in bytes.
// Most of a PDF is usually images.
const maxPDF, maxPicture = 64 << 20, 20 << 20

// maxSize returns the maximum size of a file of this kind that is read.
func (k kind) maxSize() int64 {
	switch k {
	case paged, document:
		return maxPDF
	case picture:
		return maxPicture
	}
	return MaxSize
}

// markdownOf returns the text of a file: Markdown unchanged, a PDF with one line
// per page.
func (k kind) markdownOf(ctx context.Context, name string, raw []byte, reader pdf.Reader) ([]byte, error) {
	if k == markdown {
		if isBinary(raw) {
			return nil, &UnreadError{notText}
		}
		return raw, nil
	}
	var text []byte
	var err error
	switch k {
	case paged:
		text, err = reader.Text(ctx, raw)
	case picture:
		text, err = reader.ImageText(ctx, raw)
	case document:
		text, err = reader.Markdown(ctx, strings.ToLower(path.Ext(name)), raw)
	default:
		text, err = decodeText(raw)
	}
	if err != nil && ctx.Err() == nil && !CannotRead(err) && (!errors.Is(err, ErrBusy) || pdf.TimedOut(err)) {
		return nil, &UnreadError{err.Error()}
	}
	switch {
	case k == orgMode:
		text = fromOrg(text)
	case k == canvasFile && err == nil:
		if text, err = fromCanvas(text); err != nil {
			return nil, &UnreadError{err.Error()}
		}
	}
	return text, err
}

// ErrBusy reports that a file was not read because its reader was interrupted. A
// retry may succeed.
var ErrBusy = pdf.ErrBusy

// IsOutdated reports whether the saved reason why a file was not read no longer
// applies to the unchanged file: it shows pictures, which can be read now.
func (f *Folder) IsOutdated(reason string) bool {
	return pdf.IsOutdated(reason, f.pages.reader.Tesseract)
}

// UnreadError reports why a file with the name of a note cannot be read. Retrying
// is useless until the file changes.
type UnreadError struct{ Reason string }

func (e *UnreadError) Error() string { return e.Reason }

const notText = "not text, despite its name"

// isBinary reports whether a file is not text: it has NUL bytes, and not only because it is UTF-16.
func isBinary(raw []byte) bool {
	if bytes.IndexByte(raw, 0) < 0 {
		return false
	}
	text, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), raw)
	return err != nil || bytes.IndexByte(text, 0) >= 0
}

// decodeText converts a text file to UTF-8. A byte order mark determines the
// encoding. Without one, the text is UTF-8 if it contains any multi-byte
// character in UTF-8, and otherwise Windows-1252, a superset of Latin-1. A file
// with a NUL byte is not text.
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

// holdsUTF8 reports whether a text contains a multi-byte UTF-8 character.
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

// Reason describes an error of reading a file for a report, without the path,
// which the report shows separately.
func Reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	if unread := (*UnreadError)(nil); errors.As(err, &unread) {
		err = unread
	}
	return strings.ReplaceAll(err.Error(), "\x00", "")
}

// LeftOut counts files in a folder that are not read as notes, by kind such as
// "image" or "scanned PDF".
type LeftOut map[string]int

// Kinds of files that are not read, in addition to PDFs.
const (
	ExportedChat   = "exported conversation"
	UnreadImage    = "unread image" // which a later sync reads
	cloudNote      = "cloud-only note"
	webPage        = "web page"
	officeDocument = "office document"
	otherFile      = "other file"
	unreadableFile = "unreadable file"
)

// otherKinds are the extensions of kinds of files.
var otherKinds = [][2]string{
	{pdf.Image, " .png .jpg .jpeg .gif .webp .svg .bmp .heic .tif .tiff .avif "},
	{webPage, " .mhtml .webarchive "},
	{"recording", " .mp3 .wav .m4a .ogg .opus .flac .mp4 .mov .mkv .webm .avi "},
	{officeDocument, " .doc .odt .rtf .xls .xlsx .ods .ppt .pptx .odp "},
}

// addOther counts a file that is not a note.
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

// IsImageReason reports whether a reason is that of an image without readable text,
// which is counted like any other file that is not a note, and not a fault.
func IsImageReason(reason string) bool { return strings.HasPrefix(reason, pdf.Image+":") }

// AddUnread counts a note that could not be read, by reason.
func (l LeftOut) AddUnread(reason string) {
	kind, _, _ := strings.Cut(reason, ":")
	switch kind {
	case pdf.Scanned, pdf.Encrypted, pdf.Damaged, pdf.Image, pdf.EncryptedDocument, pdf.DamagedDocument,
		ExportedChat, damagedCanvas:
	default:
		kind = unreadableFile
	}
	l[kind]++
}

// Plus returns the sum of two counts.
func (l LeftOut) Plus(other LeftOut) LeftOut {
	sum := LeftOut{}
	for _, each := range []LeftOut{l, other} {
		for kind, n := range each {
			sum[kind] += n
		}
	}
	return sum
}

// Unread returns the counts of files that a user may expect to find in a search.
func (l LeftOut) Unread() LeftOut {
	unread := LeftOut{}
	for kind, n := range l {
		switch kind {
		case unreadableFile, damagedCanvas, pdf.EncryptedDocument, pdf.DamagedDocument, webPage, officeDocument:
			unread[kind] = n
		default:
			if strings.HasSuffix(kind, "PDF") {
				unread[kind] = n
			}
		}
	}
	return unread
}

// InCloud says how many notes are only placeholders of a sync program here, or "".
func (l LeftOut) InCloud() string {
	switch n := l[cloudNote]; n {
	case 0:
		return ""
	case 1:
		return "1 note is in the cloud only"
	default:
		return text.Thousands(n) + " notes are in the cloud only"
	}
}

// String returns a summary such as "3 files left out: 2 images, 1 scanned PDF",
// or "" if there are none.
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
