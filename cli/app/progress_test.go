package app

import (
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"lifehub/tui/safetext"
)

// Text of a model server during a pull is shown in the line of the bar and changes nothing else on
// the terminal.
func TestProgressBarShowsOnlyText(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	b := &Bar{Process: &Process{Err: to}, on: true}
	for _, size := range [][2]int64{
		{-5, 10},
		{math.MaxInt64, math.MaxInt64},
		{math.MinInt64, math.MaxInt64},
		{3, 2},
		{5_000_000, 10_000_000},
	} {
		b.last = time.Time{}
		b.Bytes("pulling\x1b]0;PWNED\x07\x1b[2J\nagain\u202e"+strings.Repeat("x", 5000), size[0], size[1])
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	drawn := strings.Split(string(raw), "\r\x1b[K")
	if len(drawn) < 6 {
		t.Errorf("%d bars, want 5: %q", len(drawn)-1, raw)
	}
	for _, line := range drawn {
		if strings.ContainsFunc(line, safetext.Hidden) || strings.Contains(line, "\n") || len([]rune(line)) > 200 {
			t.Errorf("it prints %q", line)
		}
	}
}
