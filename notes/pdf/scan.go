package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"
)

// Limits of reading the pictures of a file by tesseract.
const (
	maxScanTime    = 3 * time.Minute
	maxScanMemory  = 1 << 30 // of tesseract, on Linux
	maxScans       = 100     // pages
	maxPictures    = 20      // of a page
	maxPixels      = 50 << 20
	minPixels      = 1000
	maxLanguages   = 4
	lastScanBefore = maxScanTime * 3 / 4 // no further page is begun later
	lastScanEnd    = maxScanTime * 7 / 8 // tesseract ends here, so that earlier pages are not lost
)

// picture is an image that a page shows.
type picture struct {
	image pdf.Value
	width float64 // in points, as shown
}

// scanner reads pictures of text by tesseract, a child of this process.
type scanner struct {
	program   string
	languages string // as tesseract names them: deu+eng
	raw       []byte // the file
	began     time.Time
	pages     int // read so far
}

// errUnknownPicture reports a picture in a format that is not read.
var errUnknownPicture = errors.New("unknown picture format")

// page returns the text of a page's pictures. It reports false if one of them
// was not read.
func (s *scanner) page(pictures []picture) (text []printed, whole bool) {
	if s.pages++; s.pages > maxScans || time.Since(s.began) > lastScanBefore {
		return nil, false
	}
	whole = true
	for _, p := range pictures {
		lines, err := s.read(p)
		whole = whole && err == nil
		text = append(text, arranged(lines)...)
	}
	return text, whole
}

// read returns the lines of a picture. A fault of the library that decodes it is
// an error.
func (s *scanner) read(p picture) (lines []line, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = errUnknownPicture
		}
	}()
	gray, err := s.decode(p.image)
	if err != nil || gray == nil {
		return nil, err
	}
	dpi := 300
	if p.width > 0 {
		dpi = int(math.Round(float64(gray.Rect.Dx()) / p.width * 72))
	}
	return s.recognise(gray, min(max(dpi, 70), 1200))
}

// recognise runs tesseract. It gets only an image that was decoded and written
// here: other input it may take for a list of files to read.
func (s *scanner) recognise(gray *image.Gray, dpi int) ([]line, error) {
	if s.languages == "" {
		s.languages = s.installed()
	}
	var in bytes.Buffer
	fmt.Fprintf(&in, "P5 %d %d 255\n", gray.Rect.Dx(), gray.Rect.Dy())
	for y := range gray.Rect.Dy() {
		in.Write(gray.Pix[y*gray.Stride:][:gray.Rect.Dx()])
	}
	out, err := s.run(&in, "stdin", "stdout", "-l", s.languages, "--dpi", strconv.Itoa(dpi), "--psm", "4", "tsv")
	if err != nil {
		return nil, err
	}
	return linesOf(string(out)), nil
}

// linesOf reads the words of a picture with their places, as tesseract writes them:
// level, page, block, paragraph, line, word, left, top, width, height, confidence,
// text. A line is of level 4, its words of level 5.
func linesOf(tsv string) (lines []line) {
	size := 0
	for row := range strings.Lines(tsv) {
		fields := strings.Split(strings.TrimRight(row, "\r\n"), "\t")
		if len(fields) != 12 || size > maxPageText {
			continue
		}
		var box [4]float64 // left, top, width, height
		for i := range box {
			box[i], _ = strconv.ParseFloat(fields[6+i], 64)
		}
		switch text := strings.TrimSpace(fields[11]); {
		case fields[0] == "4":
			lines = append(lines, line{turn: [2]float64{1, 0}, y: -box[1] - box[3], height: max(1, box[3])})
		case fields[0] == "5" && text != "" && len(lines) > 0:
			size += len(text)
			lines[len(lines)-1].addWord(text, box[0], box[0]+box[2])
		}
	}
	return slices.DeleteFunc(lines, func(l line) bool { return len(l.cells) == 0 })
}

// addWord adds a word to the last cell, or to a new one if it is apart.
func (l *line) addWord(text string, from, to float64) {
	word := cell{from, to, []byte(text)}
	if len(l.cells) == 0 || l.dividesAfter() && from-l.last().to > cellGap*l.height {
		l.cells = append(l.cells, word)
		return
	}
	last := l.last()
	last.text, last.to = append(append(last.text, ' '), word.text...), to
}

// installed returns the languages that tesseract has, or English if these are
// many: each costs time.
func (s *scanner) installed() string {
	out, err := s.run(nil, "--list-langs")
	if err != nil {
		return "eng"
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); len(name) == len("eng") && name != "osd" && name != "equ" {
			names = append(names, name)
		}
	}
	if len(names) == 0 || len(names) > maxLanguages {
		return "eng"
	}
	return strings.Join(names, "+")
}

func (s *scanner) run(in io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithDeadline(context.Background(), s.began.Add(lastScanEnd))
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	cmd.Stdin = in
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	confine(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	limitChild(cmd.Process.Pid)
	err := cmd.Wait()
	return out.Bytes(), err
}

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
// only filters of text and does not give the offset but in its description.
func (s *scanner) stream(v pdf.Value) []byte {
	said := v.String()
	at, err := strconv.Atoi(said[strings.LastIndexByte(said, '@')+1:])
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
			row[i] += byte(nearest(left, up, corner))
		}
	}
}

// nearest is the Paeth predictor of PNG.
func nearest(left, up, corner int) int {
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

func grayOf(from image.Image) *image.Gray {
	b := from.Bounds()
	gray := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			gray.SetGray(x, y, color.GrayModel.Convert(from.At(b.Min.X+x, b.Min.Y+y)).(color.Gray))
		}
	}
	return gray
}
