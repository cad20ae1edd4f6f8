//go:build linux

package tui

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/backend"
)

// What is typed at once without the marks of a paste costs as much for each
// letter, however much it is.
func TestTypingWithoutPasteMarksIsLinear(t *testing.T) {
	for name, piece := range map[string]string{
		"words":    "some words, typed. ",
		"wide":     "走る 👩‍👧 ",
		"one word": "abcdefghij",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			short, long := typingCosts(t, piece, 2000), typingCosts(t, piece, 8000)
			t.Logf("2,000 letters take %v of the processor, 8,000 %v", short, long)
			if long > 6*short+100*time.Millisecond {
				t.Errorf("8,000 letters take %v of the processor, 2,000 take %v", long, short)
			}
		})
	}
}

// typingCosts is the time of the processor that a text of so many letters takes.
func typingCosts(t *testing.T, piece string, letters int) time.Duration {
	t.Helper()
	text := strings.Repeat(piece, letters/len([]rune(piece)))
	c := startOnTerminal(t)
	c.waitFor(t, "anything")
	before := c.processor()
	io.WriteString(c.tty, text+"\nthe end")
	c.until("all is written", func() bool { return strings.Contains(ansi.Strip(c.Render()), "the end") })
	cost := c.processor() - before
	io.WriteString(c.tty, "\x03\x03\x03")
	c.leaves(10 + int(backend.Quit))
	return cost
}

// processor is the time of the processor that the chat has taken so far.
func (c *onTerminal) processor() time.Duration {
	c.t.Helper()
	const tick = 10 * time.Millisecond
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}
