package tui

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	uv "github.com/charmbracelet/ultraviolet"

	"lifehub/internal/testenv"
)

// passes returns what passes of a text.
func passes(text string) string {
	var in input
	return string(in.filter([]byte(text)))
}

func TestKeysAndRepliesPass(t *testing.T) {
	for _, s := range legitimate {
		if strings.HasPrefix(s, "\x1b[M") { // of a mouse that is not asked for
			continue
		}
		if got := passes(s); got != s {
			t.Errorf("of %q passes %q", s, got)
		}
	}
}

// What is pasted arrives, whatever it is, and only the end mark ends it.
func TestPastesPassWithoutSequences(t *testing.T) {
	for pasted, want := range map[string]string{
		"走る":                               "走る",
		"a\x1b]52;c;eA\nkept":              "a]52;c;eA\nkept",
		"a\x1b[20" + "0~b":                 "a[200~b",
		"a\x1b\x1b[2\x1b[201b\x1b":         "a[2[201b",
		"\x1b[" + strings.Repeat("1;", 40): "[" + strings.Repeat("1;", 40),
	} {
		if got := passes("\x1b[200~" + pasted + endMark + "\x1b[A"); got != "\x1b[200~"+want+endMark+"\x1b[A" {
			t.Errorf("of %q passes %q", pasted, got)
		}
	}
}

// A paste that never ends does not take the keyboard away: Ctrl+C ends it.
func TestCtrlCEndsAPasteWithoutEnd(t *testing.T) {
	var in input
	got := string(in.filter([]byte("\x1b[200~lost\x1b[20"))) + string(in.filter([]byte{ctrlC})) + string(in.filter([]byte("\x1b[A")))
	if want := "\x1b[200~lost" + endMark + "\x03\x1b[A"; got != want {
		t.Errorf("%q passes, want %q", got, want)
	}
}

// decoderInput is the input of the real decoder: bursts with pauses between them, in a synctest bubble.
type decoderInput struct {
	input  input
	bursts func() (burst string, pause time.Duration, ok bool)
	left   string   // rest of the burst being read
	passed []string // passed last
}

func (d *decoderInput) Read(p []byte) (int, error) {
	if d.left == "" {
		burst, pause, ok := d.bursts()
		if !ok {
			return 0, io.EOF
		}
		time.Sleep(pause)
		d.left = burst
	}
	n := min(len(d.left), len(p)-len(endMark))
	kept := d.input.filter([]byte(d.left[:n]))
	d.left = d.left[n:]
	d.passed = append(d.passed[max(0, len(d.passed)-20):], string(kept))
	return copy(p, kept), nil
}

// decode lets the real decoder read bursts, and returns the last events.
func decode(t *testing.T, bursts func() (string, time.Duration, bool)) (events []uv.Event) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &decoderInput{bursts: bursts}
		all := make(chan uv.Event)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(all)
			defer cancel()
			defer func() {
				if fault := recover(); fault != nil {
					t.Errorf("the decoder panics: %v; what passed last: %q", fault, d.passed)
				}
			}()
			if err := uv.NewTerminalReader(d, "xterm-256color").StreamEvents(ctx, all); err != nil {
				t.Error(err)
			}
		}()
		for event := range all {
			if _, ok := event.(uv.WindowSizeEvent); ok {
				t.Error("the terminal sets the size of the window")
			}
			events = append(events[max(0, len(events)-10):], event)
		}
	})
	return events
}

// TestNoBytesPanicTheDecoder feeds the output of a seeded generator to the real decoder, in bursts
// and byte by byte: 10 million sequences if LIFEHUB_SOAK is set. Text typed afterwards must arrive.
func TestNoBytesPanicTheDecoder(t *testing.T) {
	testenv.WithoutRace(t)
	const batch = 10_000
	pauses := []time.Duration{0, 0, time.Millisecond, 49 * time.Millisecond, 51 * time.Millisecond, time.Second}
	for seed := range testenv.Rounds(5, 1000) {
		any := rand.New(rand.NewPCG(uint64(seed), 12))
		var bytes []string
		n := 0
		last := []string{"", "\x1b", "\x1b[201~", "x"} // whatever is open ends
		events := decode(t, func() (string, time.Duration, bool) {
			switch {
			case len(bytes) > 0: // byte by byte
				b := bytes[0]
				bytes = bytes[1:]
				return b, pauses[any.IntN(len(pauses))], true
			case n >= batch && len(last) > 0:
				s := last[0]
				last = last[1:]
				return s, time.Second, true
			case n >= batch:
				return "", 0, false
			}
			var said strings.Builder
			for range []int{1, 2, 20, 200}[any.IntN(4)] {
				n++
				said.WriteString(generate(any))
			}
			if any.IntN(20) == 0 {
				bytes = strings.Split(said.String()[:min(said.Len(), 500)], "")
				return "", 0, true
			}
			return said.String(), pauses[any.IntN(len(pauses))], true
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if key, ok := events[len(events)-1].(uv.KeyPressEvent); !ok || key.Text != "x" {
			t.Fatalf("seed %d: what is typed at the end arrives as %#v", seed, events)
		}
	}
}

// FuzzTerminal feeds arbitrary bytes to the real decoder, with a pause after each byte selected by
// the second argument.
func FuzzTerminal(f *testing.F) {
	testenv.WithoutRace(f)
	for i, s := range slices.Concat(legitimate, hostileSequences) {
		f.Add([]byte(s), uint64(i)*0x9e3779b97f4a7c15)
	}
	f.Fuzz(func(t *testing.T, said []byte, cuts uint64) {
		decode(t, func() (string, time.Duration, bool) {
			if len(said) == 0 {
				return "", 0, false
			}
			n := 1
			for n < len(said) && cuts>>(n%64)&1 == 0 {
				n++
			}
			burst := string(said[:n])
			said = said[n:]
			return burst, time.Duration(cuts%80) * time.Millisecond, true
		})
	})
}
