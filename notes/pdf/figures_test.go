package pdf

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/pdftest"
	"lifehub/internal/testenv"
)

// layout is a page with its text as it should be read.
type layout struct {
	name, operators string
	sentences       []string
	rows            [][]string
}

// layouts are pages with tables and with columns of text.
func layouts() []layout {
	columns := [][]string{
		{"Part", "Valve, brass", "Seal ring", "Filter mesh", "Copper pipe", "Pump", "Total"},
		{"Order", "A-1042", "A-1043", "B-2210", "B-2211", "C-0007", ""},
		{"Pieces", "4", "12", "1", "3", "1", "21"},
		{"Price", "12.50", "0.80", "31.00", "7.25", "149.00", "261.35"},
	}
	var rows [][]string
	for i := range columns[0] {
		var row []string
		for _, column := range columns {
			if column[i] != "" {
				row = append(row, column[i])
			}
		}
		rows = append(rows, row)
	}
	left := []string{
		"The boiler was serviced in May by", "the same company as last year. Its",
		"pressure had fallen to one bar, and", "a seal had to be exchanged. This", "took an hour and cost forty euros.",
	}
	right := []string{
		"The next service is due in spring.", "Until then the pressure is read on",
		"the first day of each month, in the", "morning, before hot water is drawn",
		"from any tap of the house or yard.",
	}
	prose := strings.SplitAfter(strings.Join(append(left, right...), " "), ". ")
	for i := range prose {
		prose[i] = strings.TrimSpace(prose[i])
	}
	var byColumn, numbers strings.Builder
	for i, column := range columns {
		byColumn.WriteString(at(50+260*float64(i)/3, 700, column...))
	}
	for row := range columns[0] {
		for i, column := range columns {
			x, text := 50+260*float64(i)/3, column[row]
			if i >= 2 {
				x += 40 - 5.2*float64(len(text))
			}
			numbers.WriteString(at(x, 700-14*float64(row), text))
		}
	}
	before, after := "The offer is valid until the end of June.", "It includes delivery and tax."
	return []layout{
		{"table by rows", byRows(columns...), nil, rows},
		{"table by columns", byColumn.String(), nil, rows},
		{"numbers to the right", numbers.String(), nil, rows},
		{"columns by lines", byRows(left, right), prose, nil},
		{"columns by columns", at(50, 700, left...) + at(310, 700, right...), prose, nil},
		{
			"table and text", at(50, 740, before) + byRows(columns...) + at(50, 580, after),
			[]string{before, after},
			rows,
		},
	}
}

// at paints texts with the left end of their baseline at x, y.
func at(x, y float64, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "BT /F1 10 Tf %g %g Td (%s) Tj ET\n", x, y-14*float64(i), text)
	}
	return b.String()
}

// byRows paints columns of texts line by line.
func byRows(columns ...[]string) string {
	var b strings.Builder
	for row := range columns[0] {
		for i, column := range columns {
			if row < len(column) && column[row] != "" {
				b.WriteString(at(50+260*float64(i)/float64(len(columns)-1), 700-14*float64(row), column[row]))
			}
		}
	}
	return b.String()
}

// page returns a PDF of a layout in a font.
func (l layout) page(font string) []byte {
	return pdftest.Objects("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 540 540 780] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>",
		strings.Replace(helvetica, "Helvetica", font, 1), pdftest.Stream(l.operators))
}

// tool runs a program on a file that it reads and one that it writes, and returns
// what it wrote.
func tool(t *testing.T, raw []byte, written string, command ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", command, err, out)
	}
	out, err := os.ReadFile(filepath.Join(dir, written))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func grayOfPNG(t *testing.T, raw []byte) *image.Gray {
	t.Helper()
	decoded, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	gray := image.NewGray(decoded.Bounds())
	draw.Draw(gray, gray.Rect, decoded, image.Point{}, draw.Src)
	return gray
}

// found counts the words of a layout that a text has, its rows that are a line of
// the text with their cells in order, and its sentences that are in it unbroken.
func (l layout) found(text string) (words, rows, sentences int) {
	has := map[string]int{}
	for _, word := range strings.Fields(strings.ReplaceAll(text, "|", " ")) {
		has[word]++
	}
	for _, word := range l.words() {
		if has[word] > 0 {
			has[word]--
			words++
		}
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\u2028' || r == '\f' })
	for _, row := range l.rows {
		for _, line := range lines {
			inOrder := true
			for _, cell := range row {
				var after string
				_, after, ok := strings.Cut(line, cell)
				line, inOrder = after, inOrder && ok
			}
			if inOrder {
				rows++
				break
			}
		}
	}
	joined := strings.Join(strings.Fields(text), " ")
	for _, sentence := range l.sentences {
		if strings.Contains(joined, sentence) {
			sentences++
		}
	}
	return words, rows, sentences
}

func (l layout) words() []string {
	words := strings.Fields(strings.Join(l.sentences, " "))
	for _, row := range l.rows {
		words = append(words, strings.Fields(strings.Join(row, " "))...)
	}
	return words
}

// TestTablesColumnsAndScans reads PDFs of several generators and images. With LIFEHUB_SOAK=1 it
// prints the figures of docs/figures/pdf.md; otherwise tesseract reads only a table and columns.
func TestTablesColumnsAndScans(t *testing.T) {
	testenv.WithoutRace(t)
	tesseract := testenv.Program(t, "tesseract", "tesseract-ocr")
	pdftotext := testenv.Program(t, "pdftotext", "poppler-utils")
	cairo, render := testenv.Program(t, "pdftocairo", "poppler-utils"), testenv.Program(t, "pdftoppm", "poppler-utils")
	scan := func(raw []byte, dpi string) *image.Gray {
		return grayOfPNG(t, tool(t, raw, "out.png", render, "-r", dpi, "-gray", "-png", "-singlefile", "in", "out"))
	}
	var table strings.Builder
	sum := map[string]int{}
	files, each := 0, testenv.Rounds(3, 1) // tesseract reads each third layout, or all
	check := func(kind string, l layout, raw []byte) {
		text, err := reader(t, tesseract).Text(t.Context(), raw)
		if err != nil {
			t.Errorf("%s, %s: %v", l.name, kind, err)
		}
		words, rows, sentences := l.found(string(text))
		theirWords, _, theirSentences := l.found(string(tool(t, raw, "out", pdftotext, "in", "out")))
		_, theirRows, _ := l.found(string(tool(t, raw, "out", pdftotext, "-layout", "in", "out")))
		files++
		fmt.Fprintf(&table, "| %s | %s | %d of %d | %d | %d of %d | %d | %d of %d | %d |\n", l.name, kind, words,
			len(l.words()), theirWords, rows, len(l.rows), theirRows, sentences, len(l.sentences), theirSentences)
		kind, _, _ = strings.Cut(kind, ",")
		sum[kind] += words
		sum[kind+" of"] += len(l.words())
		if words < theirWords {
			t.Errorf("%s, %s: fewer words than by pdftotext: %q", l.name, kind, text)
		}
	}
	for i, l := range layouts() {
		check("text", l, l.page([]string{"Helvetica", "Times-Roman", "Courier"}[i%3]))
		check("text, by cairo", l, tool(t, l.page("Helvetica"), "out", cairo, "-pdf", "in", "out"))
		if i%each > 0 {
			continue
		}
		check("scan, "+[]string{"gray", "bits", "rgb", "palette", "png", "jpeg"}[i], l,
			pdftest.Pictures([]string{"gray", "bits", "rgb", "palette", "png", "jpeg"}[i],
				scan(l.page("Helvetica"), "150")))
	}
	for _, i := range []int{0, 3} {
		l := layouts()[i]
		picture := tool(t, l.page("Helvetica"), "out.png", render, "-r", "200", "-png", "-singlefile", "in", "out")
		check("text, below a scan", l, tool(t, picture, "out.pdf", tesseract, "in", "out", "--dpi", "200", "pdf"))
	}
	for _, dpi := range []string{"150", "96", "300"}[:testenv.Rounds(1, 3)] {
		var found, all [3]int // words, rows, sentences
		for i, l := range layouts() {
			if i%each > 0 {
				continue
			}
			files++
			text, err := reader(t, tesseract).ImageText(t.Context(),
				encoded(t, []string{"png", "jpeg", "gif"}[i%3], scan(l.page("Helvetica"), dpi)))
			if err != nil {
				t.Errorf("%s, image: %v", l.name, err)
			}
			words, rows, sentences := l.found(string(text))
			found = [3]int{found[0] + words, found[1] + rows, found[2] + sentences}
			all = [3]int{all[0] + len(l.words()), all[1] + len(l.rows), all[2] + len(l.sentences)}
		}
		fmt.Fprintf(&table, "| all six | images, %s dpi | %d of %d | 0 | %d of %d | 0 | %d of %d | 0 |\n", dpi,
			found[0], all[0], found[1], all[1], found[2], all[2])
		sum["image"] += found[0]
		sum["image of"] += all[0]
	}
	t.Logf("%d files\n%s", files, table.String())
	for kind, least := range map[string]float64{"text": 0.95, "scan": 0.95, "image": 0.95} {
		if rate := float64(sum[kind]) / float64(sum[kind+" of"]); rate < least {
			t.Errorf("%s: %.3f of the words are found", kind, rate)
		}
	}
}
