package markdown

import (
	"cmp"
	"slices"
	"strings"

	"lifehub/tui/layout"
)

func (p *parser) bracket(mark string) bool {
	p.nodes = append(p.nodes, node{mark: mark[0], from: p.at + len(mark), Span: p.base.Span("")})
	p.brackets = append(p.brackets, len(p.nodes)-1)
	p.at += len(mark)
	return true
}

// openBracket parses a complete [[wikilink]], or opens a bracket.
func (p *parser) openBracket(s string) bool {
	if len(s) == 1 && p.end == open {
		return false
	}
	if !strings.HasPrefix(s, "[[") {
		return p.bracket("[")
	}
	within := s[2:min(len(s), reach)]
	i := strings.IndexAny(within, "[]\n")
	switch {
	case i < 0 && len(s) < reach && p.end == open, i == len(within)-1 && i >= 0 && within[i] == ']' && p.end == open:
		return false
	case i > 0 && strings.HasPrefix(within[i:], "]]"):
		name, alias, _ := strings.Cut(within[:i], "|")
		if rest := within[i+2:]; citation(name) && (strings.HasPrefix(rest, "(") || rest == "" && p.end == open) {
			if n := strings.IndexAny(rest, ")\n"); n > 0 && rest[n] == ')' { // [[1]](note.md)
				p.show("["+name+"]", p.theme.Citation.Over(p.base))
				p.at += i + 4 + n + 1
				return true
			} else if n < 0 && len(s) < reach && p.end == open {
				return false
			}
		}
		if alias == "" {
			p.show(name, p.theme.Link.Over(p.base))
		} else {
			p.show(alias, p.theme.Link.Over(p.base))
			p.show(" ("+name+")", p.theme.Host.Over(p.base))
		}
		p.at += i + 4
		return true
	}
	return p.bracket("[")
}

// closeBracket closes the innermost open bracket, as a link, an image, a
// citation or plain text.
func (p *parser) closeBracket(s string) bool {
	if len(p.brackets) == 0 {
		return p.take(1)
	}
	if len(s) == 1 && p.end == open {
		return false
	}
	opener := p.brackets[len(p.brackets)-1]
	label := p.text[p.nodes[opener].from:p.at]
	t, n, known := p.target(s[1:], label)
	if !known {
		if p.end == open {
			return false
		}
		if p.end == guessed { // the address has not arrived yet
			t, n = target{text: true}, len(s)-1
		}
	}
	p.brackets = p.brackets[:len(p.brackets)-1]
	switch {
	case t.found():
		p.at += 1 + n
		p.resolve(opener+1, opener+1)
		p.literal(opener + 1)
		p.closeLink(opener, t)
	case citation(label):
		p.nodes = p.nodes[:opener]
		p.show("["+label+"]", p.theme.Citation.Over(p.base))
		p.at++
	default:
		p.nodes[opener].settle()
		p.show("]", p.base)
		p.at++
	}
	if len(p.brackets) == 0 {
		p.resolveNew()
	}
	return true
}

// closeLink turns the nodes after opener into a link or an image.
func (p *parser) closeLink(opener int, t target) {
	if p.nodes[opener].mark == '!' {
		name := ""
		for _, n := range p.nodes[opener+1:] {
			name += n.Span.Text
		}
		p.nodes = p.nodes[:opener]
		p.show("[image: "+cmp.Or(name, t.address)+"]", p.base)
		p.link(opener, t, p.theme.Image)
		return
	}
	p.nodes = slices.Delete(p.nodes, opener, opener+1)
	p.link(opener, t, p.theme.Link)
	for _, b := range p.brackets { // links cannot be nested
		if p.nodes[b].mark == '[' {
			p.nodes[b].settle()
		}
	}
	p.brackets = slices.DeleteFunc(p.brackets, func(b int) bool { return p.nodes[b].mark == 0 })
}

// link styles the nodes from first on as a link. It appends the destination,
// unless their text shows it, and the title.
func (p *parser) link(first int, t target, style layout.Style) {
	link, place := p.destination(t.address)
	shown := ""
	for i := first; i < len(p.nodes); i++ {
		n := &p.nodes[i]
		n.Span.Style, n.Span.Link = n.Span.Style.Over(style.Over(p.base)), link
		shown += n.Span.Text
	}
	if shows(shown, place) {
		place = ""
	}
	if t.title != "" && t.title != shown {
		place = strings.TrimLeft(place+` "`+t.title+`"`, " ")
	}
	if place != "" {
		p.show(" ("+place+")", p.theme.Host.Over(p.base))
	}
}

// address parses a bare address.
func (p *parser) address(s string) bool {
	within := s[:min(len(s), reach)]
	n := strings.IndexAny(within, " \n<>`\"|")
	if n < 0 {
		if len(s) < reach && p.end == open {
			return false
		}
		if n = len(within); n == reach { // truncated here, perhaps within a character
			n = settledText(within)
		}
	}
	if i := strings.IndexByte(within[:n], ']'); i >= 0 && len(p.brackets) > 0 {
		n = i
	}
	for n > 0 && (strings.IndexByte("?!.,:;*_~'", within[n-1]) >= 0 || within[n-1] == ')' && strings.Count(within[:n], ")") > strings.Count(within[:n], "(") || within[n-1] == ']') {
		n--
	}
	text := within[:n]
	host := strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "http://")
	if strings.Trim(host, "/") == "" || text == "www" || !strings.Contains(text, ".") && !strings.Contains(text, "://") {
		return p.take(max(n, 1))
	}
	address := text
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	p.show(text, p.base)
	p.link(len(p.nodes)-1, target{address: address}, p.theme.Link)
	p.at += n
	return true
}
