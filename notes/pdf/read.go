package pdf

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/draw"
	"io"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	failure "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

// engine starts PDFium. It sees no files. Compiling it takes two seconds, loading it from the folder
// cache a tenth; if that folder cannot be used, it is compiled.
func engine(cache string) (pdfium.Pdfium, error) {
	start := func(runtime wazero.RuntimeConfig) (pdfium.Pool, error) {
		return webassembly.Init(webassembly.Config{
			MaxTotal: 1, RuntimeConfig: runtime, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
		})
	}
	var pool pdfium.Pool
	err := errors.New("no folder")
	if cache != "" {
		var compiled wazero.CompilationCache
		if compiled, err = wazero.NewCompilationCacheWithDir(cache); err == nil {
			pool, err = start(wazero.NewRuntimeConfig().WithCompilationCache(compiled))
		}
	}
	if err != nil {
		pool, err = start(wazero.NewRuntimeConfig())
	}
	if err != nil {
		return nil, err
	}
	return pool.GetInstanceWithContext(context.Background())
}

// reading is the state of reading one file.
type reading struct {
	engine  pdfium.Pdfium
	file    references.FPDF_DOCUMENT
	scanner *scanner // nil: pictures are not read
}

// read reads a file; tesseract is its path, or "" to read no pictures.
func read(raw []byte, tesseract, cache string) (d Document, err error) {
	r := reading{}
	if r.engine, err = engine(cache); err != nil {
		return d, err
	}
	opened, err := r.engine.OpenDocument(&requests.OpenDocument{
		FileReader:     bytes.NewReader(raw),
		FileReaderSize: int64(len(raw)),
	})
	switch {
	case errors.Is(err, failure.ErrPassword):
		return Document{Why: Encrypted + ": it asks for a password"}, nil
	case errors.Is(err, failure.ErrSecurity):
		return Document{Why: Encrypted + ": its encryption is not supported; save it without encryption to have it read"}, nil
	case err != nil: // its text may be that of the file
		return Document{Why: Damaged + ": not a valid PDF"}, nil
	}
	r.file = opened.Document
	count, err := r.engine.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.file})
	if err != nil || count.PageCount == 0 {
		return Document{Why: Damaged + ": it has no pages"}, nil
	}
	if tesseract != "" {
		r.scanner = &scanner{program: tesseract, began: time.Now(), limit: maxScanTime}
	}
	letters, size, whole := 0, 0, false
	for i := range count.PageCount {
		if i >= maxPages || size >= maxText {
			d.Left = count.PageCount - i
			break
		}
		text, shows, err := r.page(i)
		scanned := false
		if err == nil && shows && lettersIn(text) == 0 {
			d.Shown++
			if r.scanner != nil {
				var seen string
				if seen, err = r.scan(i); lettersIn(seen) > 0 {
					text, scanned = seen, true
				}
			}
		}
		letters, size, whole = letters+lettersIn(text), size+len(text), whole || err == nil
		d.Pages, d.Broken, d.Scans = append(d.Pages, text), append(d.Broken, err != nil), append(d.Scans, scanned)
	}
	switch {
	case letters > 0:
	case !whole:
		d.Why = Damaged + ": none of its pages can be read"
	case d.Shown > 0 && r.scanner != nil:
		d.Why = Scanned + ": its pictures show no text"
	case d.Shown > 0:
		d.Why = onlyPictures
	default:
		d.Why = Scanned + ": its pages hold no text"
	}
	return d, nil
}

// page returns the text of a page, and whether it shows anything.
func (r *reading) page(i int) (text string, shows bool, err error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: r.file, Index: i}}
	if text, err = r.text(page); err != nil {
		return "", false, err
	}
	objects, err := r.engine.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return "", false, err
	}
	return inOneLine(text), objects.Count > 0, nil
}

// dividedWord is what PDFium writes for a hyphen at the end of a line, and the line's end.
const dividedWord = "\ufffe"

// text returns the text of a page as PDFium orders it.
func (r *reading) text(page requests.Page) (string, error) {
	opened, err := r.engine.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return "", err
	}
	defer r.engine.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: opened.TextPage})
	count, err := r.engine.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: opened.TextPage})
	if err != nil || count.Count <= 0 {
		return "", err
	}
	written, err := r.engine.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: opened.TextPage, Count: count.Count})
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(written.Text, dividedWord, "-\n"), nil
}

// Resolution of a page that tesseract reads, in dots per inch; less if the page is large.
const pageDPI, maxPagePixels = 300, 16 << 20

// scan returns the text of a page as it looks.
func (r *reading) scan(i int) (string, error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: r.file, Index: i}}
	size, err := r.engine.GetPageSize(&requests.GetPageSize{Page: page})
	if err != nil {
		return "", err
	}
	dpi := int(min(pageDPI, 72*math.Sqrt(maxPagePixels/max(1, size.Width*size.Height))))
	shown, err := r.engine.RenderPageInDPI(&requests.RenderPageInDPI{Page: page, DPI: dpi})
	if err != nil {
		return "", err
	}
	defer shown.Cleanup()
	return r.scanner.page(grayOf(shown.Result.Image), dpi)
}

// grayOf returns the gray levels of an image on a white page.
func grayOf(from image.Image) *image.Gray {
	b := from.Bounds()
	gray := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(gray, gray.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(gray, gray.Rect, from, b.Min, draw.Over)
	return gray
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
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"\u00ad", "-", "\u2010", "-")

// LineBreak separates the lines of a page within its one line.
const LineBreak = "\u2028"

// inOneLine joins the lines of a page, with a [LineBreak] between them, and words hyphenated at line
// ends.
func inOneLine(page string) string {
	var joined []byte
	for line := range strings.FieldsFuncSeq(page, func(c rune) bool { return c == '\n' || c == '\r' }) {
		text := cleaned(line)
		if text == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(text)
		before, hyphen := bytes.CutSuffix(joined, []byte("-"))
		last, _ := utf8.DecodeLastRune(before)
		switch {
		case hyphen && unicode.IsLetter(last) && unicode.IsLower(first):
			joined = before
		case hyphen && unicode.IsLetter(last), len(joined) == 0:
		default:
			joined = append(joined, LineBreak...)
		}
		joined = append(joined, text...)
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
