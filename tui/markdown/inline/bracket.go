package inline

import (
	"slices"
	"strings"

	"lifehub/tui/markdown/layout"
)

func (p *Parser) bracket(mark string) bool {
	p.nodes = append(p.nodes, node{mark: mark[0], from: p.at + len(mark), Span: p.plainSpan("")})
	p.brackets = append(p.brackets, len(p.nodes)-1)
	p.at += len(mark)
	return true
}

// openBracket takes [[a wikilink]] whole, and begins a link otherwise.
func (p *Parser) openBracket(s string) bool {
	if len(s) == 1 && p.end == Open {
		return false
	}
	if !strings.HasPrefix(s, "[[") {
		return p.bracket("[")
	}
	within := s[2:min(len(s), Reach)]
	i := strings.IndexAny(within, "[]\n")
	switch {
	case i < 0 && len(s) < Reach && p.end == Open, i == len(within)-1 && i >= 0 && within[i] == ']' && p.end == Open:
		return false
	case i > 0 && strings.HasPrefix(within[i:], "]]"):
		name, alias, _ := strings.Cut(within[:i], "|")
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

// closeBracket ends the innermost open bracket: a link, an image, a citation
// or just brackets.
func (p *Parser) closeBracket(s string) bool {
	if len(p.brackets) == 0 {
		return p.take(1)
	}
	if len(s) == 1 && p.end == Open {
		return false
	}
	opener := p.brackets[len(p.brackets)-1]
	label := p.text[p.nodes[opener].from:p.at]
	t, n, known := p.target(s[1:], label)
	if !known {
		if p.end == Open {
			return false
		}
		if p.end == Guessed { // the address is on its way
			t, n = target{text: true}, len(s)-1
		}
	}
	p.brackets = p.brackets[:len(p.brackets)-1]
	switch {
	case t.found():
		p.at += 1 + n
		p.resolve(opener + 1)
		p.literal(opener + 1)
		p.closeLink(opener, t)
	case citation(label):
		p.nodes = append(p.nodes[:opener], node{Span: layout.Span{Look: layout.Look{Style: p.theme.Citation.Over(p.base)}, Text: "[" + label + "]"}})
		p.at++
	default:
		p.nodes[opener].settle()
		p.show("]", p.base)
		p.at++
	}
	if len(p.brackets) == 0 {
		p.resolveAll()
	}
	return true
}

// closeLink makes a link or an image of the nodes after opener.
func (p *Parser) closeLink(opener int, t target) {
	inside := slices.Clone(p.nodes[opener+1:])
	image := p.nodes[opener].mark == '!'
	p.nodes = p.nodes[:opener]
	if image {
		name := ""
		for _, n := range inside {
			name += n.Text
		}
		if name == "" {
			name = t.address
		}
		p.nodes = append(p.nodes, p.linked([]node{{Span: p.plainSpan("[image: " + name + "]")}}, t, p.theme.Image)...)
		return
	}
	p.nodes = append(p.nodes, p.linked(inside, t, p.theme.Link)...)
	for _, b := range p.brackets { // a link holds no link
		if p.nodes[b].mark == '[' {
			p.nodes[b].settle()
		}
	}
	p.brackets = slices.DeleteFunc(p.brackets, func(b int) bool { return p.nodes[b].mark == 0 })
}

// linked gives nodes the look of a link, and after them says where it leads if
// their text does not, and its title.
func (p *Parser) linked(nodes []node, t target, style layout.Style) []node {
	link, place := p.destination(t.address)
	shown := ""
	for i := range nodes {
		nodes[i].Style = nodes[i].Style.Over(style.Over(p.base))
		nodes[i].Link = link
		shown += nodes[i].Text
	}
	if says(shown, place) {
		place = ""
	}
	if t.title != "" && t.title != shown {
		place = strings.TrimLeft(place+` "`+t.title+`"`, " ")
	}
	if place != "" {
		nodes = append(nodes, node{Span: layout.Span{Look: layout.Look{Style: p.theme.Host.Over(p.base)}, Text: " (" + place + ")"}})
	}
	return nodes
}

// address takes a bare address.
func (p *Parser) address(s string) bool {
	within := s[:min(len(s), Reach)]
	n := strings.IndexAny(within, " \n<>`\"|")
	if n < 0 {
		if len(s) < Reach && p.end == Open {
			return false
		}
		n = len(within)
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
	p.nodes = append(p.nodes, p.linked([]node{{Span: p.plainSpan(text)}}, target{address: address}, p.theme.Link)...)
	p.at += n
	return true
}
