package settings

import (
	"bytes"
	"errors"
	"io"
)

// TraceWriter writes a trace without secrets. It holds streamed text until the stream pauses, since
// a secret may arrive in pieces.
type TraceWriter struct {
	io.WriteCloser
	Secrets *Redaction
	held    [][]byte
	size    int
}

// maxHeld bounds the held lines, in bytes. A secret split at this limit is redacted when the trace
// is exported.
const maxHeld = 256 << 10

func (c *TraceWriter) Write(line []byte) (int, error) {
	if _, ok := pieceIn(line); ok {
		c.held = append(c.held, bytes.Clone(line))
		if c.size += len(line); c.size < maxHeld {
			return len(line), nil
		}
		return len(line), c.flush()
	}
	if err := c.flush(); err != nil {
		return 0, err
	}
	if _, err := c.WriteCloser.Write(c.Secrets.current().strings(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// flush writes what is held.
func (c *TraceWriter) flush() error {
	if len(c.held) == 0 {
		return nil
	}
	c.Secrets.current().streamed(c.held)
	for _, line := range c.held {
		if _, err := c.WriteCloser.Write(line); err != nil {
			return err
		}
	}
	c.held, c.size = nil, 0
	return nil
}

func (c *TraceWriter) Close() error {
	return errors.Join(c.flush(), c.WriteCloser.Close())
}
