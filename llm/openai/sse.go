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
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark { // shorter streams have none
		_, _ = in.Discard(len(byteOrderMark))
	}
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

// byteOrderMark may precede UTF-8 text and is not part of it.
const byteOrderMark = "\uFEFF"

// ended returns nil for the regular end of a stream, and otherwise err.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readEvents calls each for every event of a stream of server-sent events, parsed
// as in the HTML standard: lines end with CR, LF or CR LF, comments start with a
// colon, an event may have several data lines, and one without data is ignored.
// Unlike the standard, it accepts a missing empty line after complete data. It
// returns the first error of each, or nil at the end of the stream.
func readEvents(r io.Reader, each event) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	lines.Split(splitLines())
	var name string
	var data []byte
	some := false
	dispatch := func() error {
		defer func() { name, data, some = "", nil, false }()
		if len(bytes.TrimSpace(data)) == 0 {
			return nil
		}
		return each(name, data)
	}
	for first := true; lines.Scan(); first = false {
		line := lines.Bytes()
		if first {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		if len(line) == 0 {
			if err := dispatch(); err != nil {
				return err
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			if some && complete(data) {
				if err := dispatch(); err != nil {
					return err
				}
			}
			name = string(value)
			continue
		case "data":
		default: // a comment or an unused field
			continue
		}
		switch {
		case !some:
			data, some = append([]byte(nil), value...), true
		case complete(data) && len(bytes.TrimSpace(value)) > 0: // the empty line is missing
			if err := dispatch(); err != nil {
				return err
			}
			data, some = append([]byte(nil), value...), true
		default:
			data = append(append(data, '\n'), value...)
		}
		if len(data) > maxLine {
			return errLongLine
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return errLongLine
	} else if err != nil {
		return err
	}
	if some && complete(data) { // the last event may lack its empty line
		return dispatch()
	}
	return nil
}

// splitLines splits at CR, LF and CR LF. A line that ends with CR is returned
// immediately, because the next byte may arrive much later.
func splitLines() bufio.SplitFunc {
	afterCR := false
	return func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		if afterCR && len(data) > 0 {
			afterCR = false
			if data[0] == '\n' {
				advance = 1
			}
		}
		rest := data[advance:]
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
			afterCR = rest[i] == '\r'
			return advance + i + 1, rest[:i], nil
		}
		if atEOF && len(rest) > 0 {
			return len(data), rest, nil
		}
		return advance, nil, nil
	}
}
