// Package terminal connects Bubble Tea to the terminal: it filters input to what Bubble Tea's
// decoder can handle, and writes frames. Start with Reader and Screen.
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

	// endSilence is the silence after an end marker that ends a paste.
	endSilence = 10 * time.Millisecond

	// stallSilence is the silence after which an unfinished paste is shown as far as it has
	// arrived. Unless it had an end marker, it then continues.
	stallSilence = 100 * time.Millisecond

	// shortTyped is the number of bytes of text that, if read at once, form one message instead of
	// a key each.
	shortTyped = 8

	// typedSilence is the silence that ends such a text, unless it is longTyped.
	typedSilence = 5 * time.Millisecond
	longTyped    = 64 << 10

	// typedFrame is how often single keys are passed on. Keys that follow sooner are combined into
	// one message, since each message costs a frame, as much as writing any amount of text.
	typedFrame = 16 * time.Millisecond

	// afterEnd is how long text after an end marker may belong to the paste, whose own text may
	// contain the marker. Enter after such text is a new line.
	afterEnd = 100 * time.Millisecond

	// maxPaste bounds the bytes of a paste that wait for its end.
	maxPaste = 16 << 20

	// readSize is the size of Bubble Tea's reads. It waits for new input before it reads again, so
	// nothing may be left over for the next Read.
	readSize = 4096
)

// Reader is the terminal input of Bubble Tea. Keys and replies pass unchanged and at once;
// sequences that the decoder cannot handle do not. A paste, or text that arrives at once, is
// replaced by a short paste of a name, which WithTexts resolves. Reader is a file because Bubble
// Tea sets the modes of a file. On Windows, Bubble Tea reads the console without it.
type Reader struct {
	*os.File
	filter
	typedAhead int         // bytes in complete lines typed before the start, which are read first
	restart    atomic.Bool // another program has read from the terminal
	in         [readSize]byte

	pasting bool
	paste   []byte    // pasted text without a name yet
	stalled bool      // the paste was shown without its end
	held    int       // number of bytes of paste at that time
	ended   time.Time // time of the last paste, or of what may belong to it
	doubted bool      // text followed its end
	text    []byte    // typed text without a name yet
	burst   bool      // the last read was text of at least shortTyped bytes
	typing  time.Time // when text or a key of it was last passed on

	mu    sync.Mutex
	texts map[string]tea.Msg // pasted or typed text by name
	names int
}

// TypedMsg is one line that arrived at once without paste markers: characters with \r for Enter, \n and
// \t, which mean the same as the keys.
type TypedMsg string

// NewReader returns a reader of a terminal that is still in the shell's modes. A complete line
// typed before the start counts as submitted.
func NewReader(file *os.File) *Reader { return &Reader{File: file, typedAhead: ahead(file)} }

// Resume discards incomplete input after another program has used the terminal.
func (r *Reader) Resume() { r.restart.Store(true) }

// WithTexts returns the message that a name stands for, and forgets it. Other messages are returned
// unchanged.
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

// Read waits for input and returns what passes the filter, which may be nothing. It waits for the
// end of a paste.
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
		err = nil // the error occurs again
	}
	return n, err
}

// fill reads and processes the available input.
func (r *Reader) fill() error {
	if r.restart.Swap(false) {
		r.filter, r.pasting, r.paste, r.stalled, r.text = filter{}, false, nil, false, nil
	}
	for {
		const extra = 64 // for added bytes
		room := readSize - extra - len(r.out) - len(r.seq)
		if room < readSize/4 {
			r.nameText()
			return nil // more input is available, so Read is called again at once
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

// enter takes a line that was typed ahead, and restores its Enter: the kernel turned it into a line
// feed, which would be a new line in the text. Several lines are a paste, which is never submitted
// automatically, and stay unchanged.
func (r *Reader) enter(in []byte) []byte {
	if n := r.typedAhead; n <= len(in) && bytes.Count(in[:n], []byte("\n")) == 1 {
		at := bytes.IndexByte(in, '\n')
		r.pass(TypedMsg(in[:at]) + "\r")
		in = in[at+1:]
	}
	r.typedAhead = 0
	return in
}

// take sorts input into pastes, typed text and everything else.
func (r *Reader) take(in []byte) {
	if !r.pasting && len(in) > 0 && time.Since(r.ended) < afterEnd {
		r.keepFromSending(in)
	}
	if len(r.text) > 0 && len(r.seq) > 0 && r.given == 0 && r.seq[0] >= utf8.RuneSelf { // a character was split
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

// keepFromSending turns Enter into a new line if it follows text after the end of a paste.
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

// nameText passes on a name for the typed text, if there is any. A line break with more than a few
// keys behind it that arrive at once is a paste by a terminal that does not mark it.
func (r *Reader) nameText() {
	if len(r.text) == 0 {
		return
	}
	first := bytes.IndexAny(r.text, "\r\n")
	if r.burst && first >= 0 && len(bytes.Trim(r.text[first:], "\r\n")) >= shortTyped {
		r.pass(tea.PasteMsg{Content: strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(r.text))})
	} else {
		r.pass(TypedMsg(r.text))
	}
	r.text, r.typing = nil, time.Now()
}

// typed returns the number of bytes at the beginning of in that are plain characters. It is 0 while
// a sequence is incomplete or the decoder may wait for more of one.
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

// silence returns how long no input must follow for the pending text to be complete.
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

// settle passes on what is pending after a silence.
func (r *Reader) settle() {
	r.nameText()
	if r.pasting && r.stalled {
		switch string(r.paste[r.held:]) {
		case "\x1b", "\x1b[27u", "\x03", "\x1b[99;5u", "\x1b[27;5;99~": // Esc or Ctrl+C, with silence before and after
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

// namePaste passes on a name for the text pasted so far. Text between an end marker and the
// following silence counts as pasted, whoever wrote the marker.
func (r *Reader) namePaste() {
	text, rest := r.paste, 0
	r.pasting = bytes.LastIndex(text, []byte(pasteEnd)) <= bytes.LastIndex(text, []byte(pasteStart))
	r.stalled = r.pasting
	for n := 1; r.pasting && n < len(pasteEnd) && n <= len(text); n++ {
		tail := text[len(text)-n:]
		if strings.HasPrefix(pasteEnd, string(tail)) || utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			rest = n // the beginning of a marker or of a character
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
