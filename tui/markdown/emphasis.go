package markdown

import (
	"unicode"
	"unicode/utf8"

	"lifehub/tui/layout"
)

// run parses a run of *, _ or ~, which may close earlier ones.
func (p *parser) run(s string) bool {
	n := leading(s, s[:1])
	if n == len(s) && p.end == open {
		return false
	}
	if n == len(s) && p.end == guessed { // more marks may follow, so none is shown
		p.at += n
		return true
	}
	last := before(p.text[:p.at], p.prev)
	next := ' '
	if n < len(s) {
		next, _ = utf8.DecodeRuneInString(s[n:])
	}
	left := !unicode.IsSpace(next) && (!isPunct(next) || unicode.IsSpace(last) || isPunct(last))
	right := !unicode.IsSpace(last) && (!isPunct(last) || unicode.IsSpace(next) || isPunct(next))
	d := node{mark: s[0], count: n, canOpen: left, canClose: right, Span: p.base.Span("")}
	switch {
	case s[0] == '_':
		d.canOpen, d.canClose = left && (!right || isPunct(last)), right && (!left || isPunct(next))
	case s[0] == '~' && n != 2:
		return p.take(n)
	}
	p.nodes = append(p.nodes, d)
	p.at += n
	if len(p.brackets) == 0 {
		p.resolveNew()
	}
	return true
}

// resolveNew pairs the marks added since its last call. Earlier closers without
// an opener cannot find one any more.
func (p *parser) resolveNew() {
	p.resolve(0, p.resolved)
	p.resolved = len(p.nodes)
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// resolve pairs the marks from node bottom on as CommonMark does: each closer
// with the nearest opener before it. Closers before node first are skipped.
func (p *parser) resolve(bottom, first int) {
	for c := first; c < len(p.nodes); c++ {
		for p.nodes[c].mark != 0 && p.nodes[c].mark != '[' && p.nodes[c].mark != '!' && p.nodes[c].canClose && p.nodes[c].count > 0 {
			o := p.opener(bottom, c)
			if o < 0 {
				break
			}
			n := 1
			if p.nodes[o].count >= 2 && p.nodes[c].count >= 2 {
				n = 2
			}
			style := p.emphasis(p.nodes[c].mark, n)
			for i := o + 1; i < c; i++ { // unpaired marks within the pair become text
				p.nodes[i].Span.Style = p.nodes[i].Span.Style.Over(style)
				p.nodes[i].canOpen, p.nodes[i].canClose = false, false
			}
			p.nodes[o].count -= n
			p.nodes[c].count -= n
		}
		if p.nodes[c].count > 0 && !p.nodes[c].canOpen {
			p.nodes[c].canClose = false
		}
	}
}

func (p *parser) opener(bottom, c int) int {
	closer := p.nodes[c]
	for o := c - 1; o >= bottom; o-- {
		n := p.nodes[o]
		if n.mark != closer.mark || !n.canOpen || n.count == 0 || n.mark == '~' && n.count != closer.count {
			continue
		}
		if (n.canClose || closer.canOpen) && (n.count+closer.count)%3 == 0 && (n.count%3 != 0 || closer.count%3 != 0) {
			continue
		}
		return o
	}
	return -1
}

func (p *parser) emphasis(mark byte, count int) layout.Style {
	switch {
	case mark == '~':
		return p.theme.Deleted
	case count == 2:
		return p.theme.Strong
	}
	return p.theme.Emphasis
}
