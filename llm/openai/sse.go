package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one line of a stream, so that a server can't fill the memory.
const maxLine = 8 << 20

// errLongLine ends a stream of server-sent events.
var errLongLine = fmt.Errorf("a line of more than %d MB", maxLine>>20)

// readAnswer calls data with each event of a stream, or with each JSON document
// where the server does not write server-sent events: a whole answer is one.
func readAnswer(r io.Reader, data func([]byte) error) error {
	in := bufio.NewReader(r)
	for {
		c, err := in.ReadByte()
		if err != nil {
			return ended(err)
		}
		if c > ' ' {
			_ = in.UnreadByte() // it was just read
			if c != '{' {
				return readEvents(in, data)
			}
			break
		}
	}
	documents := json.NewDecoder(io.LimitReader(in, 8*maxLine))
	for {
		var document json.RawMessage
		if err := documents.Decode(&document); err != nil {
			return ended(err)
		}
		if err := data(document); err != nil {
			return err
		}
	}
}

// ended is nil at the end of a stream, and else what broke it.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readEvents calls data with each event of a stream of server-sent events, as
// chat completion servers write them: one line a field, comments begin with a
// colon, an event may have several data lines. It returns what data returns,
// or nil at the end of the stream.
func readEvents(r io.Reader, data func([]byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var event []byte
	some := false
	for lines.Scan() {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if some {
				if err := data(event); err != nil {
					return err
				}
			}
			event, some = nil, false
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue // a comment, or a field that carries nothing for us
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case !some:
			event, some = append([]byte(nil), value...), true
		case complete(event): // a server that leaves the empty line out
			if err := data(event); err != nil {
				return err
			}
			event = append([]byte(nil), value...)
		default:
			event = append(append(event, '\n'), value...)
		}
		if len(event) > maxLine {
			return errLongLine
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return errLongLine
	} else if err != nil {
		return err
	}
	if some && complete(event) { // the last event may lack its empty line
		return data(event)
	}
	return nil
}
