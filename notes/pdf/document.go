package pdf

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"lifehub/internal/text"
)

// Limits of an archive, so that a small file cannot expand to a large one.
const (
	maxExpanded = 64 << 20
	maxEntries  = 10_000
)

// Reasons why a document cannot be read, which begin an error.
const (
	EncryptedDocument = "encrypted document"
	DamagedDocument   = "damaged document"
)

// documentArgument begins the argument that makes this program read a document; its ending follows.
const documentArgument = "read-document-from-stdin"

// Markdown returns the text of an HTML, EPUB or Word file as Markdown, by the ending of its name. An error begins with
// one of the reasons above.
func (r Reader) Markdown(ctx context.Context, ending string, raw []byte) ([]byte, error) {
	d, err := run(ctx, raw, patience, documentArgument+ending, Reader{})
	if err == nil && d.Why != "" {
		err = errors.New(d.Why)
	}
	return []byte(d.Markdown), err
}

// readDocument reads a document in the reader process.
func readDocument(ending string, raw []byte) (d Document) {
	defer func() {
		if fault := recover(); fault != nil {
			d = Document{Why: DamagedDocument + ": its reader gave up"}
		}
	}()
	var text string
	var err error
	switch ending {
	case ".docx":
		text, err = readWord(raw)
	case ".epub":
		text, err = readBook(raw)
	default:
		text, err = readPage(raw)
	}
	switch {
	case errors.Is(err, errEncrypted):
		d.Why = EncryptedDocument
	case err != nil:
		d.Why = DamagedDocument + ": " + err.Error()
	case len(text) > maxText:
		d.Why = fmt.Sprintf("%s: its text is longer than %d MiB", DamagedDocument, maxText>>20)
	default:
		d.Markdown = text
	}
	return d
}

// readPage converts HTML to Markdown below its title.
func readPage(raw []byte) (string, error) {
	decoded, err := charset.NewReader(bytes.NewReader(raw), "")
	if err != nil {
		return "", err
	}
	page, err := html.Parse(decoded)
	if err != nil {
		return "", err
	}
	title := titleOf(page) // which the conversion takes out
	body, err := text.Markdown(page)
	if err != nil {
		return "", err
	}
	if title != "" && !strings.HasPrefix(body, "# ") {
		body = "# " + title + "\n\n" + body
	}
	return body + "\n", nil
}

// titleOf returns the title of a page on one line, or "".
func titleOf(page *html.Node) string {
	for n := range page.Descendants() {
		if n.Type == html.ElementNode && n.Data == "title" && n.FirstChild != nil {
			return strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	}
	return ""
}

var errEncrypted = errors.New("it has a password")

// archive is a ZIP file whose files are read within the limits.
type archive struct {
	files map[string]*zip.File
	left  int64
}

func openArchive(raw []byte) (*archive, error) {
	if bytes.HasPrefix(raw, []byte("\xD0\xCF\x11\xE0")) { // an OLE container around an encrypted package
		return nil, errEncrypted
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("it has more than %d files", maxEntries)
	}
	a := &archive{files: map[string]*zip.File{}, left: maxExpanded}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return nil, errEncrypted
		}
		a.files[f.Name] = f
	}
	return a, nil
}

// read returns a file of the archive.
func (a *archive) read(name string) ([]byte, error) {
	f := a.files[name]
	if f == nil {
		return nil, fmt.Errorf("it has no %s", name)
	}
	from, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	data, err := io.ReadAll(io.LimitReader(from, a.left+1))
	if a.left -= int64(len(data)); a.left < 0 {
		return nil, fmt.Errorf("it expands to more than %d MiB", maxExpanded>>20)
	}
	return data, err
}

// readBook converts the pages of an EPUB to Markdown, in their order of reading, else by name.
func readBook(raw []byte) (string, error) {
	a, err := openArchive(raw)
	if err != nil {
		return "", err
	}
	if a.files["META-INF/rights.xml"] != nil {
		return "", errEncrypted
	}
	names := a.spine()
	if len(names) == 0 {
		for name := range a.files {
			if slices.Contains([]string{".xhtml", ".html", ".htm"}, strings.ToLower(path.Ext(name))) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	}
	var book strings.Builder
	for _, name := range names {
		raw, err := a.read(name)
		if a.left < 0 {
			return "", err
		}
		if err != nil {
			continue // the rest is read
		}
		page, err := readPage(raw)
		if err != nil {
			continue
		}
		book.WriteString(page + "\n")
	}
	if book.Len() == 0 {
		return "", errors.New("it has no pages")
	}
	return book.String(), nil
}

// spine returns the names of the pages of an EPUB in their order, or none if the book does not say it.
func (a *archive) spine() (names []string) {
	var container struct {
		Root []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if raw, err := a.read("META-INF/container.xml"); err != nil || decodeXML(raw, &container) != nil ||
		len(container.Root) == 0 {
		return nil
	}
	var opf struct {
		Items []struct {
			ID   string `xml:"id,attr"`
			Href string `xml:"href,attr"`
		} `xml:"manifest>item"`
		Order []struct {
			ID string `xml:"idref,attr"`
		} `xml:"spine>itemref"`
	}
	root := container.Root[0].Path
	if raw, err := a.read(root); err != nil || decodeXML(raw, &opf) != nil {
		return nil
	}
	hrefs := map[string]string{}
	for _, item := range opf.Items {
		hrefs[item.ID] = item.Href
	}
	for _, item := range opf.Order {
		if name := path.Join(path.Dir(root), hrefs[item.ID]); a.files[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// decodeXML decodes XML, without entities of its own.
func decodeXML(raw []byte, into any) error { return newXML(raw).Decode(into) }

func newXML(raw []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(raw))
	d.CharsetReader = charset.NewReaderLabel
	return d
}

// readWord converts a Word document to Markdown: headings by their style, lists, tables, and footnotes at the end.
func readWord(raw []byte) (string, error) {
	a, err := openArchive(raw)
	if err != nil {
		return "", err
	}
	main, err := a.read("word/document.xml")
	if err != nil {
		return "", err
	}
	w := word{headings: a.headings(), links: a.links("document.xml")}
	if err := w.read(main); err != nil && w.out.Len() == 0 {
		return "", err
	}
	w.links = a.links("footnotes.xml")
	if notes, err := a.read("word/footnotes.xml"); err == nil {
		w.out.WriteByte('\n')
		_ = w.read(notes) // what can be read
	} else if a.left < 0 {
		return "", err
	}
	return strings.TrimSpace(w.out.String()) + "\n", nil
}

// headings returns the level of each style of a Word document that is one of headings: it has an outline level, or the
// name of a heading, which is English in every language, or is based on such a style.
func (a *archive) headings() map[string]int {
	type value struct {
		Val string `xml:"val,attr"`
	}
	var sheet struct {
		Styles []struct {
			ID      string `xml:"styleId,attr"`
			Name    value  `xml:"name"`
			Base    value  `xml:"basedOn"`
			Outline value  `xml:"pPr>outlineLvl"`
		} `xml:"style"`
	}
	levels := map[string]int{}
	if raw, err := a.read("word/styles.xml"); err != nil || decodeXML(raw, &sheet) != nil {
		return levels
	}
	const deepest = 10 // styles above one
	for range deepest {
		for _, s := range sheet.Styles {
			if level, known := outline(s.Outline.Val); known {
				levels[s.ID] = level
			} else {
				levels[s.ID] = cmp.Or(headingOf(s.Name.Val), levels[s.Base.Val])
			}
		}
	}
	return levels
}

// outline returns the level of a heading for an outline level of Word; known if it is one.
func outline(value string) (level int, known bool) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n >= 9 { // 9 is text
		return 0, err == nil
	}
	return min(n+1, 6), true
}

// headingOf returns the level of the headings whose style has a name, or 0.
func headingOf(style string) int {
	style = strings.ToLower(style)
	if level, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(style, "heading"))); err == nil {
		return min(max(level, 1), 6)
	} else if style == "title" {
		return 1
	}
	return 0
}

// links returns the addresses that a part of a Word document links to, by ID.
func (a *archive) links(part string) map[string]string {
	var relations struct {
		To []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	links := map[string]string{}
	if raw, err := a.read("word/_rels/" + part + ".rels"); err == nil && decodeXML(raw, &relations) == nil {
		for _, r := range relations.To {
			links[r.ID] = inLink.Replace(r.Target)
		}
	}
	return links
}

// inLink encodes what ends an address in Markdown.
var inLink = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E")

// word is a Word document as it is converted.
type word struct {
	headings map[string]int    // levels by style
	links    map[string]string // addresses by ID

	out  strings.Builder
	text strings.Builder // of the paragraph
	cell []string        // cells of the table's row so far
	rows int             // of the table so far

	heading, list int    // level of the paragraph; 0 if it is none
	note          string // ID of the footnote
	tables, cells int    // open ones
	dropped       int    // elements whose text is another one's copy
	hidden        bool   // the run is not shown
	link          string // address of the open link
	linked        int    // where its text begins
}

func (w *word) read(raw []byte) error {
	for d := newXML(raw); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := w.begin(d, t); err != nil {
				return err
			}
		case xml.EndElement:
			w.end(t.Name.Local)
		}
	}
}

// begin reads the start of an element, and the text of one that has some.
func (w *word) begin(d *xml.Decoder, t xml.StartElement) error {
	value := func(name string) string {
		at := slices.IndexFunc(t.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
		if at < 0 {
			return ""
		}
		return t.Attr[at].Value
	}
	switch t.Name.Local {
	case "Fallback": // says again what stands before it
		w.dropped++
	case "p":
		w.heading, w.list = 0, 0
	case "pStyle":
		level, known := w.headings[value("val")]
		if w.heading = level; !known {
			w.heading = headingOf(value("val"))
		}
	case "outlineLvl":
		w.heading, _ = outline(value("val"))
	case "ilvl":
		level, _ := strconv.Atoi(value("val"))
		w.list = min(max(level, 0), 8) + 1
	case "numPr":
		w.list = max(w.list, 1)
	case "tab", "br", "cr":
		w.add(" ")
	case "noBreakHyphen":
		w.add("\u2011")
	case "r":
		w.hidden = false
	case "vanish":
		w.hidden = !slices.Contains([]string{"0", "false", "off"}, value("val"))
	case "hyperlink":
		w.link, w.linked = w.links[value("id")], w.text.Len()
	case "footnoteReference":
		w.add("[^" + value("id") + "]")
	case "footnote":
		w.note = value("id")
	case "tbl":
		w.tables++
	case "tc":
		w.cells++
	case "t":
		var text string
		if err := d.DecodeElement(&text, &t); err != nil {
			return err
		}
		w.add(text)
	}
	return nil
}

// add adds to the text of the paragraph, if it is shown.
func (w *word) add(text string) {
	if w.dropped == 0 && !w.hidden {
		w.text.WriteString(text)
	}
}

// end reads the end of an element.
func (w *word) end(name string) {
	switch name {
	case "Fallback":
		w.dropped--
	case "p":
		w.paragraph()
	case "hyperlink":
		if text := w.text.String(); w.link != "" && len(text) > w.linked {
			w.text.Reset()
			w.text.WriteString(text[:w.linked] + "[" + text[w.linked:] + "](" + w.link + ")")
		}
		w.link = ""
	case "tc":
		if w.cells--; w.cells == 0 {
			cell := strings.Join(strings.Fields(w.text.String()), " ")
			w.cell = append(w.cell, strings.ReplaceAll(cell, "|", `\|`))
			w.text.Reset()
		}
	case "tr":
		if w.tables == 1 && len(w.cell) > 0 {
			w.out.WriteString("| " + strings.Join(w.cell, " | ") + " |\n")
			if w.rows++; w.rows == 1 {
				w.out.WriteString("|" + strings.Repeat(" --- |", len(w.cell)) + "\n")
			}
			w.cell = nil
		}
	case "tbl":
		if w.tables--; w.tables == 0 {
			w.rows = 0
			w.out.WriteByte('\n')
		}
	}
}

// paragraph ends a paragraph. Within a cell it is only a space.
func (w *word) paragraph() {
	if w.cells > 0 {
		w.text.WriteByte(' ')
		return
	}
	text := strings.Join(strings.Fields(w.text.String()), " ")
	w.text.Reset()
	switch {
	case text == "":
	case w.note != "":
		w.out.WriteString("[^" + w.note + "]: " + text + "\n\n")
	case w.heading > 0:
		w.out.WriteString(strings.Repeat("#", w.heading) + " " + text + "\n\n")
	case w.list > 0:
		w.out.WriteString(strings.Repeat("  ", w.list-1) + "- " + text + "\n")
	default:
		w.out.WriteString(text + "\n\n")
	}
}
