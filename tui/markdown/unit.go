package markdown

import (
	"strings"
	"unicode/utf8"
)

// node is a span that may still change: a run of * waits for its partner, a
// bracket for its address.
type node struct {
	span
	mark     byte // '*', '_', '~', '[' or '!': not text yet
	count    int
	canOpen  bool
	canClose bool
	from     int // where a bracket's text begins in the unit
}

// unit parses the text from one special character to the next point where
// nothing is open. It goes on where it was when more text has come.
type unit struct {
	*inliner
	end      ending
	text     string
	prev     rune
	at       int
	nodes    []node
	brackets []int // open brackets, by node
	resolved int   // how many nodes have been looked at for closing marks
}

// parse returns the length of the unit, 0 if it is not yet known.
func (u *unit) parse() int {
	for {
		if u.at > 0 && u.neutral() {
			return u.at
		}
		far := u.at > reach || len(u.nodes) > maxNodes
		if far || u.at == len(u.text) {
			if !far && u.end == open {
				return 0
			}
			u.finish()
			return u.at
		}
		if !u.token() {
			return 0
		}
	}
}

// neutral reports whether nothing of the unit waits for a partner.
func (u *unit) neutral() bool {
	if len(u.brackets) > 0 {
		return false
	}
	for _, n := range u.nodes {
		if n.mark != 0 && n.canOpen && n.count > 0 {
			return false
		}
	}
	u.literal(0)
	return true
}

// finish settles what is still open: as text, or as if it were closed here.
func (u *unit) finish() {
	if u.end == guessed {
		var within Style
		for i := range u.nodes {
			n := &u.nodes[i]
			n.style = n.style.over(within)
			if n.mark == '[' || !n.canOpen || n.count == 0 || n.mark == '!' || n.mark == '~' && n.count != 2 {
				continue
			}
			style := u.emphasis(n.mark, min(n.count, 2))
			if n.count > 2 {
				style = style.over(u.theme.Emphasis)
			}
			within = within.over(style)
			n.mark, n.span.text = 0, ""
		}
	}
	u.brackets = nil
	u.resolve(0)
	u.literal(0)
}

// literal makes text of the marks from node i on.
func (u *unit) literal(i int) {
	for ; i < len(u.nodes); i++ {
		u.nodes[i].settle()
	}
}

// settle makes text of a mark.
func (n *node) settle() {
	switch n.mark {
	case '*', '_', '~':
		n.text = strings.Repeat(string(n.mark), n.count)
	case '[':
		n.text = "["
	case '!':
		n.text = "!["
	}
	n.mark = 0
}

func (u *unit) add(text string, style Style) {
	u.nodes = append(u.nodes, node{span: span{look: look{style: style}, text: text}})
}

// token takes the next token. It returns false if more text must come first.
func (u *unit) token() bool {
	s := u.text[u.at:]
	switch s[0] {
	case '\\':
		return u.backslash(s)
	case '`':
		return u.code(s)
	case '<':
		return u.angle(s)
	case '&':
		return u.entity(s)
	case '$':
		return u.math(s)
	case '*', '_', '~':
		return u.run(s)
	case '!':
		if len(s) == 1 && u.end == open {
			return false
		}
		if len(s) > 1 && s[1] == '[' {
			return u.bracket("![")
		}
		return u.take(1)
	case '[':
		return u.openBracket(s)
	case ']':
		return u.closeBracket(s)
	case '\n':
		u.add(" ", u.base)
		u.at++
		return true
	}
	if startsAddress(s) && !wordRune(before(u.text[:u.at], u.prev)) {
		return u.address(s)
	}
	return u.plain(s)
}

// take adds the next n bytes as text.
func (u *unit) take(n int) bool {
	u.add(u.text[u.at:u.at+n], u.base)
	u.at += n
	return true
}

// plain takes text up to the next character that may mean something.
func (u *unit) plain(s string) bool {
	prev := before(u.text[:u.at], u.prev)
	n := 1
	for n < len(s) && !isSpecial[s[n]] && s[n] != ']' && !((s[n] == 'h' || s[n] == 'w') && startsAddress(s[n:]) && !wordRune(before(s[:n], prev))) {
		n++
	}
	if cut := u.cut(s[:n]); cut > 0 {
		return u.take(cut)
	}
	if n < len(s) && s[n] == '\n' {
		text := strings.TrimRight(s[:n], " ")
		if n-len(text) >= 2 { // two blanks and a line end: a new line
			u.nodes = append(u.nodes, node{span: span{look: look{style: u.base}, text: text, end: true}})
			u.at += n + 1
			return true
		}
		u.add(text, u.base)
		u.at += n
		return true
	}
	if n == len(s) && u.end == open {
		return false
	}
	return u.take(n)
}

// cut returns where plain text s must end because the unit reaches too far, 0
// if it need not.
func (u *unit) cut(s string) int {
	from := max(reach-u.at, 1)
	if from >= len(s) {
		return 0
	}
	if i := strings.IndexByte(s[from:min(len(s), from+reach)], ' '); i >= 0 {
		return from + i + 1
	}
	if len(s) < from+reach {
		return 0
	}
	for n := from + reach; ; n-- {
		if utf8.RuneStart(s[n-1]) {
			return n - 1
		}
	}
}
