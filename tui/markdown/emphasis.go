package markdown

import (
	"unicode"
	"unicode/utf8"
)

// run takes a run of *, _ or ~ and closes what it can.
func (u *unit) run(s string) bool {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n == len(s) && u.end == open {
		return false
	}
	if n == len(s) && u.end == guessed { // more marks may come: show none
		u.at += n
		return true
	}
	last := before(u.text[:u.at], u.prev)
	next := ' '
	if n < len(s) {
		next, _ = utf8.DecodeRuneInString(s[n:])
	}
	left := !unicode.IsSpace(next) && (!isPunct(next) || unicode.IsSpace(last) || isPunct(last))
	right := !unicode.IsSpace(last) && (!isPunct(last) || unicode.IsSpace(next) || isPunct(next))
	d := node{mark: s[0], count: n, canOpen: left, canClose: right, span: u.inliner.text("")}
	switch {
	case s[0] == '_':
		d.canOpen, d.canClose = left && (!right || isPunct(last)), right && (!left || isPunct(next))
	case s[0] == '~' && n != 2:
		return u.take(n)
	}
	u.nodes = append(u.nodes, d)
	u.at += n
	if len(u.brackets) == 0 {
		u.resolveAll()
	}
	return true
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// resolveAll pairs the marks that have come since it was last called: what found
// no opener then finds none now.
func (u *unit) resolveAll() {
	u.resolveFrom(0, u.resolved)
	u.resolved = len(u.nodes)
}

// resolve pairs the marks from node bottom on, as CommonMark does: each closer
// with the nearest opener before it.
func (u *unit) resolve(bottom int) { u.resolveFrom(bottom, bottom) }

func (u *unit) resolveFrom(bottom, first int) {
	for c := first; c < len(u.nodes); c++ {
		for u.nodes[c].mark != 0 && u.nodes[c].mark != '[' && u.nodes[c].mark != '!' && u.nodes[c].canClose && u.nodes[c].count > 0 {
			o := u.opener(bottom, c)
			if o < 0 {
				break
			}
			n := 1
			if u.nodes[o].count >= 2 && u.nodes[c].count >= 2 {
				n = 2
			}
			u.restyle(o+1, c, u.emphasis(u.nodes[c].mark, n))
			for i := o + 1; i < c; i++ { // what is open between the two stays text
				u.nodes[i].canOpen, u.nodes[i].canClose = false, false
			}
			u.nodes[o].count -= n
			u.nodes[c].count -= n
		}
		if u.nodes[c].count > 0 && !u.nodes[c].canOpen {
			u.nodes[c].canClose = false
		}
	}
}

func (u *unit) opener(bottom, c int) int {
	closer := u.nodes[c]
	for o := c - 1; o >= bottom; o-- {
		n := u.nodes[o]
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

func (u *unit) emphasis(mark byte, count int) Style {
	switch {
	case mark == '~':
		return u.theme.Deleted
	case count == 2:
		return u.theme.Strong
	}
	return u.theme.Emphasis
}

func (u *unit) restyle(from, to int, style Style) {
	for i := from; i < to; i++ {
		u.nodes[i].style = u.nodes[i].style.over(style)
	}
}
