// Package pdftest creates small PDF files for tests, valid and damaged ones.
package pdftest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/jpeg"
	"strings"
)

// Make returns a PDF with one page for each text; lines of a text are below each
// other. An empty text gives a page with an image.
func Make(pages ...string) []byte { return With("", pages...) }

// With returns a PDF with additional text in its trailer, such as "/Encrypt 9 0
// R".
func With(trailer string, pages ...string) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", ""}
	kids := make([]string, 0, len(pages))
	font := len(objects) + 1
	objects = append(objects, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	for _, text := range pages {
		page := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", page))
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 %d 0 R >> "+
				">> /Contents %d 0 R >>", font, page+1),
			Stream(content(text)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), strings.Join(kids, " "))
	return Objects(trailer, objects...)
}

// content returns the operators that paint a text.
func content(text string) string {
	if text == "" {
		return "q 500 0 0 700 40 40 cm /Im1 Do Q"
	}
	var b strings.Builder
	b.WriteString("BT /F1 11 Tf 14 TL 50 800 Td\n")
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "(%s) Tj T*\n", strings.NewReplacer(`\`, `\\`, "(", `\(`, ")",
			`\)`).Replace(strings.TrimRight(line, "\n")))
	}
	b.WriteString("ET")
	return b.String()
}

// Stream returns a compressed stream object.
func Stream(text string) string {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err) // writing to memory cannot fail
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.String())
}

// Objects returns a PDF with these objects, numbered from 1. The first one is the
// root.
func Objects(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var offsets []int
	for i, object := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, place := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", place)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, xref)
	return b.Bytes()
}

// Slow returns a small PDF that takes minutes to read: each of its pages paints
// nothing in many steps.
func Slow() []byte {
	const pages = 5000
	return Objects("", "<< /Type /Catalog /Pages 2 0 R >>", fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>",
		pages, strings.Repeat("3 0 R ", pages)),
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R >>",
		Stream(strings.Repeat("q Q ", 100_000)))
}

// Encrypted returns a PDF that requires a password.
func Encrypted() []byte {
	secret := "<" + strings.Repeat("41", 32) + ">"
	return With("/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O "+secret+" /U "+secret+" >>", "secret")
}

// Bomb returns a small PDF with a page that decompresses to this many bytes.
func Bomb(bytes int) []byte {
	return Objects("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>", Stream("["+strings.Repeat("1 ", bytes/2)))
}

// Pictures returns a PDF with a page for each picture, which covers it at 150
// dots per inch. How it is stored is "gray", "bits", "rgb", "palette", "png" (gray
// with the filters of PNG), "jpeg" or another filter's name with its data missing.
func Pictures(stored string, pages ...*image.Gray) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", ""}
	kids := make([]string, 0, len(pages))
	for _, page := range pages {
		n := len(objects)
		kids = append(kids, fmt.Sprintf("%d 0 R", n+1))
		width, height := float64(page.Rect.Dx())*72/150, float64(page.Rect.Dy())*72/150
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Resources << /XObject << /Im1 %d 0 R >> "+
				">> /Contents %d 0 R >>", width, height, n+2, n+3),
			Picture(stored, page), Stream(fmt.Sprintf("q %g 0 0 %g 0 0 cm /Im1 Do Q", width, height)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), strings.Join(kids, " "))
	return Objects("", objects...)
}

// Picture returns an image XObject; see [Pictures].
func Picture(stored string, from *image.Gray) string {
	width, height := from.Rect.Dx(), from.Rect.Dy()
	head := fmt.Sprintf("<< /Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 /ColorSpace "+
		"/DeviceGray ", width, height)
	var data bytes.Buffer
	above := make([]byte, width)
	for y := range height {
		row := from.Pix[y*from.Stride:][:width]
		bits := make([]byte, (width+7)/8)
		switch stored {
		case "bits":
			for x, level := range row {
				bits[x/8] |= level >> 7 << (7 - x%8)
			}
			data.Write(bits)
		case "rgb":
			for _, level := range row {
				data.Write([]byte{level, level, level})
			}
		case "palette":
			for _, level := range row {
				data.WriteByte(level >> 7)
			}
		case "png":
			filter := byte(1 + y%4)
			data.WriteByte(filter)
			for x, level := range row {
				left, corner := 0, 0
				if x > 0 {
					left, corner = int(row[x-1]), int(above[x-1])
				}
				up := int(above[x])
				guess := [5]int{0, left, up, (left + up) / 2, paeth(left, up, corner)}[filter]
				data.WriteByte(level - byte(guess))
			}
		default:
			data.Write(row)
		}
		above = row
	}
	switch stored {
	case "jpeg":
		data.Reset()
		if err := jpeg.Encode(&data, from, nil); err != nil {
			panic(err) // writing to memory cannot fail
		}
		return fmt.Sprintf("%s/Filter /DCTDecode /Length %d >>\nstream\n%s\nendstream", head, data.Len(), data.String())
	case "gray", "png", "bits", "rgb", "palette":
	default:
		return fmt.Sprintf("%s/Filter /%s /Length 4 >>\nstream\nabcd\nendstream", head, stored)
	}
	head = strings.NewReplacer(map[string][]string{
		"bits":    {"/BitsPerComponent 8", "/BitsPerComponent 1"},
		"rgb":     {"/DeviceGray", "/DeviceRGB"},
		"palette": {"/DeviceGray", "[/Indexed /DeviceRGB 1 <000000FFFFFF>]"},
		"png":     {"/ColorSpace", fmt.Sprintf("/DecodeParms << /Predictor 15 /Columns %d >> /ColorSpace", width)},
	}[stored]...).Replace(head)
	return strings.Replace(Stream(data.String()), "<< ", head, 1)
}

func paeth(left, up, corner int) int {
	guess := left + up - corner
	far := func(from int) int { return max(guess-from, from-guess) }
	switch {
	case far(left) <= far(up) && far(left) <= far(corner):
		return left
	case far(up) <= far(corner):
		return up
	}
	return corner
}
