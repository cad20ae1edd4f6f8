package mcpclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"lifehub/pattern"
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

// frames passes on the messages of a server's stdout, one a line, and keeps
// from the library what it cannot stand: lines that are no JSON are counted
// and left out, a message that is too long becomes an error reply to its call.
type frames struct {
	garbage atomic.Int64 // lines that were no message
}

// copy returns at the end of src.
func (f *frames) copy(dst io.Writer, src io.Reader) error {
	in := bufio.NewReaderSize(&throttled{Reader: src}, 64<<10)
	pace := pace{limit: framesPerSecond}
	for {
		line, whole, err := readFrame(in)
		if len(line) > 0 {
			out := line
			switch {
			case !whole:
				out = tooLong(line)
			case !json.Valid(line) || line[0] != '{':
				out = nil
			}
			if out == nil {
				f.garbage.Add(1)
			} else if _, err := dst.Write(append(out, '\n')); err != nil {
				return err
			}
			pace.take(1)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
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
		return bytes.TrimSpace(line), whole, err
	}
}

// Servers write a reply's id either before the result or at the very end.
var (
	idAtHead = pattern.Lazy(`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)`)
	idAtTail = pattern.Lazy(`"id"\s*:\s*(\d+)\s*\}$`)
)

// tooLong makes the reply that takes the place of a message that is too
// long; nil when it cannot be told whose reply it is.
func tooLong(ends []byte) []byte {
	for _, id := range []pattern.Pattern{idAtHead, idAtTail} {
		if found := id.FindSubmatch(ends); found != nil {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"the answer is longer than %d MiB"}}`, found[1], maxFrame>>20)
		}
	}
	return nil
}

// throttled reads no more than bytesPerSecond.
type throttled struct {
	io.Reader
	pace pace
}

func (t *throttled) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.pace.limit = bytesPerSecond
	t.pace.take(n)
	return n, err
}

// pace counts up to limit in a second, and then waits for the next one.
type pace struct {
	limit, taken int
	since        time.Time
}

func (p *pace) take(n int) {
	now := time.Now()
	if now.Sub(p.since) >= time.Second {
		p.since, p.taken = now, 0
	}
	if p.taken += n; p.taken > p.limit {
		time.Sleep(time.Until(p.since.Add(time.Second)))
		p.since, p.taken = time.Now(), 0
	}
}
