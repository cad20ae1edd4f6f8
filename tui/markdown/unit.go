package markdown

import (
	"strings"
	"unicode/utf8"

	"lifehub/tui/layout"
)

// unit parses tokens up to the next point where no mark is open. It reports
// whether that point was reached.
func (p *parser) unit() bool {
	for p.at == 0 || !p.neutral() {
		far := p.at > reach || len(p.nodes) > maxNodes
		if far || p.at == len(p.text) {
			if !far && p.end == open {
				return false
			}
			p.finish()
			return true
		}
		if !p.token() {
			return false
		}
	}
	return true
}

// neutral reports whether no mark of the unit is open; if so, it turns the
// remaining marks into text.
func (p *parser) neutral() bool {
	if len(p.brackets) > 0 {
		return false
	}
	for _, n := range p.nodes {
		if n.mark != 0 && n.canOpen && n.count > 0 {
			return false
		}
	}
	p.literal(0)
	return true
}

// finish ends the unit: open marks become text, or in a preview are applied.
func (p *parser) finish() {
	if p.end == guessed {
		var within layout.Style
		for i := range p.nodes {
			n := &p.nodes[i]
			n.Span.Style = n.Span.Style.Over(within)
			if n.mark == '[' || !n.canOpen || n.count == 0 || n.mark == '!' || n.mark == '~' && n.count != 2 {
				continue
			}
			style := p.emphasis(n.mark, min(n.count, 2))
			if n.count > 2 {
				style = style.Over(p.theme.Emphasis)
			}
			within = within.Over(style)
			n.mark, n.Span.Text = 0, ""
		}
	}
	p.brackets = nil
	p.resolve(0, 0)
	p.literal(0)
}

// literal turns the marks from node i on into text.
func (p *parser) literal(i int) {
	for ; i < len(p.nodes); i++ {
		p.nodes[i].settle()
	}
}

// settle turns a mark into text.
func (n *node) settle() {
	switch n.mark {
	case '*', '_', '~':
		n.Span.Text = strings.Repeat(string(n.mark), n.count)
	case '[':
		n.Span.Text = "["
	case '!':
		n.Span.Text = "!["
	}
	n.mark = 0
}

func (p *parser) show(text string, style layout.Style) {
	p.nodes = append(p.nodes, node{Span: style.Span(text)})
}

// token parses a token. It returns false if more text is needed first.
func (p *parser) token() bool {
	s := p.text[p.at:]
	switch s[0] {
	case '\\':
		return p.backslash(s)
	case '`':
		return p.code(s)
	case '<':
		return p.angle(s)
	case '&':
		return p.entity(s)
	case '$':
		return p.math(s)
	case '*', '_', '~':
		return p.run(s)
	case '!':
		if len(s) == 1 && p.end == open {
			return false
		}
		if len(s) > 1 && s[1] == '[' {
			return p.bracket("![")
		}
		return p.take(1)
	case '[':
		return p.openBracket(s)
	case ']':
		return p.closeBracket(s)
	case '\n':
		p.show(" ", p.base)
		p.at++
		return true
	}
	if startsAddress(s) && !wordRune(before(p.text[:p.at], p.prev)) {
		return p.address(s)
	}
	return p.plain(s)
}

// take adds the next n bytes as plain text. It returns true.
func (p *parser) take(n int) bool {
	p.show(p.text[p.at:p.at+n], p.base)
	p.at += n
	return true
}

// plain parses text up to the next character that may begin markup.
func (p *parser) plain(s string) bool {
	n := plainLength(s, before(p.text[:p.at], p.prev))
	if cut := p.cut(s[:n]); cut > 0 && p.at > 0 {
		return p.take(cut)
	}
	if n < len(s) && s[n] == '\n' {
		text := strings.TrimRight(s[:n], " ")
		hard := n-len(text) >= 2 // two blanks before a line end break the line
		p.show(text, p.base)
		p.nodes[len(p.nodes)-1].Span.End = hard
		if p.at += n; hard {
			p.at++
		}
		return true
	}
	if n == len(s) && p.end == open {
		if p.at > 0 {
			return false
		}
		n = settledText(s)
	}
	return n > 0 && p.take(n)
}

// cut returns where plain text s must end because the unit becomes too long; 0
// if it need not.
func (p *parser) cut(s string) int {
	from := max(reach-p.at, 1)
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
