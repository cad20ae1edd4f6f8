package acp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/coder/acp-go-sdk"
)

const (
	// maxLine bounds a message of the client, in bytes. The SDK itself closes the connection at 10
	// MiB.
	maxLine = 8 << 20
	// tooLong is the method of the message that replaces a longer one.
	tooLong = "_lifehub/too_long"
	// beginPatience bounds how long the message after a prompt waits for the prompt to begin.
	beginPatience = 5 * time.Second
)

// requestID matches the ID of a request near its beginning.
var requestID = regexp.MustCompile(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`)

// ordered passes on the messages of a client one by one. The SDK handles each request in a
// goroutine, so otherwise a cancellation could overtake its prompt, and a prompt the previous one.
type ordered struct {
	*server
	in     *bufio.Reader
	rest   []byte // of the message being passed on
	prompt bool   // that message is a prompt
}

func (s *server) inOrder(in io.Reader) io.Reader {
	return &ordered{server: s, in: bufio.NewReader(in)}
}

// Read begins with the next message only after the previous one was read completely.
func (o *ordered) Read(p []byte) (int, error) {
	if len(o.rest) == 0 {
		if o.prompt {
			select {
			case <-o.begun:
			case <-time.After(beginPatience):
			}
		}
		var err error
		if o.rest, err = o.line(); len(o.rest) == 0 {
			return 0, err
		}
		var m struct{ Method string }
		o.prompt = json.Unmarshal(o.rest, &m) == nil && m.Method == acp.AgentMethodSessionPrompt
	}
	n := copy(p, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// line reads a message. A message that is too long is replaced by one with the same ID and the
// method tooLong.
func (o *ordered) line() (line []byte, err error) {
	for cut := false; ; {
		piece, err := o.in.ReadSlice('\n')
		if line = append(line, piece...); len(line) > maxLine {
			line, cut = line[:1<<10], true
		}
		if err == bufio.ErrBufferFull { // nothing wraps it
			continue
		}
		if !cut {
			return line, err
		}
		if id := requestID.FindSubmatch(line); id != nil {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q}`+"\n", id[1], tooLong), err
		}
		return []byte("\n"), err
	}
}

// hasBegun signals that a prompt can be cancelled now, or has ended.
func (s *server) hasBegun() {
	select {
	case s.begun <- struct{}{}:
	default:
	}
}
