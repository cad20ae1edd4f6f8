package terminal

import (
	"bytes"
	"os"
)

// input is the terminal as Bubble Tea reads it, without what its decoder cannot take: it panics on a control sequence
// with 33 parameters, takes the size of the window from any CSI t and repeats a key up to 65,535 times on CSI _. Nothing
// that a key, a mouse or a reply to LifeHub's own queries sends is changed. It is a file because Bubble Tea sets the
// modes of a file. On Windows, Bubble Tea reads the console without it.
type input struct {
	*os.File
	typedAhead int // bytes in complete lines typed before the start

	escaped  bool // behind an ESC and what may stand between it and the kind of its sequence
	sequence bool // within the parameters of a control sequence
	bare     bool // of which none came yet
	params   int  // separators in it
}

// mostParams bounds the separators of a control sequence; those of keys and replies have at most 18.
const mostParams = 30

// newInput returns a reader of a terminal that is still in the shell's modes.
func newInput(file *os.File) *input { return &input{File: file, typedAhead: ahead(file)} }

func (in *input) Read(p []byte) (int, error) {
	n, err := in.File.Read(p)
	return len(in.filter(in.enter(p[:n]))), err
}

// filter returns what passes of a read, in its place.
func (in *input) filter(read []byte) []byte {
	kept := read[:0]
	for _, b := range read {
		if b, ok := in.next(b); ok {
			kept = append(kept, b)
		}
	}
	return kept
}

// enter restores the Enter of a line that was typed before the start, for which the kernel gave a line feed. Several
// lines are text, which is never sent unasked.
func (in *input) enter(read []byte) []byte {
	if n := min(in.typedAhead, len(read)); bytes.Count(read[:n], []byte("\n")) == 1 {
		read[bytes.IndexByte(read, '\n')] = '\r'
	}
	in.typedAhead = 0
	return read
}

// next returns the byte to pass on for the next one, if there is one.
func (in *input) next(b byte) (byte, bool) {
	introduced := in.escaped && (b == '[' || b == 'P') || b == 0x9b || b == 0x90
	in.escaped = b == 0x1b || in.escaped && b >= ' ' && b < '0'
	bare := in.bare
	in.bare = introduced
	switch {
	case introduced:
		in.sequence, in.params = true, 0
	case !in.sequence:
	case b == ';' || b == ':':
		in.params++
		return b, in.params <= mostParams
	case b >= '0' && b <= '9':
		return b, in.params <= mostParams
	case b >= 0x40 && b < 0x7f || b == 0x18 || b == 0x1a:
		in.sequence = false
		if b == 't' || b == '_' || b == 'M' && bare { // sizes, repeated keys, and a mouse that is not asked for
			return 'z', true // nothing that the decoder knows
		}
	}
	return b, true
}
