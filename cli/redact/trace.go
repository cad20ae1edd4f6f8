package redact

import (
	"bytes"
	"io"
)

// TraceWriter keeps a trace without secrets. A text that is streamed is held
// until it pauses, since a secret in it may come in pieces.
type TraceWriter struct {
	io.WriteCloser
	Secrets *Redaction
	held    [][]byte
	size    int
}

// maxHeld bounds what is held, in bytes of lines; a secret that is cut there
// is taken out where the trace is exported.
const maxHeld = 256 << 10

func (c *TraceWriter) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"type":"token"`)) || bytes.Contains(line, []byte(`"type":"thinking"`)) {
		c.held = append(c.held, bytes.Clone(line))
		if c.size += len(line); c.size < maxHeld {
			return len(line), nil
		}
		return len(line), c.Flush()
	}
	if err := c.Flush(); err != nil {
		return 0, err
	}
	if _, err := c.WriteCloser.Write(c.Secrets.Current().strings(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// Flush keeps what is held.
func (c *TraceWriter) Flush() error {
	if len(c.held) == 0 {
		return nil
	}
	clean := c.Secrets.Current()
	clean.streamed(c.held, "token")
	clean.streamed(c.held, "thinking")
	for _, line := range c.held {
		if _, err := c.WriteCloser.Write(line); err != nil {
			return err
		}
	}
	c.held, c.size = nil, 0
	return nil
}

func (c *TraceWriter) Close() error {
	err := c.Flush()
	if closed := c.WriteCloser.Close(); err == nil {
		err = closed
	}
	return err
}
