// Package pdf extracts the text of PDF, image, HTML, EPUB and Word files in a separate process with
// limited memory and time, so that a hostile file can only crash that process.
// Start at [Reader].
package pdf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"time"
)

// Limits of a file. Of a longer one only the first pages are read.
const (
	maxTime   = 20 * time.Second
	maxMemory = 512 << 20
	maxPages  = 5000
	maxText   = 12 << 20 // bytes; less than the longest note
)

// slots limits the number of concurrent reader processes, each of which may need
// maxMemory.
var slots = make(chan struct{}, 2)

// patience is how long to wait for a reader process; tests reduce it.
var patience = maxTime

// Reasons why a file cannot be read, which begin an error. Reports count files by
// them.
const (
	Scanned   = "scanned PDF"
	Encrypted = "encrypted PDF"
	Damaged   = "damaged PDF"
)

// ErrBusy reports that a file was not read but may be on the next attempt: its
// reader process was killed, or got less than a quarter of a CPU within its time
// limit; see [TimedOut].
var ErrBusy = errors.New("unread file: not enough time; it is read again with the next index")

// slowError reports that a file was not read within the time limit. If the reader
// process got little CPU time, the error also matches ErrBusy.
type slowError struct {
	damaged string // the reason, unless it got little CPU time
	limit   time.Duration
	starved bool
}

func (e *slowError) Error() string {
	kind := e.damaged
	if e.starved {
		kind = "unread file"
	}
	return kind + ": reading it takes more than " + e.limit.String()
}

func (e *slowError) Is(target error) bool { return e.starved && target == ErrBusy }

// TimedOut reports whether reading a file exceeded the time limit, which another
// attempt would also do.
func TimedOut(err error) bool {
	var slow *slowError
	return errors.As(err, &slow)
}

// onlyPictures is the reason for a file without text whose pictures were not read.
const onlyPictures = Scanned + ": its pages hold pictures and no text"

// IsOutdated reports whether a reason means that pictures were not read, which
// tesseract, if it is a path, now reads.
func IsOutdated(reason, tesseract string) bool { return reason == onlyPictures && tesseract != "" }

// Document is the text of a file.
type Document struct {
	Pages    []string // the text of each page, on one line
	Broken   []bool   // pages that could not be read completely
	Scans    []bool   // pages read by OCR
	Left     int      // number of further pages that were not read
	Shown    int      // number of pages without text that show a picture
	Markdown string   // of a document that has no pages
	Why      string   // why nothing could be read; empty if the file was read
	Busy     bool     // nothing was read, because tesseract got too little CPU time
}

// Reader reads files.
type Reader struct {
	Tesseract string // path of the program that reads pages without text, and images; empty: they are not read
	// folder for compiled code, which is created; empty, or one that cannot be written: each file takes two seconds
	// more
	Cache string
}

// pdfArgument and imageArgument, with the fields of a [Reader] after them, make
// this program read a file from its stdin and write the [Document] to stdout.
const (
	pdfArgument   = "read-pdf-from-stdin"
	imageArgument = "read-image-from-stdin"
)

// The reader process exits before the rest of the program is initialised. Because
// it starts in init, every program that imports this package can read files,
// including tests.
func init() {
	if len(os.Args) != 4 {
		return
	}
	ending, document := strings.CutPrefix(os.Args[1], documentArgument)
	if !document && os.Args[1] != pdfArgument && os.Args[1] != imageArgument {
		return
	}
	r := Reader{Tesseract: os.Args[2], Cache: os.Args[3]}
	time.AfterFunc(maxScanTime, func() { os.Exit(1) }) // the parent may be gone
	go limitMemory()
	raw, err := io.ReadAll(os.Stdin)
	var d Document
	switch {
	case err != nil:
	case document:
		d = readDocument(ending, raw)
	case os.Args[1] == imageArgument:
		d = readImage(raw, r.Tesseract)
	default:
		d, err = read(raw, r.Tesseract, r.Cache)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(d)
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// tooLarge is the exit code of a process that exceeded its memory limit.
const tooLarge = 3

// limitMemory ends the process when it uses too much memory. Large allocations
// are counted before they are touched.
func limitMemory() {
	debug.SetMemoryLimit(maxMemory / 4 * 3) // above this, prefer collecting garbage to growing
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	for {
		metrics.Read(held)
		if held[0].Value.Uint64()+held[1].Value.Uint64() > maxMemory {
			os.Exit(tooLarge)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ScanMark begins the line of a page that was read by OCR.
const ScanMark = "\x01"

// Text returns the text of a file with one line per page. The line of a page that
// could not be read completely ends with a NUL byte. An error begins with one of
// the reasons above. The lines of pages that tesseract read begin with [ScanMark].
func (r Reader) Text(ctx context.Context, raw []byte) ([]byte, error) {
	r.prepare(ctx)
	d, err := run(ctx, raw, patience, pdfArgument, Reader{Cache: r.Cache})
	if err == nil && d.Shown > 0 && r.Tesseract != "" {
		scanned, scanErr := run(ctx, raw, maxScanTime, pdfArgument, r)
		switch {
		case scanErr == nil:
			d = scanned
		case ctx.Err() != nil:
			err = scanErr
		case d.Why != "":
			err = fmt.Errorf("%s: its pictures could not be read", Scanned)
		}
	}
	if err != nil {
		return nil, err
	}
	return d.text()
}

// prepared are the caches for which PDFium was started in this process.
var prepared = struct {
	sync.Mutex
	at map[string]bool
}{at: map[string]bool{}}

// prepare has PDFium compiled into the cache, which on a slow machine may take
// longer than a file.
func (r Reader) prepare(ctx context.Context) {
	prepared.Lock()
	defer prepared.Unlock()
	if r.Cache == "" || prepared.at[r.Cache] {
		return
	}
	_, _ = run(ctx, nil, maxScanTime, pdfArgument, Reader{Cache: r.Cache}) // the empty file has an error
	prepared.at[r.Cache] = ctx.Err() == nil
}

// text returns the text of all pages as [Reader.Text] does.
func (d Document) text() ([]byte, error) {
	if d.Why != "" {
		return nil, errors.New(d.Why)
	}
	var text bytes.Buffer
	for i, page := range d.Pages {
		if i < len(d.Scans) && d.Scans[i] {
			text.WriteString(ScanMark)
		}
		text.WriteString(page)
		if i < len(d.Broken) && d.Broken[i] || d.Left > 0 && i == len(d.Pages)-1 {
			text.WriteByte(0)
		}
		text.WriteByte('\n')
	}
	return text.Bytes(), nil
}

// run reads a file in a separate process within a time limit.
func run(ctx context.Context, raw []byte, limit time.Duration, kind string, r Reader) (d Document, err error) {
	damaged := Damaged
	if strings.HasPrefix(kind, documentArgument) {
		damaged = DamagedDocument
	}
	self, err := os.Executable()
	if err != nil {
		return d, fmt.Errorf("unread file: start its reader: %w", err)
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // valid even after the executable was replaced
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return d, fmt.Errorf("read file: %w", ctx.Err())
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, self, kind, r.Tesseract, r.Cache)
	withChildren(cmd)
	cmd.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // required on Windows
	if data := os.Getenv("TESSDATA_PREFIX"); data != "" {
		cmd.Env = append(cmd.Env, "TESSDATA_PREFIX="+data)
	}
	cmd.Stdin = bytes.NewReader(raw)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	ended := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return d, fmt.Errorf("read file: %w", ctx.Err())
	case limited.Err() != nil && (cmd.ProcessState == nil ||
		cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() < limit/4):
		return d, &slowError{damaged, limit, true}
	case limited.Err() == nil && errors.As(err, &ended) && ended.ExitCode() < 0: // killed by a signal
		return d, ErrBusy
	case limited.Err() != nil:
		return d, &slowError{damaged: damaged, limit: limit}
	case errors.As(err, &ended) && ended.ExitCode() == tooLarge:
		return d, fmt.Errorf("%s: reading it takes more than %d MiB of memory", damaged, maxMemory>>20)
	case errors.As(err, &ended):
		return d, fmt.Errorf("%s: its reader crashed", damaged)
	case err != nil:
		return d, fmt.Errorf("unread file: start its reader: %w", err)
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return d, fmt.Errorf("unread file: unexpected answer of its reader: %w", err)
	}
	return d, nil
}
