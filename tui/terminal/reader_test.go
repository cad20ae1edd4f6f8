package terminal

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"lifehub/internal/testenv"
)

// passes returns what passes of bursts, each followed by a pause.
func passes(bursts ...string) string {
	var f filter
	for _, burst := range bursts {
		for i := range len(burst) {
			f.next(burst[i])
		}
		f.pause()
	}
	return string(f.out)
}

func TestKeysAndRepliesPassAtAnySplit(t *testing.T) {
	any := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var said string
		for range 1 + any.IntN(6) {
			said += legitimate[any.IntN(len(legitimate))]
		}
		bursts := []string{""}
		for i := range len(said) {
			if any.IntN(4) == 0 && !strings.Contains(said[max(0, i-5):i], "\x1b[M") { // an X10 mouse report is not split
				bursts = append(bursts, "")
			}
			bursts[len(bursts)-1] += said[i : i+1]
		}
		if got := passes(bursts...); got != said {
			t.Fatalf("of %q passes %q", bursts, got)
		}
	}
}

func TestKeyPassesAtOnceAndTextFollows(t *testing.T) {
	for _, key := range []string{"\x1b", "\x1b[", "\x1bO", "\x1b]", "\x1bP", "\x1bX", "\x1b^", "\x1b_", "\x1b ", "\x1b[3$"} {
		if got := passes(key); got != key {
			t.Errorf("of %q passes %q before anything follows", key, got)
		}
		for _, typed := range []string{"x", "ü", "hello, 走る", strings.Repeat("1;", 40), strings.Repeat("a", 2000) + "ü", "tM_", "Mü", "M\x1bx", "12345678901", "\r", "\x1a", "\x18", "\x1b[A", "\x1b\x1b\x1b"} {
			got := strings.ReplaceAll(passes(append([]string{key}, strings.Split(typed, "")...)...), st, "")
			if got != key+typed {
				t.Errorf("of %q and then %q passes %q", key, typed, got)
			}
		}
	}
}

func TestSequencesTooLongToDecodeAreDropped(t *testing.T) {
	for _, s := range hostile[:slices.Index(hostile, "\x1b[<M")] {
		whole := s
		if !strings.HasSuffix(s, "c") { // these are followed by text
			whole += "x"
		}
		got := passes("a" + whole + "\x1b[Ab")
		if strings.ContainsAny(strings.TrimSuffix(got, "\x1b[Ab"), "\x1b\u009b") && strings.Contains(got, "1;1;") || !strings.HasPrefix(got, "a") || !strings.HasSuffix(got, "\x1b[Ab") {
			t.Errorf("of %q passes %q", s, got)
		}
	}
	for said, want := range map[string]string{
		"\x1b[" + strings.Repeat("1;", 31) + "1m":   "\x1b[" + strings.Repeat("1;", 31) + "1m",
		"\x1b[" + strings.Repeat("1;", 32) + "1mx":  "x",
		"\x1b]" + strings.Repeat("x", 2000) + "\ay": "y",
		"\x1b]x\ry":                       "\ry",
		"\x1bPx\x18y":                     "y",
		"\x1b]ü\x1b\\y":                   "y",
		"\x1b]95;x\x1b\\y":                "y",
		"\x1bP1;2_x\x1b\\y":               "y",
		"\x1b_Gi=1\x1b\\y":                "y",
		"\x1b[8;50;80ty":                  "y",
		"\x1b[201~y":                      "y",
		"\x1b[0200~y":                     "y",
		"\x1b[M\x80\x80\x80y":             "y",
		"\x9b1m\x80\xe8\xb5y\xff":         "1my",
		strings.Repeat("\x1b", 50) + "[A": "\x1b\x1b[A",
	} {
		if got := passes(said); got != want {
			t.Errorf("of %q passes %q, want %q", said, got, want)
		}
	}
}

// onPipe returns a reader and functions to write to it and to read from it.
func onPipe(t *testing.T) (*Reader, func(string), func() string) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(); in.Close() })
	r := NewReader(out)
	return r, func(s string) { io.WriteString(in, s) }, func() string {
		p := make([]byte, readSize)
		n, err := r.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(p[:n])
	}
}

// pastedText returns the text pasted under a name.
func (r *Reader) pastedText(name string) (string, bool) {
	pasted, ok := r.WithTexts(tea.PasteMsg{Content: name}).(tea.PasteMsg)
	return pasted.Content, ok && pasted.Content != name
}

// named returns what passes of a paste.
func named(name string) string { return pasteStart + name + pasteEnd }

func TestPasteEndsOnlyBeforeAPause(t *testing.T) {
	for said, want := range map[string]string{
		"plain": "plain",
		"走る 👩‍👧 \ufffd\x1b[31mred\x00":            "走る 👩‍👧 \ufffd\x1b[31mred\x00",
		"a\x1b[201~\rdelete it\r":                 "a\rdelete it\r",
		"a\x1b[201~\x1b[200~b\x1b[201~\x1b[201~":  "ab",
		"bad \xff\x9b" + strings.Repeat("1;", 50): "bad \ufffd" + strings.Repeat("1;", 50),
		"\x1b[" + strings.Repeat("1;", 50):        "\x1b[" + strings.Repeat("1;", 50),
	} {
		r, write, read := onPipe(t)
		write("x" + pasteStart + said + pasteEnd)
		if got := read(); got != "x"+named("1") {
			t.Fatalf("of %q passes %q", said, got)
		}
		if got, ok := r.pastedText("1"); got != want || !ok {
			t.Errorf("pasted is %q, want %q", got, want)
		}
		write("\r")
		if got := read(); got != "\r" {
			t.Errorf("behind the paste passes %q", got)
		}
		if _, ok := r.pastedText("1"); ok {
			t.Error("a paste can be had twice")
		}
	}
}

// One line that arrives at once is typed, and several are pasted, so that no Enter in
// them sends anything.
func TestTextThatArrivesAtOnceIsOneMessage(t *testing.T) {
	for text, pasted := range map[string]bool{
		strings.Repeat("word ", 400): false, "one two\tthree\r": false, "how are you\r\r": false,
		strings.Repeat("走る 👩‍👧\n", 1000): true, "one\rtwo\tthree\r": true, "delete it\r\nyes, all of it\r\n": true, "go on\rn": false,
	} {
		r, write, read := onPipe(t)
		go write(text)
		var got string
		for len(got) < len(text) { // in parts if the machine is very busy
			passed := read()
			name, ok := strings.CutPrefix(passed, pasteStart)
			if !ok {
				got += passed
				continue
			}
			switch part := r.WithTexts(tea.PasteMsg{Content: strings.TrimSuffix(name, pasteEnd)}).(type) {
			case TypedMsg:
				got += string(part)
				if pasted && strings.ContainsAny(strings.TrimRight(string(part), "\r"), "\r") {
					t.Errorf("of %q is typed %q", text, part)
				}
			case tea.PasteMsg:
				got += part.Content
				if !pasted {
					t.Errorf("of %q is pasted %q", text, part.Content)
				}
			}
			if strings.HasSuffix(text, "\r\n") { // which becomes one character
				got += strings.Repeat(" ", strings.Count(text, "\r\n"))
			}
		}
		if want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text); pasted && strings.TrimRight(got, " ") != want || !pasted && got != text {
			t.Errorf("of %q passes %q", text, got)
		}
	}
	r, write, read := onPipe(t)
	write("some words\x1b[A and more\x7f" + pasteStart + "pasted" + pasteEnd)
	if got := read(); got != named("1")+"\x1b[A"+named("2")+"\x7f"+named("3") {
		t.Errorf("passes %q", got)
	}
	for name, want := range map[string]tea.Msg{"1": TypedMsg("some words"), "2": TypedMsg(" and more"), "3": tea.PasteMsg{Content: "pasted"}} {
		if got := r.WithTexts(tea.PasteMsg{Content: name}); got != want {
			t.Errorf("%s is %#v, want %#v", name, got, want)
		}
	}
}

// Each message costs a frame, as much as writing any amount of text.
func TestQuickKeysAreOneMessagePerFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 2000
		for gap, want := range map[time.Duration]int{time.Millisecond: keys / 15, 4 * time.Millisecond: keys / 4, 20 * time.Millisecond: keys} {
			var r Reader
			for range keys {
				r.take([]byte("a"))
				wait := max(0, r.silence())
				if wait < gap { // no input may follow while the reader waits
					time.Sleep(wait)
					r.settle()
					time.Sleep(gap - wait)
					continue
				}
				time.Sleep(gap)
			}
			r.settle()
			single := strings.Count(string(r.out), "a")
			got := single
			for _, text := range r.texts {
				got += len(text.(TypedMsg))
			}
			if messages := single + r.names; got != keys || messages > want+2 {
				t.Errorf("%d keys, one each %v, are %d keys in %d messages, want %d", keys, gap, got, messages, want)
			}
		}
	})
}

func TestTextRightAfterAPasteIsPasted(t *testing.T) {
	r, write, read := onPipe(t)
	write(pasteStart + "one" + pasteEnd + "\r")
	if got := read(); got != named("1") {
		t.Fatalf("passes %q", got)
	}
	if got, _ := r.pastedText("1"); got != "one\r" {
		t.Errorf("pasted is %q", got)
	}
	write("\r")
	if got := read(); got != "\r" {
		t.Errorf("behind the paste passes %q", got)
	}
}

// A clipboard may contain an end marker, and the terminal may pause after it.
func TestTextRightAfterAPasteSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, bursts := range [][]string{
			{"a" + pasteEnd, "delete it\r"},
			{"a" + pasteEnd, "de", "lete it", "\r"},
			{"a" + pasteEnd + "\rdelete it", "\r"},
			{"a" + pasteEnd + "b", "\r\r"},
			{"a" + pasteEnd + "b", "\rmore\r" + pasteEnd, "\r"},
		} {
			var r Reader
			r.take([]byte(pasteStart))
			for _, burst := range bursts {
				r.take([]byte(burst))
				r.settle()
				time.Sleep(90 * time.Millisecond)
			}
			for _, msg := range r.texts {
				if typed, ok := msg.(TypedMsg); ok && strings.Contains(string(typed), "\r") {
					t.Errorf("%q sends %q", bursts, typed)
				}
			}
			if bytes.Contains(r.out, []byte("\r")) {
				t.Errorf("%q sends: %q", bursts, r.out)
			}
			time.Sleep(time.Second)
			r.take([]byte("x\r"))
			r.settle()
			if !bytes.HasSuffix(r.out, []byte("x\r")) {
				t.Errorf("%q: later nothing is sent: %q", bursts, r.out)
			}
		}
	})
}

func TestUnterminatedPasteIsShownAndEscEndsIt(t *testing.T) {
	for _, key := range []string{"\x1b", "\x03", "\x1b[27u"} {
		r, write, read := onPipe(t)
		for i, part := range [][2]string{{pasteStart + "one\xe8\xb5", "one"}, {"\xb0\r\x1b[20", "走\r"}, {"1 \r", "\x1b[201 \r"}} {
			name := string(rune('1' + i))
			write(part[0])
			if got := read(); got != named(name) {
				t.Fatalf("of %q passes %q", part[0], got)
			}
			if got, _ := r.pastedText(name); got != part[1] {
				t.Errorf("of %q is pasted %q", part[0], got)
			}
		}
		write(key)
		if got := read(); got != key {
			t.Errorf("%q passes as %q", key, got)
		}
		write("x\r")
		if got := read(); got != "x\r" {
			t.Errorf("then passes %q", got)
		}
	}
}

func TestResumeDropsAnUnfinishedPaste(t *testing.T) {
	r, write, read := onPipe(t)
	write(pasteStart + "lost")
	read()
	r.Resume()
	write("x")
	if got := read(); got != "x" {
		t.Errorf("passes %q", got)
	}
}

func TestLargePasteIsComplete(t *testing.T) {
	r, write, _ := onPipe(t)
	want := strings.Repeat("走る and \x1b[31m 1;2;3\n", 100_000)
	go write(pasteStart + want + pasteEnd + "")
	p := make([]byte, readSize)
	var got strings.Builder
	for got.Len() < len(want) { // in parts if the machine is very busy
		n, err := r.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(strings.ReplaceAll(string(p[:n]), pasteStart, ""), pasteEnd) {
			part, _ := r.pastedText(name)
			got.WriteString(part)
		}
	}
	if got.String() != want {
		t.Errorf("%d bytes are pasted, want %d", got.Len(), len(want))
	}
}

// talk is the input of the real decoder: bursts with pauses between them, in a synctest bubble.
type talk struct {
	Reader
	bursts func() (burst string, pause time.Duration, ok bool)
	left   string   // rest of the burst being read
	passed []string // passed last
}

func (d *talk) Read(p []byte) (int, error) {
	const most = readSize / 2 // as in fill, so that everything fits into p
	if d.left == "" {
		burst, pause, ok := d.bursts()
		if !ok {
			return 0, io.EOF
		}
		time.Sleep(pause)
		d.left = burst
	}
	part := d.left[:min(len(d.left), most)]
	d.left = d.left[len(part):]
	d.take([]byte(part))
	if d.left == "" {
		d.settle()
	}
	if len(d.out) > len(p) {
		panic("more passes than is read at once")
	}
	n := copy(p, d.out)
	d.passed = append(d.passed[max(0, len(d.passed)-20):], string(d.out))
	d.out = d.out[:0]
	return n, nil
}

// decode lets the real decoder read bursts, and returns the last events.
func decode(t *testing.T, bursts func() (string, time.Duration, bool)) (events []uv.Event) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &talk{bursts: bursts}
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

// TestDecoderNeverJoinsSeparateSequences sends parts of sequences, some while the decoder
// still waits for the rest of the previous one and some after it gave up.
func TestDecoderNeverJoinsSeparateSequences(t *testing.T) {
	some, many := strings.Repeat("1;", 30), strings.Repeat("1;", 40)+"m"
	for _, parts := range [][]string{
		{"\x1b[" + some, "\xff", many},
		{"\x1b[" + some, "\x1b\xff", many},
		{"\x1b[" + some, "\ufffd", many},
		{"\x1b[" + some, "\x1b[200~", many},
		{"\x1b", "\xff", "[" + many},
		{"\x1b$", "\x1b\xff", "[" + many},
		{"\x1b$$\x1b$$\xb1[" + many},
		{"\x1b[20", "\xff", "0~"},
		{"\x1b[20", "\x1b\xff0~"},
		{"\x1b[", "M\xff\xff\xff" + many},
		{"\x1b[", "M", "ab\u009bMabc"},
		{"\x1b[M", "ab\u009bMabc"},
		{"\x1b[2", "01~", many},
		{"\x1b[2", "01~00~"},
		{"\x1b]", "✛" + many},
		{"\x1b]11;", "✛" + many},
		{"\x1b]11;", "\r✛" + many},
		{"\x1b]11;", "\x1b", "\xff", "✛" + many},
		{"\x1b]11;", "\x1b\xff✛" + many},
		{"\x1bP1|", "\x18", "✛" + many},
		{"\x1b#", "_", "✛" + many},
		{"\x1b#_✛" + many},
		{"\x1b#]✛" + many},
		{"\x1b#P" + many},
		{"\x1b#", "P", many},
		{"\x1b]9", "5;x\x1b\\"},
		{"\x1bX\x1b\xff✛" + many},
		{"\x1b[8;99999", "99;9999999t"},
	} {
		for _, pause := range []time.Duration{0, 49 * time.Millisecond, 50 * time.Millisecond, 51 * time.Millisecond} {
			rest := append(slices.Clone(parts), "\x1b", "x")
			events := decode(t, func() (burst string, _ time.Duration, ok bool) {
				if len(rest) == 0 {
					return "", 0, false
				}
				burst, rest = rest[0], rest[1:]
				if len(rest) < 2 {
					return burst, time.Second, true
				}
				return burst, pause, true
			})
			if key, ok := events[len(events)-1].(uv.KeyPressEvent); !ok || key.Text != "x" || t.Failed() {
				t.Fatalf("%q, %v apart, end as %#v", parts, pause, events)
			}
		}
	}
}

// TestNoBytesPanicTheDecoder feeds the output of a seeded generator to the real decoder, in bursts
// and byte by byte: 10 million sequences if LIFEHUB_SOAK is set. Text typed afterwards must arrive.
func TestNoBytesPanicTheDecoder(t *testing.T) {
	testenv.WithoutRace(t)
	const batch = 10_000
	batches := 20
	if os.Getenv("LIFEHUB_SOAK") != "" {
		batches = 1000
	}
	pauses := []time.Duration{0, 0, time.Millisecond, 49 * time.Millisecond, 51 * time.Millisecond, time.Second}
	for seed := range batches {
		any := rand.New(rand.NewPCG(uint64(seed), 12))
		var bytes []string
		n := 0
		last := []string{"", "\x1b", "x"}
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

func TestGeneratorProducesSequencesThatOverflowTheParser(t *testing.T) {
	any := rand.New(rand.NewPCG(3, 4))
	const many = 20_000
	panics := 0
	for range many {
		func() {
			defer func() {
				if recover() != nil {
					panics++
				}
			}()
			p := ansi.NewParser()
			for s, state := generate(any), byte(0); s != ""; {
				_, _, n, next := ansi.DecodeSequence(s, state, p)
				s, state = s[n:], next
			}
		}()
	}
	if panics < many/20 {
		t.Errorf("%d of %d panic the parser as they are: the generator tests little", panics, many)
	}
}

// FuzzTerminal feeds arbitrary bytes to the real decoder, with a pause after each byte selected by
// the second argument.
func FuzzTerminal(f *testing.F) {
	testenv.WithoutRace(f)
	for i, s := range slices.Concat(legitimate, hostile) {
		f.Add([]byte(s), uint64(i)*0x9e3779b97f4a7c15)
	}
	f.Add([]byte(pasteStart+"text\x1b[201~\r"+pasteEnd+"\r"), uint64(0))
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
