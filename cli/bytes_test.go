//go:build unix

package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/hostile"
	"lifehub/internal/testenv"
	"lifehub/internal/ttytest"
)

// typedBytes are sequences that a terminal never sends. None contains a key that has an effect
// alone.
func typedBytes() []string {
	many := strings.Repeat("1;", 40) + "1"
	return []string{
		"\x1b[" + many + "m", "\x1b[" + many, "\x1b[?" + many + "h", "\x1b[" + strings.ReplaceAll(many, ";", ":") + "u",
		"\x1b[" + strings.Repeat(";", 50),
		"\x1bP" + many + "q\x1b\\", "\x1bP" + strings.Repeat(":", 50), "\x1b #[" + many + "m", "\x9b" + many + "m",
		"\x90" + many + "q", "\x9bMabc",
		"\x1b]0;✛" + many + "m\x1b\\", "\x1b]95;x\x1b\\", "\x1b_✛" + many + "m", "\x1b[65;0;97;1;0;65535_",
		"\x1b[8;9999999;9999999t", "\x1b[48;9999999;9999999;1;1t",
		"\x1b[<0;9999999;9999999M", "\x1b[<64;9999999;9999999M", "\x1b[9999999;9999999R",
		"\x1b[" + strings.Repeat("9", 1200), "\x1b]" + strings.Repeat("x", 1200),
		"\x1b[0200~", "\x1b[20=0~", "\x1b[201~", "\xff\xfe\x80\xed\xa0\x80", "\x1b[M\xff\xff\xff",
		"\x1b]11;zzz\x1b\\", "\x1b]11;rgb:\x1b\\",
	}
}

// TestNoBytesEndTheChat pastes and types sequences that the terminal library cannot handle, at once
// and byte by byte. Text typed afterwards arrives, the terminal is restored at the end, and the
// draft is there at the next start.
func TestNoBytesEndTheChat(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const paste, end = "\x1b[200~", "\n" + hostile.Mark + "\x1b[201~"
	pasted := func(screen string) bool {
		return strings.Contains(screen, "▌ "+hostile.Mark) || strings.Contains(screen, "[paste ")
	}
	const focus = "\x1b[I" // completes what was typed before it
	typed := func(screen string) bool {
		return strings.Contains(strings.NewReplacer(" ", "", "▌", "", "\n", "").Replace(screen), "tapir")
	}
	for name, each := range map[string]struct {
		payloads []string
		send     func(term *terminal, payload string)
		arrives  func(screen string) bool
	}{
		"typed": {typedBytes(), func(term *terminal,
			payload string,
		) {
			term.types(payload + focus + "tapir")
		}, typed},
		"typed byte by byte": {typedBytes(), func(term *terminal,
			payload string,
		) {
			term.typesBytes(payload + focus + "tapir")
		}, typed},
		"pasted": {pastedBytes(), func(term *terminal,
			payload string,
		) {
			term.types(paste + payload + end)
		}, pasted},
		"pasted byte by byte": {typedBytes(), func(term *terminal, payload string) {
			for _, b := range []byte(paste + payload) { // a pause would be one in the paste, too
				term.types(string([]byte{b}))
			}
			term.types(end)
		}, pasted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, vault := newHouse(t), apptest.Vault(t)
			term := h.opens("chat", "--notes", vault)
			term.sees("2 notes")
			for i, payload := range each.payloads {
				if i%2 != len(name)%2 && os.Getenv("LIFEHUB_SOAK") == "" { // half of them in each way
					continue
				}
				each.send(term, payload)
				term.waits(each.arrives, fmt.Sprintf("shows what comes with %.80q", payload))
				term.types("\x03") // empties the composer
				empty := func(screen string) bool { return strings.Contains(screen, "▌ Ask") }
				// A sequence that comes slowly is cut: what is left of it may be the key of a panel.
				term.waits(func(screen string) bool { return empty(screen) || strings.Contains(screen, "esc close") },
					"empties the composer")
				if !empty(term.text()) {
					term.types("\x1b")
					term.waits(empty, "closes the panel")
				}
			}
			term.types("ibexword")
			h.keeps("ibexword")
			term.types("\x1b[" + strings.Repeat("1;", 40) + "m\x1b[" + strings.Repeat(":", 40))
			if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code := term.exits(); code != app.ExitTerminated {
				t.Errorf("exit code %d, want %d", code, app.ExitTerminated)
			}
			if left := ttytest.Left(term.sent()); left != nil {
				t.Errorf("the terminal keeps %q", left)
			}
			term = h.opens("chat", "--notes", vault)
			term.sees("▌ ibexword")
			if list := h.runs("chats", "list"); strings.Contains(list, "message") {
				t.Errorf("something was sent:\n%s", list)
			}
		})
	}
}

// pastedBytes are all hostile texts, including some with paste markers.
func pastedBytes() []string {
	texts := append(typedBytes(), "before\x1b[201~\r/quit\r\x04", "\x1b[201~\x1b[200~\x1b[201~\r\r\x1a")
	for _, p := range hostile.Payloads {
		texts = append(texts, p.Text)
	}
	return texts
}

// typesBytes sends one byte per millisecond.
func (term *terminal) typesBytes(text string) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range len(text) {
		<-tick.C
		term.types(text[i : i+1])
	}
}
