package pdf

import (
	"bytes"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// read reads a file; tesseract is its path, or "" to read no pictures. It recovers
// from panics, which damaged files cause.
func read(raw []byte, tesseract string) (d Document) {
	defer func() {
		if fault := recover(); fault != nil && len(d.Pages) == 0 {
			d = Document{Why: Damaged + ": " + describeFault(fault)}
		}
	}()
	reader, whole, err := open(raw)
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword):
		return Document{Why: Encrypted + ": it asks for a password"}
	case err != nil && strings.Contains(err.Error(), "encryption"):
		return Document{Why: Encrypted + ": " + unsupported(err)}
	case err != nil:
		return Document{Why: Damaged + ": " + describeFault(err)}
	}
	r := reading{document: &d, fonts: map[string]*font{}}
	if tesseract != "" {
		r.scanner = &scanner{program: tesseract, raw: whole, began: time.Now(), limit: maxScanTime}
	}
	root := reader.Trailer().Key("Root").Key("Pages")
	r.below(root, 0)
	switch {
	case len(d.Pages) == 0:
		d.Why = Damaged + ": it has no pages"
	case r.letters == 0 && r.broken():
		d.Why = Damaged + ": none of its pages can be read"
	case r.letters == 0 && r.scanner != nil && d.Shown > 0:
		d.Why = Scanned + ": its pictures show no text"
	case r.letters == 0 && d.Shown > 0:
		d.Why = onlyPictures
	case r.letters == 0:
		d.Why = Scanned + ": its pages hold no text"
	}
	return d
}

// unsupported describes an encryption that the library does not support, based on
// its error.
func unsupported(err error) string {
	if message := err.Error(); strings.Contains(message, "256-bit encryption key") || strings.Contains(message, "encryption version V=5") {
		return "it is encrypted with AES-256, which is not supported; save it without encryption to have it read"
	}
	return "its encryption is not supported; save it without encryption to have it read"
}

// open opens every file that a viewer would. The library requires the header at
// the start of the file, with a known version, and the trailer at the end.
// Offsets in a file with data before the header may be relative to either. whole
// is what the reader reads.
func open(raw []byte) (reader *pdf.Reader, whole []byte, err error) {
	const header, end = "%PDF-1.7\n", "%%EOF"
	at := bytes.Index(raw[:min(len(raw), 1024)], []byte("%PDF-"))
	if at < 0 || len(raw)-at < 100 {
		return nil, nil, ownFault("not a PDF, despite its name")
	}
	if stop := bytes.LastIndex(raw, []byte(end)); stop-at >= 100 {
		raw = raw[:stop+len(end)]
	}
	for _, from := range []int{at, 0} {
		whole = append([]byte(header), raw[min(len(raw), from+len(header)):]...)
		if reader, err = pdf.NewReader(bytes.NewReader(whole), int64(len(whole))); err == nil || at == 0 {
			break
		}
	}
	return reader, whole, err
}

// ownFault is an error with our own text.
type ownFault string

func (f ownFault) Error() string { return string(f) }

// describeFault describes the error of a file. The library quotes the file in its errors,
// which a model would take for text of LifeHub, so these are not passed on.
func describeFault(fault any) string {
	if own, ok := fault.(ownFault); ok {
		return string(own)
	}
	return "not a valid PDF"
}

// reading is the state of reading one file.
type reading struct {
	document *Document
	fonts    map[string]*font // by description, since pages share fonts
	size     int              // bytes of text so far
	letters  int
	nodes    int      // nodes of the page tree so far
	scanner  *scanner // nil: pictures are not read
}

func (r *reading) broken() bool {
	for _, b := range r.document.Broken {
		if b {
			return true
		}
	}
	return false
}

// Limits of the page tree, which no real file exceeds.
const maxDepth, maxNodes = 50, 20 * maxPages

// below reads the pages below a node of the page tree.
func (r *reading) below(node pdf.Value, depth int) {
	if r.nodes++; depth > maxDepth || r.nodes > maxNodes {
		panic(ownFault("its page tree is too deep or too large"))
	}
	kids := node.Key("Kids")
	if node.Key("Type").Name() != "Pages" && kids.Len() == 0 {
		if node.Kind() == pdf.Dict {
			r.page(pdf.Page{V: node})
		}
		return
	}
	for i := range kids.Len() {
		r.below(kids.Index(i), depth+1)
	}
}

// page reads a page. Text before a fault is kept.
func (r *reading) page(page pdf.Page) {
	if len(r.document.Pages) >= maxPages || r.size >= maxText {
		r.document.Left++
		return
	}
	p := painter{reading: r, state: state{ctm: unit, scale: 1}}
	broken := false
	func() {
		defer func() { broken = recover() != nil }()
		if contents := page.V.Key("Contents"); !contents.IsNull() {
			p.paint(contents, page.Resources(), 0)
		}
	}()
	text, scanned := inOneLine(arranged(p.lines)), false
	if lettersIn(text) == 0 && len(p.pictures) > 0 {
		r.document.Shown++
		if r.scanner != nil {
			seen, whole := r.scanner.page(p.pictures)
			text, scanned, broken = inOneLine(seen), len(seen) > 0, broken || !whole
		}
	}
	r.size += len(text)
	r.letters += lettersIn(text)
	r.document.Scans = append(r.document.Scans, scanned)
	r.document.Pages = append(r.document.Pages, text)
	r.document.Broken = append(r.document.Broken, broken)
}

func lettersIn(text string) (n int) {
	for _, c := range text {
		if unicode.IsLetter(c) {
			n++
		}
	}
	return n
}

// ligatures are characters that fonts draw as one glyph but that users type
// separately.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st", "\u00ad", "-", "\u2010", "-")

// LineBreak separates the rows of a table within the line of a page.
const LineBreak = "\u2028"

// inOneLine joins the lines of a page, and words hyphenated at line ends. Before
// and after a row of a table it leaves a [LineBreak].
func inOneLine(lines []printed) string {
	var joined []byte
	divided, row := false, false
	for _, l := range lines {
		text := cleaned(l.text)
		if text == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(text)
		switch {
		case len(joined) > 0 && (row || l.row):
			joined, divided = append(joined, LineBreak...), false
		case divided && unicode.IsLower(first):
			joined = joined[:len(joined)-1]
		case len(joined) > 0 && !divided:
			joined = append(joined, ' ')
		}
		joined = append(joined, text...)
		before, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(text, "-"))
		divided, row = strings.HasSuffix(text, "-") && unicode.IsLetter(before), l.row
	}
	return string(joined)
}

// cleaned returns text without control characters, with one space between words.
func cleaned(text string) string {
	text = strings.Map(func(c rune) rune {
		if c == unicode.ReplacementChar || unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, ligatures.Replace(text))
	return strings.Join(strings.Fields(text), " ")
}
