package mcpclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// maxFrame bounds a message from a server, in bytes. The library holds
	// several copies of it while reading.
	maxFrame = 8 << 20
	// A server that sends more than this per second is throttled, so that a flood
	// uses a bounded share of CPU time.
	framesPerSecond = 1000
	bytesPerSecond  = 64 << 20
)

// frames forwards the messages on a server's stdout, one per line, and protects
// the library from malformed ones: lines that are not JSON are counted and
// dropped, a response that is too long or damaged is replaced by an error response
// to its call, and batches are split into messages.
type frames struct {
	Garbage atomic.Int64           // number of lines that were not messages
	first   atomic.Pointer[string] // the first of them; may be nil
}

// Copy returns at the end of src.
func (f *frames) Copy(dst io.Writer, src io.Reader) error {
	in := bufio.NewReaderSize(&throttled{Reader: src}, 64<<10)
	var pace pace
	for {
		line, complete, err := readFrame(in)
		if len(line) > 0 {
			pace.take(1, framesPerSecond)
			for _, message := range f.messages(line, complete, err != nil) {
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

// maxBatch bounds the messages in one batch.
const maxBatch = 100

// messages returns the messages of a line as read by readFrame; cut means that
// the input ended within the line.
func (f *frames) messages(line []byte, complete, cut bool) [][]byte {
	var batch []json.RawMessage
	var instead []byte
	switch {
	case !complete:
		instead = errorReply(line, fmt.Sprintf("the response is longer than %d MiB", maxFrame>>20))
	case line[0] == '{' && json.Valid(line):
		return [][]byte{line}
	case line[0] == '{' && !cut:
		instead = errorReply(line, "the response is not valid JSON")
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

// odd counts a line that is not a message.
func (f *frames) odd(line []byte) {
	if f.Garbage.Add(1) == 1 {
		first := strings.ToValidUTF8(string(line[:min(len(line), 100)]), "�")
		f.first.Store(&first)
	}
}

// Complaint describes the lines that were not messages; it returns "" if there
// were none.
func (f *frames) Complaint() string {
	first := f.first.Load()
	if first == nil {
		return ""
	}
	return fmt.Sprintf("lines of its output that were not messages: %d, the first: %q", f.Garbage.Load(), *first)
}

// edge is the number of bytes retained from each end of an overlong message.
const edge = 4 << 10

// readFrame reads one line without its end. If the line is too long, complete
// is false and line holds its two ends.
func readFrame(in *bufio.Reader) (line []byte, complete bool, err error) {
	complete = true
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxFrame {
			complete = false
		}
		if !complete && len(line) > 2*edge {
			line = append(line[:edge:edge], line[len(line)-edge:]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))), complete, err
	}
}

// Servers write the ID of a response either before the result or at the very end.
var (
	idAtHead = regexp.MustCompile(`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,`)
	idAtTail = regexp.MustCompile(`[^\\]"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}$`)
)

// errorReply returns an error response that replaces an unreadable message, or
// nil if the message's ID is unknown.
func errorReply(ends []byte, message string) []byte {
	for _, id := range []*regexp.Regexp{idAtHead, idAtTail} {
		if found := id.FindSubmatch(ends); found != nil {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, found[1], message)
		}
	}
	return nil
}

// throttled limits reading to bytesPerSecond.
type throttled struct {
	io.Reader
	pace pace
}

func (t *throttled) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.pace.take(n, bytesPerSecond)
	return n, err
}

// pace permits up to limit units per second and then blocks until the next
// second.
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
