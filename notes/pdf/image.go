package pdf

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/gif" // for image.Decode
	_ "image/png"
	"strings"
	"time"
)

// Image is the kind of an image that is left out; it begins the reason.
const Image = "image"

// Reasons.
const (
	noText       = Image + ": it shows no text"
	damagedImage = Image + ": it is damaged"
	largeImage   = Image + ": it has too many pixels"
	costlyImage  = Image + ": reading it takes too much time or memory"
)

const (
	maxImageTime = 30 * time.Second
	// minConfidence separates words from what tesseract reads in photos without
	// text: in screenshots and photographed pages, nearly all words have over 80.
	minConfidence = 60
	minLetters    = 3
	// imageDPI is the resolution of images in dots per inch, between that of screens
	// and that of scans. With a higher one, tesseract drops columns of tables.
	imageDPI = 150
	// maxScreen is the size in pixels up to which an image may be a screenshot. Its
	// letters are too small for tesseract.
	maxScreen = 5 << 19
	maxPixels = 50 << 20
	minPixels = 1000
)

// ImageText returns the text of a PNG, JPEG or GIF file as [Reader.Text] returns
// that of a scanned page. An error is [ErrBusy], or one of the system, or begins
// with [Image].
func (r Reader) ImageText(ctx context.Context, raw []byte) ([]byte, error) {
	d, err := run(ctx, raw, maxImageTime, imageArgument, r)
	switch {
	case d.Busy || errors.Is(err, ErrBusy):
		return nil, ErrBusy
	case err != nil && strings.HasPrefix(err.Error(), Damaged):
		return nil, errors.New(costlyImage)
	case err != nil:
		return nil, err
	}
	return d.text()
}

// readImage reads an image as a document of one page.
func readImage(raw []byte, tesseract string) Document {
	head, _, err := image.DecodeConfig(bytes.NewReader(raw))
	switch {
	case err != nil || head.Width <= 0 || head.Height <= 0:
		return Document{Why: damagedImage}
	case head.Width > maxPixels/head.Height:
		return Document{Why: largeImage}
	case head.Width*head.Height < minPixels:
		return Document{Why: noText}
	}
	decoded, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return Document{Why: damagedImage}
	}
	s := scanner{program: tesseract, began: time.Now(), limit: maxImageTime, least: minConfidence}
	gray := grayOf(decoded)
	if len(gray.Pix) <= maxScreen {
		gray = doubled(gray)
	}
	text, err := s.recognise(gray, imageDPI)
	switch {
	case errors.Is(err, ErrBusy):
		return Document{Busy: true}
	case err != nil:
		return Document{Why: costlyImage}
	case lettersIn(text) < minLetters:
		return Document{Why: noText}
	}
	return Document{Pages: []string{text}, Scans: []bool{true}}
}

// doubled returns an image with twice the width and height.
func doubled(small *image.Gray) *image.Gray {
	width, height := small.Rect.Dx(), small.Rect.Dy()
	at := func(x, y int) int { return int(small.Pix[min(y, height-1)*small.Stride+min(x, width-1)]) }
	large := image.NewGray(image.Rect(0, 0, 2*width, 2*height))
	for y := range 2 * height {
		for x := range 2 * width {
			left, right, top, bottom := x/2, (x+1)/2, y/2, (y+1)/2
			large.Pix[y*large.Stride+x] = byte((at(left, top) + at(right, top) + at(left,
				bottom) + at(right, bottom)) / 4)
		}
	}
	return large
}
