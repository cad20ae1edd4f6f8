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

// event is called with the name and the data of each event; "": a message.
type event func(name string, data []byte) error

// readAnswer calls each with the events of a stream, or with each JSON document
// where the server does not write server-sent events: a whole answer is one.
func readAnswer(r io.Reader, each event) error {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark { // a shorter stream has none
		_, _ = in.Discard(len(byteOrderMark))
	}
	for {
		c, err := in.ReadByte()
		if err != nil {
			return ended(err)
		}
		if c > ' ' {
			_ = in.UnreadByte() // it was just read
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

// byteOrderMark may stand before a text in UTF-8, and is not part of it.
const byteOrderMark = "\uFEFF"

// ended is nil at the end of a stream, and else what broke it.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readEvents calls each with the events of a stream of server-sent events, as
// the HTML standard reads them: lines end with CR, LF or both, comments begin
// with a colon, an event may have several data lines, and one without data is
// none. Beyond that, a server may leave the empty line out after data that is
// whole. It returns what each returns, or nil at the end of the stream.
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
		default: // a comment, or a field that carries nothing for us
			continue
		}
		switch {
		case !some:
			data, some = append([]byte(nil), value...), true
		case complete(data) && len(bytes.TrimSpace(value)) > 0: // a server that leaves the empty line out
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

// splitLines splits at CR, LF and CR LF. A line that ends with CR is whole at
// once: the next byte may be long in coming.
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
