package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/tui/layout"
)

// reach bounds the distance, in bytes, between the opening and closing mark of
// an emphasis, a code span or a link. Marks farther apart are text, so that a
// paragraph of unclosed marks has a bounded cost.
const reach = 2048

// maxNodes bounds the nodes that wait for a closing mark, because each mark is
// compared with all nodes before it.
const maxNodes = 256

// mathReach is the counterpart of reach for $…$, which is more often money.
const mathReach = 200

// ending is what is known about the text that follows.
type ending int

const (
	open    ending = iota // more may follow
	guessed               // preview: draw as if open marks were closed here
	closed                // nothing follows
)

// parser converts the text of one paragraph to spans while it arrives. It works
// in units: a unit ends where no mark is open, so that later text cannot change
// it.
type parser struct {
	theme *layout.Theme
	links *links
	base  layout.Style // style of plain text
	text  string       // text that has not become spans yet
	prev  rune         // character before text; ' ' at the start
	end   ending       // what follows text

	// The state of the unit at the beginning of text, which resumes when more
	// text has arrived.
	at       int
	nodes    []node
	brackets []int // indexes of the nodes that are open brackets
	resolved int   // number of nodes whose closing marks were paired
}

// newInline returns a parser for a paragraph; base is the style of plain text.
func newInline(theme *layout.Theme, links *links, base layout.Style) parser {
	return parser{theme: theme, links: links, base: base, prev: ' '}
}

// Add appends text.
func (p *parser) Add(text string) { p.text += text }

// Pending returns the text that has not become spans yet.
func (p *parser) Pending() string { return p.text }

// CopyTo makes to an independent copy of p.
func (p *parser) CopyTo(to *parser) {
	nodes, brackets := to.nodes, to.brackets
	*to = *p
	to.nodes, to.brackets = append(nodes[:0], p.nodes...), append(brackets[:0], p.brackets...)
}

// node is a span that may still change: a run of * may be paired, and a bracket
// may get an address.
type node struct {
	Span     layout.Span
	mark     byte // '*', '_', '~', '[' or '!'; 0 for text
	count    int
	canOpen  bool
	canClose bool
	from     int // start of a bracket's text in the unit
}

// Advance yields the spans that later text cannot change.
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

// special holds the characters that may begin markup. Bare addresses, which
// begin with a letter, are found by startsAddress.
const special = "\\`<[]*_~&$!\n"

var isSpecial = func() (table [256]bool) {
	for _, b := range []byte(special) {
		table[b] = true
	}
	return table
}()

// plainLength returns the number of bytes at the beginning of s that are plain
// text, assuming that the first one is.
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

// startsAddress reports whether s begins with a bare address or with a prefix
// of one.
func startsAddress(s string) bool {
	for _, scheme := range [...]string{"https://", "http://", "www."} {
		if strings.HasPrefix(s, scheme) || len(s) < len(scheme) && strings.HasPrefix(scheme, s) {
			return true
		}
	}
	return false
}

// longWord is the length, in bytes, from which an incomplete word is drawn.
const longWord = 128

// settledText returns the length of the part of s, which is plain text so far,
// that later text cannot change. It ends before the last blank, or in a script
// without blanks and in a very long word, before the last character.
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

// standsAlone reports whether r is a grapheme of its own next to another such
// character.
func standsAlone(r rune) bool {
	return r > ' ' && r < 0x7f || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
