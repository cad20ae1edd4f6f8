// Package layout measures, highlights and styles text and breaks it into lines. Start at Wrapper;
// Theme assigns styles.
//
// Terminals differ in the width of a grapheme cluster of several characters. Some use the width
// that Unicode defines (mode 2027); others add up the widths of the characters, so that हि takes
// two cells instead of one. The renderer draws for one kind of terminal, and all layout must
// measure for the same kind, with Cells.
package layout

import (
	"strings"
	"unicode/utf8"
)

// Look is everything that can differ between two pieces of a line.
type Look struct {
	Style Style
	Link  string // address for the terminal to open; "" for none
}

// Span is text with one look. If End is set, the line ends after it.
type Span struct {
	Look
	Text string
	End  bool
}

// Span returns text in style s.
func (s Style) Span(text string) Span { return Span{Look: Look{Style: s}, Text: text} }

// Wrapper breaks spans into lines. The result does not depend on how text is split into spans, as
// long as no grapheme is split.
type Wrapper struct {
	Width       int    // of the text; at least 1
	First, Rest string // prefixes of the first line and of the others
	Out         *[]string
	Align       Alignment
	Padded      bool   // pad lines to Width
	Hard        bool   // break anywhere and keep spaces, for code
	Side        string // border to the right of each line; lines that are too long are cut there

	line    []byte // current line, styled, without its prefix
	Column  int
	on      Look // look at the end of line
	blank   Span // pending space before word
	word    []Span
	wide    int  // width of word
	broken  bool // word is longer than a line; the rest of it is laid out directly
	breaks  bool // a line may end after word
	glued   bool // no line may end after word, because it ends in an opening bracket
	started bool // the first line was output
	cut     bool // the current line is longer than Width
	Cut     bool // a line was cut at Side
	Longest int  // width of the widest word so far
}

// CopyTo makes to a deep copy of w, reusing its buffers.
func (w *Wrapper) CopyTo(to *Wrapper) {
	line, word := to.line, to.word
	*to = *w
	to.line, to.word = append(line[:0], w.line...), append(word[:0], w.word...)
}

func (w *Wrapper) Add(s Span) {
	if w.Hard {
		w.lay(s.Look, s.Text)
	} else {
		w.addText(s)
	}
	if s.End {
		w.endWord()
		w.Newline()
	}
}

func (w *Wrapper) addText(s Span) {
	text := s.Text
	for text != "" {
		if text[0] == ' ' {
			w.endWord()
			if w.blank.Text == "" && w.Column > 0 { // consecutive spaces collapse
				w.blank = Span{Look: s.Look, Text: " "}
			}
			text = strings.TrimLeft(text, " ")
			continue
		}
		n := asciiWord(text)
		long := n > w.Width && w.Padded
		if long {
			n = partOf(text[:n])
		}
		if n > 0 {
			w.letters(s.Look, text[:n], n)
			w.breaks = long
			text = text[n:]
			continue
		}
		cluster, width := First(text)
		w.cluster(s.Look, cluster, width)
		text = text[len(cluster):]
	}
}

// asciiWord returns the length of the printable ASCII at the beginning of text, in which each byte
// is a grapheme.
func asciiWord(text string) int {
	n := 0
	for n < len(text) && text[n] > ' ' && text[n] < 0x7f {
		n++
	}
	if n < len(text) && text[n] >= utf8.RuneSelf {
		n-- // a combining mark may follow
	}
	return max(n, 0)
}

// joints are the characters after which a word wider than a table cell is broken.
const joints = "/-_.,:;=&?|"

// partOf returns the length of a word up to and including its first joint.
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

// cluster adds one grapheme. A line may end next to a wide one, but not before closing or after
// opening punctuation.
func (w *Wrapper) cluster(l Look, g string, width int) {
	if width > w.Width {
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

// letters adds text to the current word.
func (w *Wrapper) letters(l Look, text string, width int) {
	if w.breaks && !w.glued && text[0] < utf8.RuneSelf && !strings.Contains(closers, text[:1]) {
		w.endWord()
	}
	w.breaks, w.glued = false, false
	if w.broken {
		w.lay(l, text)
		return
	}
	if n := len(w.word); n > 0 && w.word[n-1].Look == l {
		w.word[n-1].Text += text
	} else {
		w.word = append(w.word, Span{Look: l, Text: text})
	}
	if w.wide += width; w.wide > w.Width {
		if w.Column > 0 {
			w.Newline()
		}
		word := w.word
		w.word, w.wide, w.broken = nil, 0, true
		for _, s := range word {
			w.lay(s.Look, s.Text)
		}
	}
}

// endWord moves the current word to the line, or to the next one if it does not fit.
func (w *Wrapper) endWord() {
	if w.wide > 0 {
		w.Longest = max(w.Longest, w.wide)
		if w.Column > 0 && w.Column+len(w.blank.Text)+w.wide > w.Width {
			w.Newline()
		}
		if w.blank.Text != "" {
			if w.on != w.blank.Look { // a space between two looks has neither, so that underlines end there
				w.blank.Look = Look{}
			}
			w.ink(w.blank.Look, " ")
			w.Column++
		}
		for _, s := range w.word {
			w.ink(s.Look, s.Text)
		}
		w.Column += w.wide
		w.blank = Span{}
	}
	w.word, w.wide, w.broken, w.breaks, w.glued = w.word[:0], 0, false, false, false
}

// lay adds text to the line grapheme by grapheme, starting new lines as needed.
func (w *Wrapper) lay(l Look, text string) {
	for text != "" && !w.cut {
		n := asciiWord(text)
		if n == 0 && text[0] == ' ' {
			n = 1
		}
		if n > 0 {
			if w.Column == w.Width && w.full() {
				return
			}
			n = min(n, w.Width-w.Column)
			w.ink(l, text[:n])
			w.Column += n
			text = text[n:]
			continue
		}
		g, width := First(text)
		text = text[len(g):]
		if width > w.Width {
			g, width = "…", 1
		}
		if w.Column+width > w.Width && w.full() {
			return
		}
		w.ink(l, g)
		w.Column += width
	}
}

// full starts a new line or, if there is a Side, marks the line as cut. It reports whether the line
// is cut.
func (w *Wrapper) full() bool {
	if w.cut = w.Side != ""; !w.cut {
		w.Newline()
	}
	w.Cut = w.Cut || w.cut
	return w.cut
}

// ink appends text to the line in look l.
func (w *Wrapper) ink(l Look, text string) {
	if w.on != l {
		w.line = append(w.line, change(w.on, l)...)
		w.on = l
	}
	w.line = append(w.line, text...)
}

// Newline outputs the current line.
func (w *Wrapper) Newline() {
	before := w.Rest
	if !w.started {
		before, w.started = w.First, true
	}
	w.line = append(w.line, change(w.on, Look{})...)
	left, right := 0, 0
	if w.Padded {
		free := w.Width - w.Column
		left = free * int(w.Align) / 2
		right = free - left
	}
	var line strings.Builder
	line.Grow(len(before) + left + len(w.line) + right)
	line.WriteString(before)
	line.WriteString(Spaces(left))
	line.Write(w.line)
	line.WriteString(Spaces(right))
	switch {
	case w.cut:
		line.WriteString("›" + w.Side)
	case w.Side != "":
		line.WriteString(" " + w.Side)
	}
	w.cut = false
	*w.Out = append(*w.Out, line.String())
	w.line, w.Column, w.on = w.line[:0], 0, Look{}
	w.blank = Span{}
}

// Flush outputs the rest, if any.
func (w *Wrapper) Flush() {
	w.endWord()
	if w.Column > 0 {
		w.Newline()
	}
}

func Spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// change returns the escape sequences that change look a to look b.
func change(a, b Look) string {
	if a == b {
		return ""
	}
	out := ""
	if a.Link != b.Link && a.Link != "" {
		out = "\x1b]8;;\x1b\\"
	}
	if a.Style != b.Style {
		if a.Style != (Style{}) {
			out += "\x1b[m"
		}
		out += b.Style.sequence()
	}
	if a.Link != b.Link && b.Link != "" {
		out += "\x1b]8;;" + b.Link + "\x1b\\"
	}
	return out
}

// Alignment is the number of halves of the free columns to the left of a text.
type Alignment int

const (
	AlignLeft Alignment = iota
	AlignCenter
	AlignRight
)
