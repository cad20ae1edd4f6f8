package tui

import (
	"os"
	"strings"
)

// typedAhead is a terminal on which a line was ended before its keys were ours.
// The kernel made a line feed of that enter, which here is a new line in the
// text: it gives the enter back. Several lines are a paste, which is never sent
// by itself: they stay as they are.
type typedAhead struct {
	*os.File
	waiting int // bytes that were typed ahead and are read next
}

func (t *typedAhead) Read(p []byte) (int, error) {
	n, err := t.File.Read(p)
	if t.waiting > 0 && t.waiting <= n {
		line := string(p[:t.waiting])
		if strings.Count(line, "\n") == 1 {
			copy(p, strings.Replace(line, "\n", "\r", 1))
		}
	}
	t.waiting = 0
	return n, err
}
