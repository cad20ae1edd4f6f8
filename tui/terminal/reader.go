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

	// shortTyped is how many bytes of text that arrive at once are one message
	// rather than a key each.
	shortTyped = 8

	// typedSilence is how long nothing follows such a text, unless it is longTyped.
	typedSilence = 5 * time.Millisecond
	longTyped    = 64 << 10

	// typedFrame is how often keys that come one by one are passed on: those that come
	// sooner after the one before are one message too, since each message costs a
	// frame, and that as much as all that is written.
	typedFrame = 16 * time.Millisecond

	// afterEnd is how long text behind the mark of an end may belong to the paste,
	// whose own text may hold that mark: an Enter behind it is a new line.
	afterEnd = 100 * time.Millisecond

	// maxPaste bounds the bytes of a paste that wait for its end.
	maxPaste = 16 << 20

	// readSize is what Bubble Tea reads at once. It waits for new input before it
	// reads again, so nothing may be left over for the next Read.
	readSize = 4096
)

// Reader is a terminal for Bubble Tea: keys and replies pass byte for byte and
// at once, sequences that its decoder cannot hold do not, and a paste passes as
// a name for WithTexts, and so does text that arrives at once. It is a file
// because Bubble Tea sets the modes of one.
// On Windows, Bubble Tea reads the console without it.
type Reader struct {
	*os.File
	filter
	typedAhead int         // bytes that wait in whole lines, and are read first
	restart    atomic.Bool // another program has read meanwhile
	in         [readSize]byte

	pasting bool
	paste   []byte    // what was pasted and has no name yet
	stalled bool      // the paste was shown without its end
	held    int       // the bytes of paste that were there then
	ended   time.Time // the last paste, or what may belong to it
	doubted bool      // text followed its end
	text    []byte    // what was typed at once and has no name yet
	burst   bool      // text was read last, and at least shortTyped of it
	typing  time.Time // when text or a key of it was passed last

	mu    sync.Mutex
	texts map[string]tea.Msg // what was pasted or typed, by name
	names int
}

// TypedMsg is text that arrived at once without the marks of a paste: characters
// with \r for Enter, \n and \t, which mean what the same keys would.
type TypedMsg string

// NewReader reads a terminal that is still in the modes of the user's shell: a
// line that was ended in it by now counts as sent.
func NewReader(file *os.File) *Reader { return &Reader{File: file, typedAhead: ahead(file)} }

// Resume forgets what was under way before another program had the terminal.
func (r *Reader) Resume() { r.restart.Store(true) }

// WithTexts returns the message that a name stands for, and forgets it. Any
// other message stays as it is.
func (r *Reader) WithTexts(msg tea.Msg) tea.Msg {
	if named, ok := msg.(tea.PasteMsg); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		if text, ok := r.texts[named.Content]; ok {
			delete(r.texts, named.Content)
			return text
		}
	}
	return msg
}

// pass passes on a name for a message.
func (r *Reader) pass(msg tea.Msg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names++
	name := strconv.Itoa(r.names)
	if r.texts == nil {
		r.texts = map[string]tea.Msg{}
	}
	r.texts[name] = msg
	r.out = append(append(append(r.out, pasteStart...), name...), pasteEnd...)
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
		r.filter, r.pasting, r.paste, r.stalled, r.text = filter{}, false, nil, false, nil
	}
	for {
		const extra = 64 // for what is passed and was not read
		room := readSize - extra - len(r.out) - len(r.seq)
		if room < readSize/4 {
			r.nameText()
			return nil // there is more, so it is read at once
		}
		n, err := r.File.Read(r.in[:room])
		r.take(r.enter(r.in[:n]))
		if err == nil && len(r.text) >= longTyped {
			r.nameText()
			return nil
		}
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

// take sorts what was read into pastes, typed text and all else.
func (r *Reader) take(in []byte) {
	if !r.pasting && len(in) > 0 && time.Since(r.ended) < afterEnd {
		r.keepFromSending(in)
	}
	if len(r.text) > 0 && len(r.seq) > 0 && r.given == 0 && r.seq[0] >= utf8.RuneSelf { // a character was cut in two
		in = append(r.seq, in...)
		r.seq = nil
	}
	keys := false
	for len(in) > 0 {
		if r.pasting {
			r.paste = append(r.paste, in...)
			return
		}
		n := r.typed(in)
		if r.burst = n >= shortTyped; r.burst || n > 0 && (len(r.text) > 0 || time.Since(r.typing) < typedFrame) {
			r.text = append(r.text, in[:n]...)
			in = in[n:]
			continue
		}
		keys = keys || n > 0
		if len(r.seq) == 0 && utf8.FullRune(in) {
			r.nameText()
		}
		r.pasting = r.next(in[0])
		in = in[1:]
	}
	if keys {
		r.typing = time.Now()
	}
}

// keepFromSending makes a new line of each Enter that follows text which follows
// the end of a paste.
func (r *Reader) keepFromSending(in []byte) {
	for i, b := range in {
		switch {
		case b >= ' ':
			r.doubted = true
		case b == '\r' && r.doubted:
			in[i] = '\n'
		}
	}
	if r.doubted {
		r.ended = time.Now()
	}
}

// nameText passes on the name of what was typed at once.
func (r *Reader) nameText() {
	if len(r.text) > 0 {
		r.pass(TypedMsg(r.text))
		r.text, r.typing = nil, time.Now()
	}
}

// typed returns how many bytes of in, from its beginning, are keys without a
// sequence. The decoder must not wait for more of what was passed before.
func (r *Reader) typed(in []byte) (n int) {
	for len(r.seq) == 0 && !r.open && n < len(in) {
		c, size := utf8.DecodeRune(in[n:])
		if c == utf8.RuneError || c < ' ' && c != '\r' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
			break
		}
		n += size
	}
	return n
}

// silence is how long nothing must follow what was taken for it to be all.
func (r *Reader) silence() time.Duration {
	switch {
	case !r.pasting && len(r.text) > 0 && r.burst:
		return typedSilence
	case !r.pasting && len(r.text) > 0:
		return typedFrame - time.Since(r.typing)
	case !r.pasting:
		return 0
	case bytes.HasSuffix(r.paste, []byte(pasteEnd)):
		return endSilence
	}
	return stallSilence
}

// settle passes on what was taken when nothing follows it.
func (r *Reader) settle() {
	r.nameText()
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
	if !r.pasting {
		behind := text[bytes.LastIndex(text, []byte(pasteEnd))+len(pasteEnd):]
		r.ended, r.doubted = time.Now(), len(bytes.TrimSpace(behind)) > 0
	}
	r.paste, r.held = bytes.Clone(text[len(text)-rest:]), rest
	whole := strings.NewReplacer(pasteStart, "", pasteEnd, "").Replace(string(text[:len(text)-rest]))
	if whole == "" {
		return
	}
	r.pass(tea.PasteMsg{Content: strings.ToValidUTF8(whole, "\uFFFD")})
}
