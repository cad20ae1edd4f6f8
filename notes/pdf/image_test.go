package pdf

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"lifehub/internal/testenv"
)

// encoded returns an image as a file of a format.
func encoded(t *testing.T, format string, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	err := map[string]func() error{
		"png":  func() error { return png.Encode(&out, img) },
		"jpeg": func() error { return jpeg.Encode(&out, img, nil) },
		"gif":  func() error { return gif.Encode(&out, img, nil) },
	}[format]()
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestImageIsReadLikeAScannedPage(t *testing.T) {
	tesseract := testenv.Program(t, "tesseract", "tesseract-ocr")
	clear := image.NewNRGBA(offer(t).Rect) // black on transparent
	for i, level := range offer(t).Pix {
		clear.Pix[4*i+3] = 255 - level
	}
	for name, raw := range map[string][]byte{
		"png": encoded(t, "png", offer(t)), "jpeg": encoded(t, "jpeg", offer(t)), "gif": encoded(t, "gif", offer(t)),
		"transparent": encoded(t, "png", clear),
	} {
		text, err := reader(t, tesseract).ImageText(t.Context(), raw)
		if err != nil || string(text) != ScanMark+offerText+"\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// sized returns the file of a small image that declares another size.
func sized(t *testing.T, width, height uint32) []byte {
	t.Helper()
	raw := encoded(t, "png", image.NewGray(image.Rect(0, 0, 40, 40)))
	head := raw[12:29] // the type and the content of the first chunk
	for i := range 4 {
		head[4+i], head[8+i] = byte(width>>(24-8*i)), byte(height>>(24-8*i))
	}
	sum := crc32.ChecksumIEEE(head)
	for i := range 4 {
		raw[29+i] = byte(sum >> (24 - 8*i))
	}
	return raw
}

func TestImageWithoutTextIsLeftOut(t *testing.T) {
	tesseract := testenv.Program(t, "tesseract", "tesseract-ocr")
	photo := image.NewGray(image.Rect(0, 0, 400, 300)) // soft stains
	for i := range photo.Pix {
		x, y := i%400, i/400
		photo.Pix[i] = byte((x*x/37 + y*y/23 + x*y/91) % 256)
	}
	white := image.NewGray(image.Rect(0, 0, 400, 300))
	draw.Draw(white, white.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	whole := encoded(t, "png", offer(t))
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"photo":           {encoded(t, "jpeg", photo), noText},
		"white":           {encoded(t, "png", white), noText},
		"icon":            {encoded(t, "png", image.NewGray(image.Rect(0, 0, 16, 16))), noText},
		"empty":           {nil, damagedImage},
		"not an image":    {[]byte("a list of\n/etc/passwd\n"), damagedImage},
		"cut short":       {whole[:len(whole)/2], damagedImage},
		"too many pixels": {sized(t, 100_000, 100_000), largeImage},
		"no pixels":       {sized(t, 0, 7), damagedImage},
	} {
		text, err := reader(t, tesseract).ImageText(t.Context(), c.raw)
		if err == nil || err.Error() != c.want || len(text) > 0 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestUncertainWordsOfImagesAreDropped(t *testing.T) {
	const head = "4\t1\t1\t1\t1\t0\t0\t0\t90\t10\t-1\t\n"
	word := func(confidence int, text string) string {
		return fmt.Sprintf("5\t1\t1\t1\t1\t1\t0\t0\t40\t10\t%d\t%s\n", confidence, text)
	}
	if text := wordsOf(head+word(96, "valve")+word(12, "LDOHO"), minConfidence); text != "valve" {
		t.Errorf("it reads %q", text)
	}
	if text := wordsOf(head+word(12, "LDOHO"), minConfidence); text != "" {
		t.Errorf("it reads %q", text)
	}
}
