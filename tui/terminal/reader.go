// Package terminal reads the user's terminal, and passes on only what Bubble
// Tea's decoder can hold. Begin with Reader.
package terminal

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"

	// endSilence is how long nothing follows the mark that ends a paste.
	endSilence = 10 * time.Millisecond

	// stallSilence is the silence after which a paste is shown as far as it has
	// come. It goes on then unless there was a mark of its end.
	stallSilence = 100 * time.Millisecond

	// maxPaste bounds the bytes of a paste that wait for its end.
	maxPaste = 16 << 20

	// readSize is what Bubble Tea reads at once. It waits for new input before it
	// reads again, so nothing may be left over for the next Read.
	readSize = 4096
)

// Reader is a terminal for Bubble Tea: keys and replies pass byte for byte and
// at once, sequences that its decoder cannot hold do not, and a paste passes as
// a name for Pasted. It is a file because Bubble Tea sets the modes of one.
// On Windows, Bubble Tea reads the console without it.
type Reader struct {
	*os.File
	filter
	typedAhead int         // bytes that wait in whole lines, and are read first
	restart    atomic.Bool // another program has read meanwhile
	in         [readSize]byte

	pasting bool
	paste   []byte // what was pasted and has no name yet
	stalled bool   // the paste was shown without its end
	held    int    // the bytes of paste that were there then

	mu     sync.Mutex
	pasted map[string]string // text by name
	pastes int
}

// NewReader reads a terminal that is still in the modes of the user's shell: a
// line that was ended in it by now counts as sent.
func NewReader(file *os.File) *Reader { return &Reader{File: file, typedAhead: ahead(file)} }

// Resume forgets what was under way before another program had the terminal.
func (r *Reader) Resume() { r.restart.Store(true) }

// pastedText returns the text of the paste with a name, and forgets it. It reports
// false for any other text.
func (r *Reader) pastedText(name string) (text string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, ok = r.pasted[name]
	delete(r.pasted, name)
	return text, ok
}

// WithPasted returns a message with what was pasted in place of its name.
func (r *Reader) WithPasted(msg tea.Msg) tea.Msg {
	if pasted, ok := msg.(tea.PasteMsg); ok {
		if text, ok := r.pastedText(pasted.Content); ok {
			return tea.PasteMsg{Content: text}
		}
	}
	return msg
}

// Read waits for input and returns what may pass of it, which may be nothing. It
// waits for the end of a paste.
func (r *Reader) Read(p []byte) (n int, err error) {
	defer func() {
		if fault := recover(); fault != nil { // a panic here would leave the terminal raw
			err = fmt.Errorf("read the terminal: %v", fault)
		}
	}()
	if len(r.out) == 0 {
		err = r.fill()
	}
	n = copy(p, r.out)
	r.out = r.out[:copy(r.out, r.out[n:])]
	if n > 0 {
		err = nil // it comes again
	}
	return n, err
}

// fill reads what the terminal has to say now.
func (r *Reader) fill() error {
	if r.restart.Swap(false) {
		r.filter, r.pasting, r.paste, r.stalled = filter{}, false, nil, false
	}
	for {
		const extra = 64 // for what is passed and was not read
		room := readSize - extra - len(r.out) - len(r.seq)
		if room < readSize/4 {
			return nil // there is more, so it is read at once
		}
		n, err := r.File.Read(r.in[:room])
		r.take(r.enter(r.in[:n]))
		if err != nil || len(r.paste) >= maxPaste || !waits(r.File, r.silence()) {
			r.settle()
			return err
		}
	}
}

// enter gives a line that was typed ahead its Enter back, of which the kernel
// made a line feed, which here is a new line in the text. Several lines are a
// paste, which is never sent automatically: they stay as they are.
func (r *Reader) enter(in []byte) []byte {
	if n := r.typedAhead; n <= len(in) && bytes.Count(in[:n], []byte("\n")) == 1 {
		in[bytes.IndexByte(in, '\n')] = '\r'
	}
	r.typedAhead = 0
	return in
}

// take sorts what was read into pastes and all else.
func (r *Reader) take(in []byte) {
	for i, b := range in {
		if r.pasting {
			r.paste = append(r.paste, in[i:]...)
			return
		}
		r.pasting = r.next(b)
	}
}

// silence is how long nothing must follow what was taken for it to be all.
func (r *Reader) silence() time.Duration {
	switch {
	case !r.pasting:
		return 0
	case bytes.HasSuffix(r.paste, []byte(pasteEnd)):
		return endSilence
	}
	return stallSilence
}

// settle passes on what was taken when nothing follows it.
func (r *Reader) settle() {
	if r.pasting && r.stalled {
		switch string(r.paste[r.held:]) {
		case "\x1b", "\x1b[27u", "\x03", "\x1b[99;5u", "\x1b[27;5;99~": // Esc or Ctrl+C, with silence around it
			key := r.paste[r.held:]
			r.pasting, r.paste, r.stalled = false, nil, false
			r.take(key)
		}
	}
	if r.pasting {
		r.namePaste()
	}
	r.pause()
}

// namePaste passes on the name of what was pasted so far. Text between a mark
// of the end and the silence behind it was pasted too, whoever wrote that mark.
func (r *Reader) namePaste() {
	text, rest := r.paste, 0
	r.pasting = bytes.LastIndex(text, []byte(pasteEnd)) <= bytes.LastIndex(text, []byte(pasteStart))
	r.stalled = r.pasting
	for n := 1; r.pasting && n < len(pasteEnd) && n <= len(text); n++ {
		tail := text[len(text)-n:]
		if strings.HasPrefix(pasteEnd, string(tail)) || utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			rest = n // the beginning of a mark or of a character
		}
	}
	r.paste, r.held = bytes.Clone(text[len(text)-rest:]), rest
	whole := strings.NewReplacer(pasteStart, "", pasteEnd, "").Replace(string(text[:len(text)-rest]))
	if whole == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pastes++
	name := strconv.Itoa(r.pastes)
	if r.pasted == nil {
		r.pasted = map[string]string{}
	}
	r.pasted[name] = strings.ToValidUTF8(whole, "\uFFFD")
	r.out = append(append(append(r.out, pasteStart...), name...), pasteEnd...)
}
