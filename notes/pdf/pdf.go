// Package pdf reads the text of PDF files, in a process of its own that is
// bounded in memory and time: a hostile file can end that one only. Start at [Text].
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
	"time"
)

// What a file may cost. Of a longer one the first pages are read.
const (
	maxTime   = 20 * time.Second
	maxMemory = 512 << 20
	maxPages  = 5000
	maxText   = 12 << 20 // bytes, below the longest note
)

// places are for the readers that work at once, each of which may need maxMemory.
var places = make(chan struct{}, 2)

// patience is how long a reader is waited for; tests have less.
var patience = maxTime

// What keeps a file from being read, as the first words of an error. Reports
// count the files by them.
const (
	Scanned   = "scanned PDF"
	Encrypted = "encrypted PDF"
	Damaged   = "damaged PDF"
)

// ErrBusy is what keeps a file unread that may be read the next time: its reader was
// ended from outside, or got less than half of a processor in the time it has; see
// [TimedOut].
var ErrBusy = errors.New("unread PDF: its reader was not given the time; it is tried again with the next index")

// slowError says that a file was not read within a time. Where the reader got little
// of the processor in it, it is ErrBusy too.
type slowError struct {
	limit   time.Duration
	starved bool
}

func (e *slowError) Error() string {
	kind := Damaged
	if e.starved {
		kind = "unread PDF"
	}
	return kind + ": " + tooSlow + e.limit.String()
}

func (e *slowError) Is(target error) bool { return e.starved && target == ErrBusy }

// tooSlow begins what a report says of a file that took too long; the limit follows.
const tooSlow = "reading it takes more than "

// TimedOut reports whether a file was not read within the limit, which is then that
// of any other attempt.
func TimedOut(err error) bool {
	var slow *slowError
	return errors.As(err, &slow)
}

// TimeLimit is how long the reading of a file may take.
func TimeLimit() time.Duration { return patience }

// IsOutdated reports whether what was said of a file is that it took too long, by
// another limit than today's.
func IsOutdated(reason string) bool {
	_, said, ok := strings.Cut(reason, tooSlow)
	limit, err := time.ParseDuration(said)
	return ok && err == nil && limit != patience
}

// Document is the text of a file.
type Document struct {
	Pages  []string // of each its text, in one line
	Broken []bool   // of which pages not all could be read
	Left   int      // further pages, beyond what is read of a file
	Why    string   // why nothing could be read; "": it could
}

// childArgument makes this program read one file from its stdin and write its
// [Document] to stdout.
const childArgument = "read-pdf-from-stdin"

// The reading process ends before the rest of the program is made ready. That
// it starts here has each program read files which links this package, tests too.
func init() {
	if len(os.Args) != 2 || os.Args[1] != childArgument {
		return
	}
	time.AfterFunc(maxTime, func() { os.Exit(1) }) // whoever started it may be gone
	go limitMemory()
	raw, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(read(raw))
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// tooLarge is the exit code of a process that would need too much memory.
const tooLarge = 3

// limitMemory ends the process when it holds too much. What is allocated at once
// is counted before it is touched.
func limitMemory() {
	debug.SetMemoryLimit(maxMemory / 4 * 3) // from here on it rather collects than grows
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	for {
		metrics.Read(held)
		if held[0].Value.Uint64()+held[1].Value.Uint64() > maxMemory {
			os.Exit(tooLarge)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Text returns the text of a file with a line for each page; the line of one
// that could not be read whole ends with a NUL byte. The error begins with what
// the file is.
func Text(ctx context.Context, raw []byte) ([]byte, error) {
	d, err := run(ctx, raw)
	if err != nil {
		return nil, err
	}
	if d.Why != "" {
		return nil, errors.New(d.Why)
	}
	var text bytes.Buffer
	for i, page := range d.Pages {
		text.WriteString(page)
		if i < len(d.Broken) && d.Broken[i] || d.Left > 0 && i == len(d.Pages)-1 {
			text.WriteByte(0)
		}
		text.WriteByte('\n')
	}
	return text.Bytes(), nil
}

// run has a process read a file.
func run(ctx context.Context, raw []byte) (d Document, err error) {
	self, err := os.Executable()
	if err != nil {
		return d, fmt.Errorf("unread PDF: start its reader: %w", err)
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // which is there after an upgrade too
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done():
		return d, fmt.Errorf("read PDF: %w", ctx.Err())
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(limited, self, childArgument)
	cmd.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} // Windows starts nothing without it
	cmd.Stdin = bytes.NewReader(raw)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	ended := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return d, fmt.Errorf("read PDF: %w", ctx.Err())
	case limited.Err() != nil && (cmd.ProcessState == nil || cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() < patience/2):
		return d, &slowError{patience, true}
	case limited.Err() == nil && errors.As(err, &ended) && ended.ExitCode() < 0: // by a signal
		return d, ErrBusy
	case limited.Err() != nil:
		return d, &slowError{limit: patience}
	case errors.As(err, &ended) && ended.ExitCode() == tooLarge:
		return d, fmt.Errorf("%s: reading it takes more than %d MiB of memory", Damaged, maxMemory>>20)
	case errors.As(err, &ended):
		return d, fmt.Errorf("%s: its reader broke off", Damaged)
	case err != nil:
		return d, fmt.Errorf("unread PDF: start its reader: %w", err)
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return d, fmt.Errorf("unread PDF: its reader answered something else: %w", err)
	}
	return d, nil
}
