package pdf

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"os"
	"strings"
	"testing"

	"lifehub/internal/pdftest"
	"lifehub/internal/testenv"
)

// offer is a picture of a page with two lines and a table between them.
func offer(t *testing.T) *image.Gray {
	t.Helper()
	raw, err := os.ReadFile("testdata/offer.png")
	if err != nil {
		t.Fatal(err)
	}
	return grayOfPNG(t, raw)
}

const offerText = "The boiler keeps a pressure of 1.5 bar.\u2028Item Pieces Price\u2028Valve 4 12.50\u2028Seal 2 " +
	"0.80\u2028Filter 1 31.00\u2028Service is due in the spring."

func TestScannedPagesAreReadByTesseract(t *testing.T) {
	tesseract := testenv.Program(t, "tesseract", "tesseract-ocr")
	for _, stored := range []string{"gray", "bits", "rgb", "palette", "png", "jpeg"} {
		text, err := reader(t, tesseract).Text(t.Context(), pdftest.Pictures(stored, offer(t)))
		// Enlarged black and white, a point looks like a comma.
		if err != nil || strings.ReplaceAll(string(text), "0,80", "0.80") != ScanMark+offerText+"\n" {
			t.Errorf("stored as %s: %q, %v", stored, text, err)
		}
	}
}

func TestScansWithoutTesseractAreReported(t *testing.T) {
	_, err := reader(t, "").Text(t.Context(), pdftest.Pictures("gray", offer(t)))
	if err == nil || err.Error() != onlyPictures {
		t.Errorf("it says %v", err)
	}
	if !IsOutdated(onlyPictures, "/usr/bin/tesseract") || IsOutdated(onlyPictures, "") {
		t.Error("installing tesseract changes nothing")
	}
}

func TestUnreadablePicturesAreReported(t *testing.T) {
	tesseract := testenv.Program(t, "tesseract", "tesseract-ocr")
	blank := image.NewGray(image.Rect(0, 0, 400, 300))
	draw.Draw(blank, blank.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	list := pdftest.Pictures("gray", blank)
	for name, raw := range map[string][]byte{
		"unknown format": pdftest.Pictures("JBIG2Decode", blank),
		"no picture":     pdftest.Pictures("DCTDecode", blank),
		"cut short":      bytes.Replace(list, []byte("/Height 300"), []byte("/Height 900"), 1),
		"too large":      bytes.Replace(list, []byte("/Height 300"), []byte("/Height 999999999"), 1),
		"blank":          list,
	} {
		text, err := reader(t, tesseract).Text(t.Context(), raw)
		if err == nil || !strings.HasPrefix(err.Error(), Scanned+": ") &&
			!strings.HasPrefix(err.Error(), Damaged+": ") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
