// Package layout measures, highlights and styles text and breaks it into lines.
// Start at Wrapper; Theme gives each meaning its look.
//
// Terminals differ in how wide a grapheme cluster of several characters is: some
// give it the width that Unicode says (mode 2027), others add up the widths of
// its characters, so that हि takes two cells instead of one. The renderer draws
// for one kind of terminal; everything that lays text out must measure for the
// same kind, with Cells.
package layout

import (
	"strings"
	"unicode/utf8"
)

// Look is everything that tells two pieces of a line apart.
type Look struct {
	Style Style
	Link  string // the address the terminal opens, "" for none
}

// Span is text in one look. An end span ends the line after its text.
type Span struct {
	Look
	Text string
	End  bool
}

// Span returns text in style s.
func (s Style) Span(text string) Span { return Span{Look: Look{Style: s}, Text: text} }

// Wrapper breaks spans into lines. What it makes does not depend on how the
// spans are cut, as long as no grapheme is.
type Wrapper struct {
	Width       int    // of the text, 1 or more
	First, Rest string // what stands before the first line and the others
	Out         *[]string
	Align       Alignment
	Padded      bool   // lines are filled up to width
	Hard        bool   // breaks anywhere, keeps blanks: for code
	Side        string // the border right of each line; a line that is too long is cut there

	line    []byte // the line under way, styled, without its prefix
	Column  int
	on      Look // in force at the end of line
	blank   Span // the blank before word, if there is one
	word    []Span
	wide    int  // width of word
	broken  bool // word is longer than a line: what follows of it is laid as it comes
	breaks  bool // a line may end after word
	glued   bool // no line may end after word: it ends in an opening bracket
	started bool // the first line was given out
	cut     bool // the line under way is longer than Width
	Longest int  // width of the widest word so far
}

// CopyTo makes to a copy of w in memory of its own.
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
			if w.blank.Text == "" && w.Column > 0 { // blanks in text are one
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

// letters adds text to the word under way.
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

// endWord puts the word under way on the line, or on the next.
func (w *Wrapper) endWord() {
	if w.wide > 0 {
		w.Longest = max(w.Longest, w.wide)
		if w.Column > 0 && w.Column+len(w.blank.Text)+w.wide > w.Width {
			w.Newline()
		}
		if w.blank.Text != "" {
			if w.on != w.blank.Look { // between two looks it takes neither, so that no underline runs on into it
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

// lay puts text on the line grapheme by grapheme, going to the next when full.
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

// full goes to the next line, or reports that the line under way is cut.
func (w *Wrapper) full() bool {
	if w.cut = w.Side != ""; !w.cut {
		w.Newline()
	}
	return w.cut
}

// ink writes text on the line in look l.
func (w *Wrapper) ink(l Look, text string) {
	if w.on != l {
		w.line = append(w.line, change(w.on, l)...)
		w.on = l
	}
	w.line = append(w.line, text...)
}

// Newline gives out the line under way.
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

// Flush gives out what is left, if there is anything.
func (w *Wrapper) Flush() {
	w.endWord()
	if w.Column > 0 {
		w.Newline()
	}
}

func Spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// change returns what turns look a into look b.
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

// Alignment is how many halves of the free columns stand left of a text.
type Alignment int

const (
	AlignLeft Alignment = iota
	AlignCenter
	AlignRight
)
