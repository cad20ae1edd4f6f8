package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one line of a stream, so that a server cannot exhaust memory.
const maxLine = 8 << 20

// errLongLine ends a stream with a line longer than maxLine.
var errLongLine = fmt.Errorf("a line of more than %d MB", maxLine>>20)

// event is called with the name and data of each event. The name is empty for
// ordinary messages.
type event func(name string, data []byte) error

// readAnswer calls each for every event of a stream or, if the server does not
// send server-sent events, for every JSON document, such as a complete response.
func readAnswer(r io.Reader, each event) error {
	in := bufio.NewReader(r)
	for {
		c, err := in.ReadByte()
		if err != nil {
			return ended(err)
		}
		if c > ' ' {
			_ = in.UnreadByte() // cannot fail after ReadByte
			if c != '{' {
				return readEvents(in, each)
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
		if err := each("", document); err != nil {
			return err
		}
	}
}

// ended returns nil for the regular end of a stream, and otherwise err.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readEvents calls each for every line of data in a stream of server-sent events: servers write an event's
// data in one line. It returns the first error of each, or nil at the end of the stream.
func readEvents(r io.Reader, each event) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	name := ""
	for lines.Scan() {
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimSpace(value)
		switch string(field) {
		case "": // the end of an event, or a comment
			name = ""
		case "event":
			name = string(value)
		case "data":
			if len(value) == 0 {
				continue
			}
			if err := each(name, value); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return errLongLine
	} else if err != nil {
		return err
	}
	return nil
}
