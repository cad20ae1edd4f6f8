package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/tui/layout"
)

// reach bounds, in bytes, how far the mark that ends an emphasis, a code span
// or a link may be from the one that begins it. Further ones are plain text:
// so the cost of a paragraph that never closes them stays bounded.
const reach = 2048

// maxNodes bounds how many pieces may wait for the mark that ends the first of
// them, for each mark looks through all before it.
const maxNodes = 256

// mathReach is reach for $…$, which is more often money.
const mathReach = 200

// ending says how much is known of what follows the text.
type ending int

const (
	open    ending = iota // more may come
	guessed               // draw it as if the marks still open were closed next
	closed                // nothing comes
)

// parser turns the text of one paragraph, as it arrives, into spans. It works
// in units: a unit ends where nothing is open, so that what follows cannot
// change it.
type parser struct {
	theme *layout.Theme
	links *links
	base  layout.Style // of plain text
	text  string       // what has arrived and is not yet spans
	prev  rune         // the character before text, ' ' at the start
	end   ending       // of text

	// What is known of the unit that text begins with. It resumes where it was
	// when more text has come.
	at       int
	nodes    []node
	brackets []int // open brackets, by node
	resolved int   // how many nodes have been looked at for closing marks
}

// newInline returns a parser of a paragraph whose plain text is in style base.
func newInline(theme *layout.Theme, links *links, base layout.Style) parser {
	return parser{theme: theme, links: links, base: base, prev: ' '}
}

// Add takes more text.
func (p *parser) Add(text string) { p.text += text }

// Pending returns the text that has not become spans yet.
func (p *parser) Pending() string { return p.text }

// CopyTo makes to a copy of p in memory of its own.
func (p *parser) CopyTo(to *parser) {
	nodes, brackets := to.nodes, to.brackets
	*to = *p
	to.nodes, to.brackets = append(nodes[:0], p.nodes...), append(brackets[:0], p.brackets...)
}

// node is a span that may still change: a run of * waits for its partner, a
// bracket for its address.
type node struct {
	Span     layout.Span
	mark     byte // '*', '_', '~', '[' or '!': not text yet
	count    int
	canOpen  bool
	canClose bool
	from     int // where a bracket's text begins in the unit
}

// Advance gives the spans that are certain to yield.
func (p *parser) Advance(end ending, yield func(layout.Span)) {
	p.end = end
	for p.text != "" && p.unit() {
		for _, node := range p.nodes {
			if node.Span.Text != "" || node.Span.End {
				yield(node.Span)
			}
		}
		p.prev, _ = utf8.DecodeLastRuneInString(p.text[:p.at])
		p.text = p.text[p.at:]
		p.at, p.nodes, p.brackets, p.resolved = 0, p.nodes[:0], p.brackets[:0], 0
	}
}

// special holds the characters that may begin something. Addresses begin with
// a letter; see address.
const special = "\\`<[]*_~&$!\n"

var isSpecial = func() (table [256]bool) {
	for _, b := range []byte(special) {
		table[b] = true
	}
	return table
}()

// plainLength returns how many bytes of s, not less than one, are plain text
// whatever they begin with.
func plainLength(s string, prev rune) int {
	for i := 1; i < len(s); i++ {
		if isSpecial[s[i]] || (s[i] == 'h' || s[i] == 'w') && startsAddress(s[i:]) && !wordRune(before(s[:i], prev)) {
			return i
		}
	}
	return len(s)
}

func before(s string, prev rune) rune {
	if s == "" {
		return prev
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '/' }

// startsAddress reports whether s begins, or may turn out to begin, with an
// address that is a link without any mark.
func startsAddress(s string) bool {
	for _, scheme := range [...]string{"https://", "http://", "www."} {
		if strings.HasPrefix(s, scheme) || len(s) < len(scheme) && strings.HasPrefix(scheme, s) {
			return true
		}
	}
	return false
}

// longWord is the length of a word, in bytes, that is not waited for.
const longWord = 128

// settledText returns how much of s, plain so far, can be given out whatever
// follows: up to its last blank, or in a script without blanks and in a very
// long word up to its last character.
func settledText(s string) int {
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		return len(strings.TrimRight(s[:i], " "))
	}
	last, size := utf8.DecodeLastRuneInString(s)
	if previous, _ := utf8.DecodeLastRuneInString(s[:len(s)-size]); standsAlone(last) && standsAlone(previous) {
		return len(s) - size
	}
	if len(s) < longWord {
		return 0
	}
	at := 0
	for {
		cluster, _ := layout.First(s[at:])
		if at+len(cluster) == len(s) {
			return at
		}
		at += len(cluster)
	}
}

// standsAlone reports whether r is a grapheme of its own before and after another such.
func standsAlone(r rune) bool {
	return r > ' ' && r < 0x7f || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
