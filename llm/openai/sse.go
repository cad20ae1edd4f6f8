package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"lifehub/llm"
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
	llm.SkipMark(in)
	for {
		c, err := in.ReadByte()
		if err != nil {
			return ended(err)
		}
		if c > ' ' {
			_ = in.UnreadByte() // cannot fail after ReadByte
			if c != '{' && c != '[' {
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

// readEvents calls each for every event in a stream of server-sent events. An event ends at an empty line; but
// some servers leave that out, so data in one line that needs no other is an event. It returns the first error
// of each, or nil at the end of the stream.
func readEvents(r io.Reader, each event) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	lines.Split(eventLines())
	name, data := "", []byte(nil)
	for lines.Scan() {
		line := lines.Bytes()
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		whole := len(line) == 0
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			whole = len(data) == 0 && !begins(value)
			data = append(append(data, value...), '\n')
		}
		if len(data) > maxLine {
			return errLongLine
		}
		if !whole {
			continue
		}
		if len(bytes.TrimSpace(data)) > 0 {
			if err := each(name, bytes.TrimSpace(data)); err != nil {
				return err
			}
		}
		if data = data[:0]; len(line) == 0 {
			name = ""
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return errLongLine
	case err == nil && len(data) > 0:
		return each(name, bytes.TrimSpace(data))
	default:
		return err
	}
}

// begins reports whether a line is the first of JSON in several lines.
func begins(line []byte) bool {
	return likeJSON(line) && !json.Valid(line) && string(line) != "[DONE]"
}

// likeJSON reports whether data begins like an object or a list.
func likeJSON(data []byte) bool { return len(data) > 0 && (data[0] == '{' || data[0] == '[') }

// eventLines splits a stream into lines, which end in CR, LF or both. A line that ends in CR does not wait for
// what follows.
func eventLines() bufio.SplitFunc {
	afterCR := false
	return func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		if afterCR && bytes.HasPrefix(data, []byte("\n")) {
			advance = 1
		}
		line = data[advance:]
		end := bytes.IndexAny(line, "\r\n")
		switch {
		case end >= 0:
			afterCR = line[end] == '\r'
			return advance + end + 1, line[:end], nil
		case atEOF && len(line) > 0:
			return len(data), line, nil
		}
		afterCR = afterCR && len(data) == 0
		return advance, nil, nil
	}
}
