package terminal

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi/parser"
)

const (
	// maxSequence bounds the bytes of a sequence. The longest that a terminal
	// sends unasked, or in reply to what LifeHub asks, are a tenth of it.
	maxSequence = 1024

	// maxDigits bounds a parameter: a code point has seven.
	maxDigits = 7
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	st  = "\x1b\\"
)

// state is what the next byte belongs to.
type state int

const (
	ground     state = iota
	character        // of several bytes
	escape           // the byte behind ESC
	csi              // parameters of a control sequence
	mouse            // the three bytes of a mouse report without numbers
	ss3              // a key behind ESC O
	text             // of an OSC, DCS, SOS, PM or APC
	textEscape       // ESC in such a text
	skipCSI          // what is left of one that is too long
	skipText
	skipTextEscape
)

// filter passes the bytes on that Bubble Tea's decoder (ultraviolet, and the
// parser of x/ansi behind it) can hold: characters, keys and replies within
// bounds, whole. What is beyond them is dropped to its end.
//
// When the terminal pauses within a sequence, what there is of it is passed
// on, for it may be a key: Esc, or Alt+[. What follows is still counted with
// it, since the decoder may not have given up on it, but it is not dropped any
// more, since it may have been typed.
//
// The decoder panics at more than 32 parameters and in some reports of the
// mouse, draws at the size of the window that CSI t tells, repeats a key up to
// 65,535 times at CSI _, takes raw bytes of 0x80 to 0x9f for controls even
// within a character that a string has cut, and calls itself for each ESC.
type filter struct {
	out        []byte // what passes
	state      state
	seq        []byte // the sequence or character under way, and what ESC may have ended before it
	at         int    // where in seq it begins
	given      int    // the bytes of it that were passed on
	separators int    // in it
	digits     int    // at its end
	escapes    int    // ESC behind ESC in one go
}

// next takes one byte. It reports whether a paste begins behind it.
func (f *filter) next(b byte) (paste bool) {
	switch f.state {
	case ground:
		f.begin(b)
	case character:
		f.seq = append(f.seq, b)
		f.character()
	case escape:
		f.escape(b)
	case csi:
		return f.control(b)
	case mouse:
		f.mouse(b)
	case ss3:
		switch {
		case b >= '0' && b <= '9':
			f.add(b, ground)
		case b > ' ' && b < 0x7f:
			f.seq = append(f.seq, b)
			f.pass()
		default:
			f.begin(b)
		}
	case text:
		f.text(b)
	case textEscape:
		if b == '\\' {
			f.seq = append(f.seq, b)
			f.pass()
			return false
		}
		if f.seq = f.seq[:len(f.seq)-1]; len(f.seq) == f.at+2 && f.seq[f.at+1] != 'P' { // no text: it was a key with Alt
			f.another()
		} else {
			f.begin(esc)
		}
		return f.next(b)
	case skipCSI:
		switch {
		case b >= 0x40 && b < 0x7f:
			f.reset(ground)
		case b < ' ' || b >= 0x7f:
			f.begin(b)
		}
	case skipText:
		switch {
		case b == bel || b == can || b == sub:
			f.reset(ground)
		case b == esc:
			f.state = skipTextEscape
		case b < ' ':
			f.begin(b)
		}
	case skipTextEscape:
		f.begin(esc)
		if b == '\\' {
			f.reset(ground)
			return false
		}
		return f.next(b)
	}
	return false
}

// begin takes the first byte of whatever it is.
func (f *filter) begin(b byte) {
	switch {
	case b == esc && f.given > 0: // what it begins may be dropped, and would then end nothing
		f.another()
	case b == esc:
		f.reset(ground)
		f.another()
	case b < utf8.RuneSelf:
		f.reset(ground)
		f.out = append(f.out, b)
	default:
		f.drop(character) // as above
		f.seq = append(f.seq, b)
		f.character()
	}
}

// another begins a sequence at ESC, and keeps what is under way until it is
// known whether that ends by it.
func (f *filter) another() {
	if len(f.seq) > maxSequence {
		f.drop(ground)
	}
	f.at = len(f.seq)
	f.seq, f.state, f.separators, f.digits = append(f.seq, esc), escape, 0, 0
}

// character passes a character that is whole, also behind ESC, and drops what
// is none.
func (f *filter) character() {
	at := slices.IndexFunc(f.seq, func(b byte) bool { return b >= utf8.RuneSelf })
	if !utf8.FullRune(f.seq[at:]) {
		return
	}
	r, size := utf8.DecodeRune(f.seq[at:])
	rest := bytes.Clone(f.seq[at+size:])
	if r != utf8.RuneError {
		f.seq = f.seq[:at+size]
		f.pass()
	} else {
		f.drop(ground)
	}
	f.again(rest)
}

// again takes bytes as if they came now.
func (f *filter) again(rest []byte) {
	for _, b := range rest {
		f.next(b)
	}
}

func (f *filter) escape(b byte) {
	direct := f.seq[len(f.seq)-1] == esc // no blank and the like between them
	switch {
	case b == esc:
		if f.escapes++; !direct || f.given > 0 {
			f.escapes = 0
		}
		if f.escapes < 2 {
			f.another()
		}
		return
	case b == '[': // also behind a blank and the like, for the parser
		f.seq, f.state = append(f.seq, b), csi
	case b == 'O' && direct:
		f.seq, f.state = append(f.seq, b), ss3
	case b == 'P' || b == ']' || b == 'X' || b == '^' || b == '_':
		f.seq, f.state = append(f.seq, b), text
	case b >= ' ' && b <= '/':
		f.add(b, ground)
	case b < utf8.RuneSelf:
		f.seq = append(f.seq, b)
		f.pass()
	default:
		f.seq, f.state = append(f.seq, b), character
		f.character()
	}
	f.escapes = 0
}

func (f *filter) control(b byte) (paste bool) {
	switch {
	case b >= 0x40 && b < 0x7f:
		f.seq = append(f.seq, b)
		return f.final(b)
	case b >= '<' && b < 0x40 && f.seq[len(f.seq)-1] != '[': // the decoder reads past it
		f.seq = append(f.seq, b)
		f.void(skipCSI)
	case b >= ' ' && b < 0x40:
		f.add(b, skipCSI)
	case f.seq[len(f.seq)-1] == '$': // rxvt ends keys with Shift so
		f.pass()
		f.begin(b)
	default:
		f.begin(b)
	}
	return false
}

// final takes the control sequence that its last byte has ended. It reports
// whether a paste begins.
func (f *filter) final(b byte) (paste bool) {
	seq := f.seq[f.at:]
	body := seq[bytes.IndexByte(seq, '[')+1:]
	number := 0
	for _, d := range body {
		if d < '0' || d > '9' {
			break
		}
		number = 10*number + int(d-'0')
	}
	switch {
	case string(seq) == pasteStart:
		f.drop(ground)
		return true
	case string(seq) == pasteEnd: // of nothing
		f.drop(ground)
	case string(seq) == "\x1b[M":
		f.state = mouse
	case b == 'M' && (body[0] < '<' || body[0] > '?'), // decoded as if three bytes of a mouse followed
		b == 't', b == '_', // sizes of the window, keys of Windows: nobody asked for either
		b == '~' && (number == 200 || number == 201): // marks of a paste, spelled otherwise
		f.void(ground)
	default:
		f.pass()
	}
	return false
}

func (f *filter) mouse(b byte) {
	if b < ' ' {
		f.void(ground)
		f.next(b)
		return
	}
	f.seq = append(f.seq, b)
	switch {
	case len(f.seq) < f.at+len("\x1b[M")+3:
	case slices.Max(f.seq) < 0x7f:
		f.pass()
	default:
		f.drop(ground)
	}
}

func (f *filter) text(b byte) {
	switch {
	case b == bel && f.seq[f.at+1] == ']':
		f.seq = append(f.seq, b)
		f.pass()
	case b == esc:
		f.seq, f.state = append(f.seq, b), textEscape
	case b >= ' ' && b < 0x7f:
		f.add(b, skipText)
	case b == bel || b == can || b == sub:
		if f.void(ground) {
			f.next(b)
		}
	case b < ' ': // whoever ends a line has typed
		f.void(ground)
		f.next(b)
	default:
		if f.void(skipText) {
			f.next(b)
		}
	}
}

// add takes a byte into the sequence under way, which is void if that is too
// much; the next bytes then belong to beyond.
func (f *filter) add(b byte, beyond state) {
	f.seq = append(f.seq, b)
	f.digits++
	if b < '0' || b > '9' {
		f.digits = 0
	}
	if b == ';' || b == ':' {
		f.separators++
	}
	if f.state == text && !asked(f.seq[f.at:]) || f.state != text && f.digits > maxDigits ||
		f.separators >= parser.MaxParamsSize || len(f.seq) > maxSequence {
		f.void(beyond)
	}
}

// asked reports whether an OSC or DCS with a text may reply to what Bubble Tea
// asks: colours, the name of the terminal and its capabilities.
func asked(seq []byte) bool {
	kind, body := seq[1], seq[2:]
	switch kind {
	case ']': // 10 to 19 are colours
		return body[0] == '1' && (len(body) < 2 || body[1] >= '0' && body[1] <= '9') && (len(body) < 3 || body[2] == ';')
	case 'P':
		final := slices.IndexFunc(body, func(b byte) bool { return b >= 0x40 })
		return final < 0 || body[final] == '|' || body[final] == 'r'
	}
	return false
}

// pass passes the sequence under way on.
func (f *filter) pass() {
	f.out = append(f.out, f.seq[f.given:]...)
	f.reset(ground)
}

// void drops the sequence under way; the next bytes then belong to beyond. It
// reports whether a part of it had been passed on: the rest then counts as
// typed.
func (f *filter) void(beyond state) (typed bool) {
	if f.given == 0 {
		f.reset(beyond)
		return false
	}
	rest := bytes.Clone(f.seq[f.given:])
	f.drop(ground)
	f.again(rest)
	return true
}

// drop drops the sequence under way, and ends for the decoder what was passed
// on of it.
func (f *filter) drop(to state) {
	if f.given > 0 {
		f.out = append(f.out, st...)
	}
	f.reset(to)
}

// reset forgets the sequence under way.
func (f *filter) reset(to state) {
	f.state, f.seq, f.at, f.given, f.separators, f.digits = to, f.seq[:0], 0, 0, 0, 0
}

// pause passes on what there is of a sequence when the terminal says nothing
// more, and ends what is dropped.
func (f *filter) pause() {
	f.escapes = 0
	switch f.state {
	case ground, character:
	case mouse:
		f.void(ground)
	case skipCSI, skipText, skipTextEscape:
		f.reset(ground)
	default:
		f.out = append(f.out, f.seq[f.given:]...)
		f.given = len(f.seq)
	}
}
