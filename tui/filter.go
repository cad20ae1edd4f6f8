package tui

import (
	"bytes"
	"os"
	"unicode/utf8"
)

// input is the terminal as Bubble Tea reads it, without what its decoder cannot take: it panics on a control sequence
// with 33 parameters, takes the size of the window from any CSI t and repeats a key up to 65,535 times on CSI _.
// Nothing that a key, a mouse or a reply to LifeHub's own queries sends is changed. It is a file because Bubble Tea
// sets the modes of a file. On Windows, Bubble Tea reads the console without it.
type input struct {
	*os.File
	buffer     [4096]byte // as much as is read at once
	typedAhead int        // bytes in complete lines typed before the start

	escaped  bool   // behind an ESC and what may stand between it and the kind of its sequence
	sequence bool   // within the parameters of a control sequence
	params   int    // separators in it
	number   []byte // its first parameter
	pasting  bool   // between the marks of a paste
	end      int    // bytes of the end mark that came
	letter   []byte // the beginning of a character of the paste
}

// endMark ends a paste.
const endMark = "\x1b[201~"

// mostParams bounds the separators of a control sequence; those of keys and replies have at most 18.
const mostParams = 30

// newInput returns a reader of a terminal that is still in the shell's modes.
func newInput(file *os.File) *input { return &input{File: file, typedAhead: ahead(file)} }

func (in *input) Read(p []byte) (int, error) {
	n, err := in.File.Read(in.buffer[:min(len(p), len(in.buffer))-len(endMark)])
	return copy(p, in.filter(in.enter(in.buffer[:n]))), err
}

// ctrlC is a key that, read alone, ends a paste whose end never comes.
const ctrlC = 0x03

// enter restores the Enter of a line that was typed before the start, for which the kernel gave a line feed. With more
// behind it, it is text, which is never sent unasked.
func (in *input) enter(read []byte) []byte {
	if n := len(read); n > 0 && n == in.typedAhead && bytes.IndexByte(read, '\n') == n-1 {
		read[n-1] = '\r'
	}
	in.typedAhead = 0
	return read
}

// filter returns what passes of a read.
func (in *input) filter(read []byte) (kept []byte) {
	if in.pasting && len(read) == 1 && read[0] == ctrlC {
		in.pasting, in.end, in.letter = false, 0, in.letter[:0]
		return append([]byte(endMark), ctrlC)
	}
	for _, b := range read {
		if in.pasting {
			kept = in.paste(kept, b)
		} else if b, ok := in.next(b); ok {
			kept = append(kept, b)
		}
	}
	return kept
}

// paste adds a byte of a paste. An ESC, a C1 control and what is not UTF-8 are left out, since what follows would be
// read as a sequence.
func (in *input) paste(kept []byte, b byte) []byte {
	if b == endMark[in.end] {
		in.letter = in.letter[:0]
		if in.end++; in.end < len(endMark) {
			return kept
		}
		in.pasting, in.end = false, 0
		return append(kept, endMark...)
	}
	if in.end > 0 {
		kept = append(kept, endMark[1:in.end]...)
	}
	if in.end = 0; b == endMark[0] {
		in.end = 1
		return kept
	}
	if in.letter = append(in.letter, b); !utf8.FullRune(in.letter) {
		return kept
	}
	if r, size := utf8.DecodeRune(in.letter); size == len(in.letter) && r != utf8.RuneError && (r < 0x80 || r >= 0xa0) {
		kept = append(kept, in.letter...)
	} else if b < utf8.RuneSelf { // behind a character that was cut
		kept = append(kept, b)
	}
	in.letter = in.letter[:0]
	return kept
}

// next returns the byte to pass on for the next one, if there is one.
func (in *input) next(b byte) (byte, bool) {
	introduced := in.escaped && (b == '[' || b == 'P') || b == 0x9b || b == 0x90
	in.escaped = b == 0x1b || in.escaped && b >= ' ' && b < '0'
	switch {
	case introduced:
		in.sequence, in.params, in.number = true, 0, in.number[:0]
	case !in.sequence:
	case b == ';' || b == ':':
		in.params++
		return b, in.params <= mostParams
	case b >= '0' && b <= '?':
		if in.params == 0 && len(in.number) < len("200")+1 {
			in.number = append(in.number, b)
		}
		return b, in.params <= mostParams
	case b >= 0x40 && b < 0x7f || b == 0x18 || b == 0x1a:
		in.sequence = false
		number := string(in.number)
		in.pasting = b == '~' && number == "200" && in.params == 0
		switch {
		// sizes, repeated keys, a mouse that is not asked for
		case b == 't', b == '_', b == 'M' && number == "" && in.params == 0,
			// other spellings of the marks of a paste
			b == '~' && !in.pasting && len(number) >= len("200") && number != "201":
			return 'z', true // nothing that the decoder knows
		}
	}
	return b, true
}
