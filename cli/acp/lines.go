package acp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/coder/acp-go-sdk"

	"lifehub/internal/pattern"
)

const (
	// maxLine bounds a message of a client, in bytes. The SDK ends the connection
	// at 10 MiB.
	maxLine = 8 << 20
	// tooLong is the method of what is passed on in place of a longer one.
	tooLong = "_lifehub/too_long"
	// beginPatience bounds how long what follows a prompt waits for it to begin.
	beginPatience = 5 * time.Second
)

// requestID finds the id of a request by its first bytes.
var requestID = pattern.Lazy(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`)

// ordered passes the messages of a client on one by one. The SDK begins each
// request in a goroutine: without this a cancel may overtake its prompt, and
// a prompt the one before it.
type ordered struct {
	*server
	in     *bufio.Reader
	rest   []byte // of the message that is passed on
	prompt bool   // it is one
}

func (s *server) inOrder(in io.Reader) io.Reader {
	return &ordered{server: s, in: bufio.NewReader(in)}
}

// Read is called for another message once the one before it was taken.
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

// line reads a message. Of one that is too long only the id is kept.
func (o *ordered) line() (line []byte, err error) {
	for cut := false; ; {
		piece, err := o.in.ReadSlice('\n')
		if line = append(line, piece...); len(line) > maxLine {
			line, cut = line[:1<<10], true
		}
		if err == bufio.ErrBufferFull { //nolint:errorlint // it is returned as it is
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

// hasBegun says that a prompt can be cancelled, or is over.
func (s *server) hasBegun() {
	select {
	case s.begun <- struct{}{}:
	default:
	}
}
