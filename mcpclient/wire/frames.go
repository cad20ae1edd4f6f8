package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"lifehub/internal/pattern"
)

const (
	// maxFrame is the longest message taken from a server, in bytes. The
	// library keeps a handful of copies of it while reading.
	maxFrame = 8 << 20
	// A server that says more than this in a second waits for the next one,
	// so that a flood costs a bounded share of a processor.
	framesPerSecond = 1000
	bytesPerSecond  = 64 << 20
)

// Frames passes on the messages of a server's stdout, one a line, and keeps
// from the library what it cannot stand: lines that are no JSON are counted
// and left out, an answer that is too long or damaged becomes an error reply to
// its call, and several messages in one list become as many.
type Frames struct {
	Garbage atomic.Int64           // lines that were no message
	first   atomic.Pointer[string] // of them; nil: there was none
}

// Copy returns at the end of src.
func (f *Frames) Copy(dst io.Writer, src io.Reader) error {
	in := bufio.NewReaderSize(&Throttled{Reader: src}, 64<<10)
	var pace pace
	for {
		line, whole, err := readFrame(in)
		if len(line) > 0 {
			pace.take(1, framesPerSecond)
			for _, message := range f.messages(line, whole, err != nil) {
				if _, err := dst.Write(append(message, '\n')); err != nil {
					return err
				}
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// maxBatch bounds the messages of one list.
const maxBatch = 100

// messages are those of a line; a cut one is the last before the end.
func (f *Frames) messages(line []byte, whole, cut bool) [][]byte {
	var batch []json.RawMessage
	var instead []byte
	switch {
	case !whole:
		instead = errorReply(line, fmt.Sprintf("the answer is longer than %d MiB", maxFrame>>20))
	case line[0] == '{' && json.Valid(line):
		return [][]byte{line}
	case line[0] == '{' && !cut:
		instead = errorReply(line, "the answer is damaged: it is not valid JSON")
	case line[0] == '[' && json.Unmarshal(line, &batch) == nil && len(batch) > 0 && len(batch) <= maxBatch:
		var list [][]byte
		for _, message := range batch {
			if message[0] != '{' {
				f.odd(message)
				continue
			}
			list = append(list, message)
		}
		return list
	}
	if instead == nil {
		f.odd(line)
		return nil
	}
	return [][]byte{instead}
}

// odd counts a line that is no message.
func (f *Frames) odd(line []byte) {
	if f.Garbage.Add(1) == 1 {
		first := strings.ToValidUTF8(string(line[:min(len(line), 100)]), "�")
		f.first.Store(&first)
	}
}

// Complaint says in words what was odd about a server's output; "" for nothing.
func (f *Frames) Complaint() string {
	first := f.first.Load()
	if first == nil {
		return ""
	}
	return fmt.Sprintf("lines of its output that were not messages: %d, the first: %q", f.Garbage.Load(), *first)
}

// edge is how much of both ends of a message that is too long is kept.
const edge = 4 << 10

// readFrame reads one line without its end. whole is false when it was too
// long: then the line is its two ends.
func readFrame(in *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxFrame {
			whole = false
		}
		if !whole && len(line) > 2*edge {
			line = append(line[:edge:edge], line[len(line)-edge:]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))), whole, err
	}
}

// Servers write a reply's id either before the result or at the very end.
var (
	idAtHead = pattern.Lazy(`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,`)
	idAtTail = pattern.Lazy(`[^\\]"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}$`)
)

// errorReply makes the reply that takes the place of a message that cannot be
// read; nil when it cannot be told whose reply it is.
func errorReply(ends []byte, what string) []byte {
	for _, id := range []pattern.Pattern{idAtHead, idAtTail} {
		if found := id.FindSubmatch(ends); found != nil {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, found[1], what)
		}
	}
	return nil
}

// Throttled reads no more than bytesPerSecond.
type Throttled struct {
	io.Reader
	pace pace
}

func (t *Throttled) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.pace.take(n, bytesPerSecond)
	return n, err
}

// pace counts up to limit in a second, and then waits for the next one.
type pace struct {
	taken int
	since time.Time
}

func (p *pace) take(n, limit int) {
	now := time.Now()
	if now.Sub(p.since) >= time.Second {
		p.since, p.taken = now, 0
	}
	if p.taken += n; p.taken > limit {
		time.Sleep(time.Until(p.since.Add(time.Second)))
		p.since, p.taken = time.Now(), 0
	}
}
