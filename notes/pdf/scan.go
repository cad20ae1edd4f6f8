package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Limits of reading the pictures of a file by tesseract.
const (
	maxScanTime   = 3 * time.Minute
	maxScanMemory = 1 << 30 // of tesseract, on Linux
	maxScans      = 100     // pages
	maxPageText   = 1 << 20
	maxLanguages  = 4
)

// scanner reads pictures of text by tesseract, a child of this process.
type scanner struct {
	program   string
	languages string // as tesseract names them: deu+eng
	began     time.Time
	limit     time.Duration // of reading the file
	pages     int           // read so far
	least     float64       // confidence of words, in percent; those below are dropped
}

// errLate reports that there is no time left to read a page.
var errLate = errors.New("not enough time")

// page returns the text of a page.
func (s *scanner) page(shown *image.Gray, dpi int) (string, error) {
	if s.pages++; s.pages > maxScans || time.Since(s.began) > s.limit*3/4 { // the last one may take long
		return "", errLate
	}
	return s.recognise(shown, dpi)
}

// recognise runs tesseract. It gets only an image that was decoded and written
// here: other input it may take for a list of files to read.
func (s *scanner) recognise(gray *image.Gray, dpi int) (string, error) {
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
		return "", err
	}
	return wordsOf(string(out), s.least), nil
}

// wordsOf returns the text of a picture from the words that tesseract writes: level,
// page, block, paragraph, line, word, left, top, width, height, confidence, text. A
// line is of level 4, its words of level 5; those with less confidence than least
// are dropped.
func wordsOf(tsv string, least float64) string {
	var text strings.Builder
	for row := range strings.Lines(tsv) {
		fields := strings.Split(strings.TrimRight(row, "\r\n"), "\t")
		if len(fields) != 12 || text.Len() > maxPageText {
			continue
		}
		confidence, _ := strconv.ParseFloat(fields[10], 64)
		switch {
		case fields[0] == "4":
			text.WriteByte('\n')
		case fields[0] == "5" && confidence >= least:
			text.WriteString(fields[11] + " ")
		}
	}
	return inOneLine(text.String())
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
	if ctx.Err() != nil && (cmd.ProcessState == nil || cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() < s.limit/4) {
		err = ErrBusy
	}
	return out.Bytes(), err
}
