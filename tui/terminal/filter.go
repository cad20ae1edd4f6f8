package terminal

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi/parser"
)

const (
	// maxSequence bounds the bytes of a sequence. The longest that a terminal sends on its own, or
	// in reply to LifeHub's requests, are a tenth of it.
	maxSequence = 1024

	// maxDigits bounds the digits of a parameter; a code point has seven.
	maxDigits = 7
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	st  = "\x1b\\"
)

// filter passes on the bytes that Bubble Tea's decoder (ultraviolet, and the parser of x/ansi) can
// handle: complete characters, keys and replies within bounds. Anything else is dropped to its end.
//
// If the terminal pauses within a sequence, its beginning is passed on, since it may be a key: Esc,
// or Alt+[. The bytes that follow still count as part of it, since the decoder may still be waiting
// for them, but they are no longer dropped, since the user may have typed them.
//
// The decoder panics on more than 32 parameters and on some mouse reports, takes the window size
// from CSI t, repeats a key up to 65,535 times on CSI _, treats raw bytes 0x80 to 0x9f as controls
// even in a character cut off by a string, and recurses on each ESC.
type filter struct {
	out   []byte // bytes to pass on
	seq   []byte // current sequence or character; only its beginning if void
	given int    // number of its bytes passed on at a pause
	void  bool   // the rest of it is dropped
	open  bool   // the decoder may wait for more of what was last passed on
}

// verdict is what happens to a sequence.
type verdict int

const (
	more        verdict = iota // incomplete
	pass                       // passed on
	drop                       // dropped; any part after a pause counts as typed
	mark                       // a paste marker; always dropped
	endlessCSI                 // dropped up to its final byte
	endlessText                // dropped up to the end of its text
)

// next processes one byte. It reports whether the byte begins a paste.
func (f *filter) next(b byte) (pastes bool) {
	switch {
	case f.void && f.skips(b), b == esc && f.given == 0 && string(f.seq) == "\x1b\x1b":
		return false
	case b == esc && f.given > 0 && f.given == len(f.seq):
		f.seq, f.given, f.open = f.seq[:0], 0, true
	}
	f.seq = append(f.seq, b)
	n, v := read(f.seq)
	switch {
	case v == more:
	case v == mark:
		pastes = bytes.HasSuffix(f.seq, []byte(pasteStart[1:]))
		f.cut(n)
	case f.void:
		f.cut(n)
	case v == pass && n >= f.given:
		f.out = append(f.out, f.seq[f.given:n]...)
		f.open = n < len(f.seq) && f.seq[n] == esc
		f.restart(n)
	case n <= f.given && f.seq[n] == esc: // all of it was passed on
		f.open = true
		f.restart(f.given)
	case f.given > 0:
		f.cut(f.given)
	case v == endlessCSI:
		f.cut(n)
		f.seq, f.void = append(f.seq, "\x1b[0"...), true
	case v == endlessText:
		f.cut(n)
		f.seq, f.void = append(f.seq, "\x1b]0"...), true
	default:
		f.cut(n)
	}
	return pastes
}

// cut drops n bytes and terminates any sequence the decoder still waits for.
func (f *filter) cut(n int) {
	if f.open || f.given > 0 {
		f.out, f.open = append(f.out, st...), false
	}
	f.restart(n)
}

// restart discards the first n bytes and processes the rest again.
func (f *filter) restart(n int) {
	rest := bytes.Clone(f.seq[n:])
	f.seq, f.given, f.void = f.seq[:0], 0, false
	for _, b := range rest {
		f.next(b)
	}
}

// skips reports whether b is in the middle of a void sequence.
func (f *filter) skips(b byte) bool {
	if f.seq[1] == '[' {
		return b >= ' ' && b < 0x40
	}
	return b >= ' ' && f.seq[len(f.seq)-1] != esc
}

// pause passes on the current sequence when the terminal pauses, and ends a void one.
func (f *filter) pause() {
	switch {
	case len(f.seq) == 0:
	case f.void:
		f.restart(len(f.seq))
	case mouse(f.seq) && f.given > 0:
		f.cut(f.given)
	case mouse(f.seq):
		f.cut(len(f.seq))
	case f.seq[len(f.seq)-1] >= utf8.RuneSelf: // wait for the rest of a character
	default:
		f.out = append(f.out, f.seq[f.given:]...)
		f.given, f.open = len(f.seq), false
	}
}

// read returns the length and the verdict of the character or sequence that s begins with. Without
// its last byte, s must be incomplete.
func read(s []byte) (n int, v verdict) {
	if s[0] != esc {
		return readCharacter(s, 0)
	}
	n = 1
	if len(s) > 1 && s[1] == esc { // Alt with a key that is itself a sequence
		n = 2
	}
	direct := n
	for n < len(s) && s[n] >= ' ' && s[n] <= '/' {
		n++
	}
	switch {
	case n > maxSequence:
		return n, drop
	case n == len(s):
		return 0, more
	case s[n] == esc: // the bytes before it are a key with Alt
		return n, pass
	case s[n] == '[': // the parser also accepts it after intermediates
		return readCSI(s, s[n+1:])
	case s[n] == 'O' && n == direct:
		return readSS3(s, s[n+1:])
	case s[n] == 'P' || s[n] == ']' || s[n] == 'X' || s[n] == '^' || s[n] == '_':
		return readText(s, s[n+1:], s[direct])
	}
	return readCharacter(s, n)
}

// readCharacter reads the character at s[i], which completes the sequence before it.
func readCharacter(s []byte, i int) (int, verdict) {
	if !utf8.FullRune(s[i:]) {
		return 0, more
	}
	r, size := utf8.DecodeRune(s[i:])
	if r == utf8.RuneError {
		return i + size, drop
	}
	return i + size, pass
}

// readSS3 reads a key after ESC O.
func readSS3(s, key []byte) (int, verdict) {
	if len(key) == 0 {
		return 0, more
	}
	switch b := key[len(key)-1]; {
	case tooMany(key):
		return len(s), drop
	case b >= '0' && b <= '9':
		return 0, more
	case b > ' ' && b < 0x7f:
		return len(s), pass
	}
	return len(s) - 1, drop
}

// readCSI reads a control sequence from its parameters on.
func readCSI(s, body []byte) (int, verdict) {
	if len(body) == 0 {
		return 0, more
	}
	switch b := body[len(body)-1]; {
	case mouse(s) && b < ' ':
		return len(s) - 1, drop
	case mouse(s) && len(body) < len("M")+3:
		return 0, more
	case mouse(s) && slices.Max(body) < 0x7f:
		return len(s), pass
	case mouse(s):
		return len(s), drop
	case b >= 0x40 && b < 0x7f:
		return len(s), final(s, body)
	case (b < ' ' || b >= 0x7f) && s[len(s)-2] == '$': // rxvt ends keys with Shift this way
		return len(s) - 1, pass
	case b < ' ' || b >= 0x7f:
		return len(s) - 1, drop
	case b >= '<' && len(body) > 1, tooMany(body): // the decoder reads past such a marker
		return len(s), endlessCSI
	}
	return 0, more
}

// mouse reports whether s begins an X10 mouse report, which has three bytes instead of parameters.
func mouse(s []byte) bool {
	return bytes.HasPrefix(s, []byte("\x1b[M")) || bytes.HasPrefix(s, []byte("\x1b\x1b[M"))
}

// tooMany reports whether parameters exceed what the decoder can handle.
func tooMany(params []byte) bool {
	digits := len(params) - len(bytes.TrimRight(params, "0123456789"))
	return digits > maxDigits || separators(params) >= parser.MaxParamsSize || len(params) > maxSequence
}

func separators(params []byte) int {
	return bytes.Count(params, []byte(";")) + bytes.Count(params, []byte(":"))
}

// final returns the verdict on a complete control sequence.
func final(s, body []byte) verdict {
	number, _ := strconv.Atoi(string(body[:len(body)-len(bytes.TrimLeft(body, "0123456789"))]))
	switch b, seq := body[len(body)-1], string(s[len(s)-len(body)-2:]); {
	case seq == pasteStart, seq == pasteEnd:
		return mark
	case b == 'M' && (body[0] < '<' || body[0] > '?'), // would be decoded as an X10 mouse report
		b == 't', b == '_', // window sizes and win32 keys, which nothing requests
		b == '~' && (number == 200 || number == 201): // other spellings of paste markers
		return drop
	}
	return pass
}

// readText reads the text of an OSC, DCS, SOS, PM or APC string.
func readText(s, text []byte, kind byte) (int, verdict) {
	if len(text) == 0 {
		return 0, more
	}
	switch b := text[len(text)-1]; {
	case len(text) > 1 && text[len(text)-2] == esc:
		switch {
		case b == '\\':
			return len(s), pass
		case len(text) == 2 && kind != 'P': // no text, so it was a key with Alt
			return len(s) - 2, pass
		}
		return len(s) - 2, drop
	case b == esc:
		return 0, more
	case b == bel && kind == ']':
		return len(s), pass
	case b == bel || b == can || b == sub:
		return len(s), drop
	case b < ' ': // a line end must come from the user
		return len(s) - 1, drop
	case b >= 0x7f || !isReply(kind, text) || separators(text) >= parser.MaxParamsSize || len(text) > maxSequence:
		return len(s), endlessText
	}
	return 0, more
}

// isReply reports whether an OSC or DCS with this text may be a reply to Bubble Tea's requests:
// colours, terminal name and capabilities.
func isReply(kind byte, body []byte) bool {
	switch kind {
	case ']': // 10 to 19 are colours
		return body[0] == '1' && (len(body) < 2 || body[1] >= '0' && body[1] <= '9') && (len(body) < 3 || body[2] == ';')
	case 'P':
		final := slices.IndexFunc(body, func(b byte) bool { return b >= 0x40 })
		return final < 0 || body[final] == '|' || body[final] == 'r'
	}
	return false
}
