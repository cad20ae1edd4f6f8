package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
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
	maxScanTime   = 3 * time.Minute
	maxScanMemory = 1 << 30 // of tesseract, on Linux
	maxScans      = 100     // pages
	maxPictures   = 20      // of a page
	maxPixels     = 50 << 20
	minPixels     = 1000
	maxLanguages  = 4
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
	limit     time.Duration // of reading the file
	pages     int           // read so far
	least     float64       // confidence of words, in percent; those below are dropped
}

// errUnknownPicture reports a picture in a format that is not read.
var errUnknownPicture = errors.New("unknown picture format")

// page returns the text of a page's pictures. It reports false if one of them
// was not read.
func (s *scanner) page(pictures []picture) (text []printed, whole bool) {
	if s.pages++; s.pages > maxScans || time.Since(s.began) > s.limit*3/4 { // the last one may take long
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
	return linesOf(string(out), s.least), nil
}

// linesOf reads the words of a picture with their places, as tesseract writes them:
// level, page, block, paragraph, line, word, left, top, width, height, confidence,
// text. A line is of level 4, its words of level 5; those with less confidence
// than least are dropped.
func linesOf(tsv string, least float64) (lines []line) {
	size := 0
	for row := range strings.Lines(tsv) {
		fields := strings.Split(strings.TrimRight(row, "\r\n"), "\t")
		if len(fields) != 12 || size > maxPageText {
			continue
		}
		var box [5]float64 // left, top, width, height, confidence
		for i := range box {
			box[i], _ = strconv.ParseFloat(fields[6+i], 64)
		}
		switch text := strings.TrimSpace(fields[11]); {
		case fields[0] == "4":
			lines = append(lines, line{turn: [2]float64{1, 0}, y: -box[1] - box[3], height: max(1, box[3])})
		case fields[0] == "5" && text != "" && box[4] >= least && len(lines) > 0:
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

// run runs tesseract. It ends before the limit of this process, so that earlier
// pages are not lost. The error is [ErrBusy] if it got little CPU time until then.
func (s *scanner) run(in io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithDeadline(context.Background(), s.began.Add(s.limit*7/8))
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	cmd.Stdin = in
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	confine(cmd)
	err := cmd.Start()
	if err == nil {
		limitChild(cmd.Process.Pid)
		err = cmd.Wait()
	}
	if ctx.Err() != nil && (cmd.ProcessState == nil || cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() < s.limit/2) {
		err = ErrBusy
	}
	return out.Bytes(), err
}
