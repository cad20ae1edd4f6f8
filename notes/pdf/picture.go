package pdf

import (
	"bytes"
	"compress/zlib"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"
	"strconv"
	"strings"

	"github.com/ledongthuc/pdf"
)

// decode decodes an image to gray levels; nil if it is too small for text.
func (s *scanner) decode(v pdf.Value) (*image.Gray, error) {
	width, height := int(v.Key("Width").Int64()), int(v.Key("Height").Int64())
	switch {
	case width <= 0 || height <= 0 || width > maxPixels/height:
		return nil, errUnknownPicture
	case width*height < minPixels:
		return nil, nil
	}
	filters := names(v.Key("Filter"))
	last := ""
	if len(filters) > 0 {
		last = filters[len(filters)-1]
	}
	switch {
	case len(filters) == 1 && last == "DCTDecode":
		head, err := jpeg.DecodeConfig(bytes.NewReader(s.stream(v)))
		if err != nil || head.Width > maxPixels/max(head.Height, 1) {
			return nil, errUnknownPicture
		}
		decoded, err := jpeg.Decode(bytes.NewReader(s.stream(v)))
		if err != nil {
			return nil, err
		}
		return grayOf(decoded), nil
	case len(filters) == 1 && last == "FlateDecode":
		parameters := v.Key("DecodeParms")
		if parameters.Kind() == pdf.Array {
			parameters = parameters.Index(0)
		}
		packed, err := zlib.NewReader(bytes.NewReader(s.stream(v)))
		if err != nil {
			return nil, err
		}
		return samples(v, packed, parameters.Key("Predictor").Int64() >= 10)
	case len(filters) == 0:
		return samples(v, bytes.NewReader(s.stream(v)), false)
	}
	return nil, errUnknownPicture
}

// names returns a name, or the names of an array.
func names(v pdf.Value) (list []string) {
	if v.Kind() == pdf.Name {
		return []string{v.Name()}
	}
	for i := range v.Len() {
		list = append(list, v.Index(i).Name())
	}
	return list
}

// stream returns the bytes of a stream before its filters. The library names
// only filters of text and gives the offset only in the value's description.
func (s *scanner) stream(v pdf.Value) []byte {
	description := v.String()
	at, err := strconv.Atoi(description[strings.LastIndexByte(description, '@')+1:])
	length := int(v.Key("Length").Int64())
	if err != nil || at < 0 || at > len(s.raw) || length < 0 || length > len(s.raw)-at {
		return nil
	}
	return s.raw[at : at+length]
}

// samples reads an image of raw samples, each row with a byte for its PNG filter
// before it if they are filtered.
func samples(v pdf.Value, from io.Reader, filtered bool) (*image.Gray, error) {
	width, height, bits := int(v.Key("Width").Int64()), int(v.Key("Height").Int64()), int(v.Key("BitsPerComponent").Int64())
	if v.Key("ImageMask").Bool() {
		bits = 1
	}
	colours, palette := colourSpace(v.Key("ColorSpace"))
	if bits != 1 && bits != 2 && bits != 4 && bits != 8 || colours < 1 || colours > 4 {
		return nil, errUnknownPicture
	}
	size := (width*bits*colours + 7) / 8
	row, above := make([]byte, size), make([]byte, size)
	gray := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		var filter [1]byte
		if filtered {
			if _, err := io.ReadFull(from, filter[:]); err != nil {
				return nil, err
			}
		}
		if _, err := io.ReadFull(from, row); err != nil {
			return nil, err
		}
		unfilter(filter[0], row, above, max(1, bits*colours/8))
		for x := range width {
			gray.Pix[y*gray.Stride+x] = level(row, x, bits, colours, palette)
		}
		row, above = above, row
	}
	return gray, nil
}

// unfilter restores a row of a PNG from the row above it; pixel is the size of a
// pixel in bytes.
func unfilter(filter byte, row, above []byte, pixel int) {
	for i := range row {
		left, corner := 0, 0
		if i >= pixel {
			left, corner = int(row[i-pixel]), int(above[i-pixel])
		}
		up := int(above[i])
		switch filter {
		case 1:
			row[i] += byte(left)
		case 2:
			row[i] += byte(up)
		case 3:
			row[i] += byte((left + up) / 2)
		case 4:
			row[i] += byte(paeth(left, up, corner))
		}
	}
}

// paeth is the Paeth predictor of PNG.
func paeth(left, up, corner int) int {
	guess := left + up - corner
	a, b, c := max(guess-left, left-guess), max(guess-up, up-guess), max(guess-corner, corner-guess)
	switch {
	case a <= b && a <= c:
		return left
	case b <= c:
		return up
	}
	return corner
}

// colourSpace returns the number of components of a colour space, 0 if it is not
// known, and the gray levels of a palette.
func colourSpace(v pdf.Value) (components int, palette []byte) {
	name := v.Name()
	if v.Kind() == pdf.Array {
		name = v.Index(0).Name()
	}
	switch name {
	case "", "DeviceGray", "CalGray", "G":
		return 1, nil
	case "DeviceRGB", "CalRGB", "RGB":
		return 3, nil
	case "DeviceCMYK", "CMYK":
		return 4, nil
	case "ICCBased":
		return int(v.Index(1).Key("N").Int64()), nil
	case "Indexed":
		base, _ := colourSpace(v.Index(1))
		table := []byte(v.Index(3).RawString())
		if v.Index(3).Kind() == pdf.Stream {
			table, _ = io.ReadAll(io.LimitReader(v.Index(3).Reader(), 4*256))
		}
		for ; base > 0 && len(table) >= base; table = table[base:] {
			palette = append(palette, lightness(table[:base]))
		}
		return 1, palette
	}
	return 0, nil
}

// level returns the gray level of a pixel.
func level(row []byte, x, bits, colours int, palette []byte) byte {
	var pixel [4]byte
	for i := range min(colours, len(pixel)) {
		at := (x*colours + i) * bits
		value := int(row[at/8]) >> (8 - bits - at%8) & (1<<bits - 1)
		if colours == 1 && palette != nil {
			return palette[min(value, len(palette)-1)]
		}
		pixel[i] = byte(value * 255 / (1<<bits - 1))
	}
	return lightness(pixel[:min(colours, len(pixel))])
}

func lightness(components []byte) byte {
	switch len(components) {
	case 1:
		return components[0]
	case 3:
		return color.GrayModel.Convert(color.RGBA{components[0], components[1], components[2], 255}).(color.Gray).Y
	case 4:
		return color.GrayModel.Convert(color.CMYK{components[0], components[1], components[2], components[3]}).(color.Gray).Y
	}
	return 255
}

// grayOf returns the gray levels of an image on a white page.
func grayOf(from image.Image) *image.Gray {
	b := from.Bounds()
	gray := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(gray, gray.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(gray, gray.Rect, from, b.Min, draw.Over)
	return gray
}
