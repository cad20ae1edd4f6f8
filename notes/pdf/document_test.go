package pdf

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

// zipped is an archive of files.
func zipped(t testing.TB, files ...string) []byte {
	t.Helper()
	var raw bytes.Buffer
	z := zip.NewWriter(&raw)
	for i := 0; i+1 < len(files); i += 2 {
		f, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, files[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return raw.Bytes()
}

const wordText = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="x"><w:body>
<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Boiler</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Keep it at </w:t></w:r><w:r><w:t>1.4 bar</w:t><w:footnoteReference w:id="2"/></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr><w:r><w:t>bleed it</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>part</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>price</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p><w:r><w:t>valve</w:t></w:r></w:p><w:p><w:r><w:t>a|b</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>12</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>once</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>twice</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>
</w:body></w:document>`

const germanWord = `<w:document xmlns:w="w" xmlns:r="r"><w:body>
<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Anlage</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Eigene"/></w:pPr><w:r><w:t>Kessel</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Verzeichnis"/></w:pPr><w:r><w:t>Inhalt</w:t></w:r></w:p>
<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Druck</w:t></w:r></w:p>
<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>E</w:t><w:noBreakHyphen/><w:t>Mail</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr>
<w:t>geheim</w:t><w:tab/></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t xml:space="preserve"> an </w:t></w:r><w:hyperlink r:id="rId7">
<w:r><w:t>uns</w:t></w:r></w:hyperlink><w:hyperlink w:anchor="x"><w:r><w:t>, oben</w:t></w:r></w:hyperlink></w:p>
</w:body></w:document>`

const germanStyles = `<w:styles xmlns:w="w"><w:style w:styleId="Eigene"><w:name w:val="Eigene"/><w:basedOn w:val="berschrift2"/>
</w:style><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style><w:style w:styleId="Verzeichnis">
<w:name w:val="TOC Heading"/><w:basedOn w:val="berschrift2"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style></w:styles>`

func TestDocumentsAreReadAsMarkdown(t *testing.T) {
	testenv.WithoutRace(t)
	book := []string{
		"META-INF/container.xml", `<container><rootfiles><rootfile ` +
			`full-path="OEBPS/content.opf"/></rootfiles></container>`,
		"OEBPS/content.opf", `<package><manifest><item id="a" href="z.xhtml"/><item id="b" ` +
			`href="text/a.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>`,
		"OEBPS/text/a.xhtml", "<html><body><p>Second page.</p></body></html>", "OEBPS/z.xhtml",
		"<html><head><title>One</title></head><body><p>First page.</p></body></html>",
	}
	for name, tc := range map[string]struct {
		ending string
		raw    []byte
		want   string
	}{
		"page": {".html", []byte("<html><head><title>A\n " +
			"title</title><style>p{}</style></head><body><script>x()</script><p>Some " +
			"<b>text</b></p><ul><li>one</li></ul></body></html>"), "# A title\n\nSome **text**\n\n- one\n"},
		"page with a table": {".html", []byte("<table><tr><td>part</td><td>price</td></tr><tr><td>valve<br>a|" +
			"b</td><td><del>12</del> 13</td></tr></table>"), "| part | price |\n|---|---|\n" +
			"| valve  <br />a\\|b | ~~12~~ 13 |\n"},
		"old letters": {".htm", []byte("<meta charset=windows-1252><p>Caf\xe9</p>"), "Café\n"},
		"Word": {
			".docx", zipped(t, "word/document.xml", wordText, "word/footnotes.xml",
				`<w:footnotes xmlns:w="x"><w:footnote w:id="2"><w:p><w:r><w:t>when `+
					`cold</w:t></w:r></w:p></w:footnote></w:footnotes>`),
			"## Boiler\n\nKeep it at 1.4 bar[^2]\n\n  - bleed it\n| part | price |\n| --- | --- |\n" +
				"| valve a\\|b | 12 |\n\nonce\n\n\n[^2]: when cold\n",
		},
		"Word in German": {
			".docx", zipped(t, "word/document.xml", germanWord, "word/styles.xml", germanStyles,
				"word/_rels/document.xml.rels", `<Relationships><Relationship Id="rId7" Type="hyperlink" `+
					`Target="https://example.org/a (b)" TargetMode="External"/></Relationships>`),
			"## Anlage\n\n## Kessel\n\nInhalt\n\n### Druck\n\nE\u2011Mail an [uns](https://example.org/a%20%28b%29), oben\n",
		},
		"Word, damaged styles": {
			".docx", zipped(t, "word/document.xml", wordText[:strings.Index(wordText, "<w:tbl>")],
				"word/styles.xml", "<w:styles><"),
			"## Boiler\n\nKeep it at 1.4 bar[^2]\n\n  - bleed it\n",
		},
		"book":           {".epub", zipped(t, book...), "# One\n\nFirst page.\n\nSecond page.\n\n"},
		"book, no spine": {".epub", zipped(t, "b.html", "<p>two", "a.html", "<p>one"), "one\n\ntwo\n\n"},
	} {
		got, err := Reader{}.Markdown(t.Context(), tc.ending, tc.raw)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, got, tc.want)
		}
	}
}

func TestHostileArchivesAreRefused(t *testing.T) {
	many := make([]string, 0, 2*maxEntries+2)
	for i := range maxEntries + 1 {
		many = append(many, fmt.Sprint(i, ".html"), "")
	}
	locked := zipped(t, "word/document.xml", wordText)
	for _, header := range []string{"PK\x03\x04", "PK\x01\x02"} { // the flags of the file, here and in the directory
		at := bytes.Index(locked, []byte(header)) + map[string]int{"PK\x03\x04": 6, "PK\x01\x02": 8}[header]
		binary.LittleEndian.PutUint16(locked[at:], binary.LittleEndian.Uint16(locked[at:])|1)
	}
	whole := zipped(t, "word/document.xml", wordText)
	for name, tc := range map[string]struct {
		ending string
		raw    []byte
		want   string
	}{
		"no archive":        {".docx", []byte("x"), DamagedDocument},
		"empty":             {".epub", nil, DamagedDocument},
		"cut":               {".docx", whole[:len(whole)/2], DamagedDocument},
		"no text":           {".docx", zipped(t, "a", "b"), DamagedDocument},
		"a book of nothing": {".epub", zipped(t, "inner.epub", string(whole)), DamagedDocument},
		"a bomb": {
			".docx", zipped(t, "word/document.xml", strings.Repeat(" ", maxExpanded+1)),
			DamagedDocument,
		},
		"many files":      {".epub", zipped(t, many...), DamagedDocument},
		"a password":      {".docx", locked, EncryptedDocument},
		"Word's password": {".docx", []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 EncryptedPackage"), EncryptedDocument},
		"rights":          {".epub", zipped(t, "META-INF/rights.xml", "", "a.html", "<p>a"), EncryptedDocument},
		"an entity": {".docx", zipped(t, "word/document.xml",
			`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><w><t>&e;</t></w>`), DamagedDocument},
	} {
		if d := readDocument(tc.ending, tc.raw); !strings.HasPrefix(d.Why, tc.want) || d.Markdown != "" {
			t.Errorf("%s: %q, %.80q", name, d.Why, d.Markdown)
		}
	}
}

func FuzzDocument(f *testing.F) {
	testenv.WithoutRace(f)
	f.Add(".docx", zipped(f, "word/document.xml", wordText))
	f.Add(".epub", zipped(f, "a.html", "<p>one"))
	f.Add(".html", []byte("<table><tr><td>a<td>b</table>"))
	f.Fuzz(func(t *testing.T, ending string, raw []byte) {
		if d := readDocument(ending, raw); d.Why != "" && d.Markdown != "" {
			t.Errorf("%q and %q", d.Why, d.Markdown)
		}
	})
}
