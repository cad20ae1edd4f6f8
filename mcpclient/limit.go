package mcpclient

import (
	"fmt"
	"io"
	"time"
)

const (
	// maxFrame bounds a message from a server, in bytes. The library reads
	// messages of any length and holds several copies of one.
	maxFrame = 8 << 20
	// A server that sends more than this per second is throttled, so that a flood
	// uses a bounded share of CPU time.
	linesPerSecond = 1000
	bytesPerSecond = 64 << 20
)

// errTooLong ends a message longer than maxFrame.
var errTooLong = fmt.Errorf("the response is longer than %d MiB", maxFrame>>20)

// limited reads the messages of a server, and fails with errTooLong in one longer
// than maxFrame. It is throttled.
type limited struct {
	in    io.Reader
	ends  int // number of line ends in a row that end a message; 0: everything is one message
	found int // number of line ends in a row so far
	size  int // bytes of the current message
	pace  pace
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.in.Read(p[:min(len(p), linesPerSecond)]) // so that a pause takes a second at most
	cost := n
	for _, c := range p[:n] {
		l.size++
		switch {
		case c == '\n' && l.ends > 0:
			cost += bytesPerSecond / linesPerSecond
			if l.found++; l.found >= l.ends {
				l.size = 0
			}
		case c != '\r':
			l.found = 0
		}
		if l.size > maxFrame {
			return 0, errTooLong
		}
	}
	l.pace.take(cost)
	return n, err
}

// throttled limits reading to bytesPerSecond.
type throttled struct {
	in   io.Reader
	pace pace
}

func (t *throttled) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	t.pace.take(n)
	return n, err
}

// pace permits bytesPerSecond, and then blocks until the next second.
type pace struct {
	taken int
	since time.Time
}

func (p *pace) take(n int) {
	now := time.Now()
	if now.Sub(p.since) >= time.Second {
		p.since, p.taken = now, 0
	}
	if p.taken += n; p.taken > bytesPerSecond {
		time.Sleep(time.Until(p.since.Add(time.Second)))
		p.since, p.taken = time.Now(), 0
	}
}
