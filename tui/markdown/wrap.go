package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/tui/measure"
)

// look is everything that tells two pieces of a line apart.
type look struct {
	style Style
	link  string // the address the terminal opens, "" for none
}

// span is text in one look. An end span ends the line after its text.
type span struct {
	look
	text string
	end  bool
}

// wrapper breaks spans into lines. What it makes does not depend on how the
// spans are cut, as long as no grapheme is.
type wrapper struct {
	width       int    // of the text, 1 or more
	first, rest string // what stands before the first line and the others
	out         *[]string
	align       alignment
	padded      bool // lines are filled up to width
	hard        bool // breaks anywhere, keeps blanks: for code

	line    []byte // the line under way, styled, without its prefix
	column  int
	on      look // in force at the end of line
	blanks  []span
	blank   int // width of blanks
	word    []span
	wide    int  // width of word
	broken  bool // word is longer than a line: what follows of it is laid as it comes
	breaks  bool // a line may end after word
	glued   bool // no line may end after word: it ends in an opening bracket
	started bool // the first line was given out
	longest int  // width of the widest word so far
}

// clone returns a copy of w whose changes do not touch w.
func (w wrapper) clone() wrapper {
	w.line, w.blanks, w.word = slices.Clone(w.line), slices.Clone(w.blanks), slices.Clone(w.word)
	return w
}

func (w *wrapper) add(s span) {
	if w.hard {
		w.lay(s.look, s.text)
	} else {
		w.addText(s)
	}
	if s.end {
		w.endWord()
		w.newline()
	}
}

func (w *wrapper) addText(s span) {
	text := s.text
	for text != "" {
		if text[0] == ' ' {
			w.endWord()
			n := 1
			for n < len(text) && text[n] == ' ' {
				n++
			}
			if len(w.blanks) == 0 && w.column > 0 { // blanks in text are one
				w.blanks, w.blank = append(w.blanks, span{look: s.look, text: " "}), 1
			}
			text = text[n:]
			continue
		}
		n := asciiWord(text)
		long := n > w.width && w.padded
		if long {
			n = partOf(text[:n])
		}
		if n > 0 {
			w.letters(s.look, text[:n], n)
			w.breaks = long
			text = text[n:]
			continue
		}
		cluster, width := measure.First(text)
		w.cluster(s.look, cluster, width)
		text = text[len(cluster):]
	}
}

// asciiWord returns how many bytes of text are printable ASCII letters, each a
// grapheme of its own.
func asciiWord(text string) int {
	n := 0
	for n < len(text) && text[n] > ' ' && text[n] < 0x7f {
		n++
	}
	if n < len(text) && text[n] >= utf8.RuneSelf {
		n-- // a mark may follow
	}
	return max(n, 0)
}

// joints are where a word that is longer than a cell of a table is broken
// rather than anywhere.
const joints = "/-_.,:;=&?|"

// partOf is how many bytes of a long word there are up to its first joint.
func partOf(word string) int {
	if at := strings.IndexAny(word, joints); at >= 0 {
		return at + 1
	}
	return len(word)
}

const (
	closers = "、。，．！？：；）」』】〉》〕”’…ー々!?,.:;)]}"
	openers = "（「『【〈《〔“‘"
)

// cluster adds one grapheme. A line may end next to a wide one, but not before
// closing or after opening punctuation.
func (w *wrapper) cluster(l look, g string, width int) {
	if width > w.width {
		g, width = "…", 1
	}
	r, _ := utf8.DecodeRuneInString(g)
	ideograph := width == 2 && r >= 0x2e80
	closing := strings.ContainsRune(closers, r)
	if (w.breaks || ideograph) && (w.wide > 0 || w.broken) && !closing && !w.glued {
		w.endWord()
	}
	w.letters(l, g, width)
	if ideograph || closing && r >= utf8.RuneSelf {
		w.breaks = true
	}
	w.glued = strings.ContainsRune(openers, r)
}

// letters adds text to the word under way.
func (w *wrapper) letters(l look, text string, width int) {
	if w.breaks && !w.glued && text[0] < utf8.RuneSelf && !strings.Contains(closers, text[:1]) {
		w.endWord()
	}
	w.breaks, w.glued = false, false
	if w.broken {
		w.lay(l, text)
		return
	}
	if n := len(w.word); n > 0 && w.word[n-1].look == l {
		w.word[n-1].text += text
	} else {
		w.word = append(w.word, span{look: l, text: text})
	}
	if w.wide += width; w.wide > w.width {
		if w.column > 0 {
			w.newline()
		}
		word := w.word
		w.word, w.wide, w.broken = nil, 0, true
		for _, s := range word {
			w.lay(s.look, s.text)
		}
	}
}

// endWord puts the word under way on the line, or on the next.
func (w *wrapper) endWord() {
	if w.wide > 0 {
		w.longest = max(w.longest, w.wide)
		if w.column > 0 && w.column+w.blank+w.wide > w.width {
			w.newline()
		}
		for _, b := range w.blanks {
			w.ink(b.look, b.text, b.text == " ")
		}
		w.column += w.blank
		for _, s := range w.word {
			w.ink(s.look, s.text, false)
		}
		w.column += w.wide
		w.blanks, w.blank = w.blanks[:0], 0
	}
	w.word, w.wide, w.broken, w.breaks, w.glued = w.word[:0], 0, false, false, false
}

// lay puts text on the line grapheme by grapheme, going to the next when full.
func (w *wrapper) lay(l look, text string) {
	for text != "" {
		n := asciiWord(text)
		if n == 0 && text[0] == ' ' {
			n = 1
		}
		if n > 0 {
			if w.column == w.width {
				w.newline()
			}
			n = min(n, w.width-w.column)
			w.ink(l, text[:n], false)
			w.column += n
			text = text[n:]
			continue
		}
		g, width := measure.First(text)
		text = text[len(g):]
		if width > w.width {
			g, width = "…", 1
		}
		if w.column+width > w.width {
			w.newline()
		}
		w.ink(l, g, false)
		w.column += width
	}
}

// ink writes text on the line in look l. A blank between two looks takes the
// plainer one, so that underlining does not run on into it.
func (w *wrapper) ink(l look, text string, blank bool) {
	if blank && w.on != l {
		l = look{}
	}
	if w.on != l {
		w.line = append(w.line, change(w.on, l)...)
		w.on = l
	}
	w.line = append(w.line, text...)
}

// newline gives out the line under way.
func (w *wrapper) newline() {
	before := w.rest
	if !w.started {
		before, w.started = w.first, true
	}
	w.line = append(w.line, change(w.on, look{})...)
	left, right := 0, 0
	if w.padded {
		left, right = w.align.pad(w.width - w.column)
	}
	var line strings.Builder
	line.Grow(len(before) + left + len(w.line) + right)
	line.WriteString(before)
	line.WriteString(spaces(left))
	line.Write(w.line)
	line.WriteString(spaces(right))
	*w.out = append(*w.out, line.String())
	w.line, w.column, w.on = w.line[:0], 0, look{}
	w.blanks, w.blank = w.blanks[:0], 0
}

// flush gives out what is left, if there is anything.
func (w *wrapper) flush() {
	w.endWord()
	if w.column > 0 {
		w.newline()
	}
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// change returns what turns look a into look b.
func change(a, b look) string {
	if a == b {
		return ""
	}
	out := ""
	if a.link != b.link && a.link != "" {
		out = "\x1b]8;;\x1b\\"
	}
	if a.style != b.style {
		if a.style != (Style{}) {
			out += "\x1b[m"
		}
		out += b.style.sequence()
	}
	if a.link != b.link && b.link != "" {
		out += "\x1b]8;;" + b.link + "\x1b\\"
	}
	return out
}

type alignment int

const (
	alignLeft alignment = iota
	alignCenter
	alignRight
)

// pad divides n free columns into those left and right of the text.
func (a alignment) pad(n int) (left, right int) {
	n = max(n, 0)
	switch a {
	case alignCenter:
		return n / 2, n - n/2
	case alignRight:
		return n, 0
	}
	return 0, n
}
