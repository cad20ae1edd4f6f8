package mcpclient

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func TestMessagesAreLimited(t *testing.T) {
	half := strings.Repeat("x", maxFrame/2)
	for name, c := range map[string]struct {
		in      string
		ends    int
		tooLong bool
	}{
		"lines":                {half + "\n" + half + "\r\n\n" + half, 1, false},
		"a long line":          {"{}\n" + half + half + "x\n", 1, true},
		"no end of line":       {half + half + "x", 1, true},
		"events":               {"data: " + half + "\r\n\r\n\ndata: " + half + "\n\n", 2, false},
		"an event of lines":    {"data: " + half + "\ndata: " + half + "\n\n", 2, true},
		"a body":               {half + "\n\n", 0, false},
		"a body of many lines": {half + "\n\n" + half + "\n\n", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, err := io.ReadAll(&limited{in: strings.NewReader(c.in), ends: c.ends})
				if errors.Is(err, errTooLong) != c.tooLong || !c.tooLong && (err != nil || string(out) != c.in) {
					t.Errorf("read %d of %d bytes, %v", len(out), len(c.in), err)
				}
			})
		})
	}
	const text = "data: {}\r\n\r\nid: 1\n"
	if out, err := io.ReadAll(&limited{in: iotest.OneByteReader(strings.NewReader(text)), ends: 2}); err != nil ||
		string(out) != text {
		t.Errorf("byte by byte: got %q, %v", out, err)
	}
}

func TestFloodIsThrottled(t *testing.T) {
	for name, c := range map[string]struct {
		flood   io.Reader
		seconds int
	}{
		"short lines": {&limited{in: strings.NewReader(strings.Repeat("{}\n", 5*linesPerSecond)), ends: 1}, 5},
		"empty lines": {&limited{in: strings.NewReader(strings.Repeat("\n", 5*linesPerSecond)), ends: 2}, 5},
		"bytes":       {&throttled{in: io.LimitReader(endlessly('x'), 5*bytesPerSecond)}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				if _, err := io.Copy(io.Discard, c.flood); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began).Seconds(); took < float64(c.seconds-2) || took > float64(c.seconds+1) {
					t.Errorf("it took %v s, want about %d", took, c.seconds)
				}
			})
		})
	}
}

// endlessly yields the same byte for ever.
type endlessly byte

func (e endlessly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}
