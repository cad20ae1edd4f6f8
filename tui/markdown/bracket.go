package markdown

import (
	"slices"
	"strings"
)

func (p *parser) bracket(mark string) bool {
	p.nodes = append(p.nodes, node{mark: mark[0], from: p.at + len(mark), span: p.plainSpan("")})
	p.brackets = append(p.brackets, len(p.nodes)-1)
	p.at += len(mark)
	return true
}

// openBracket takes [[a wikilink]] whole, and begins a link otherwise.
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
		if alias == "" {
			p.show(name, p.theme.Link.over(p.base))
		} else {
			p.show(alias, p.theme.Link.over(p.base))
			p.show(" ("+name+")", p.theme.Host.over(p.base))
		}
		p.at += i + 4
		return true
	}
	return p.bracket("[")
}

// closeBracket ends the innermost open bracket: a link, an image, a citation
// or just brackets.
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
		if p.end == guessed { // the address is on its way
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
		p.nodes = append(p.nodes[:opener], node{span: span{look: look{style: p.theme.Citation.over(p.base)}, text: "[" + label + "]"}})
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
func (p *parser) closeLink(opener int, t target) {
	inside := slices.Clone(p.nodes[opener+1:])
	image := p.nodes[opener].mark == '!'
	p.nodes = p.nodes[:opener]
	if image {
		name := ""
		for _, n := range inside {
			name += n.text
		}
		if name == "" {
			name = t.address
		}
		p.nodes = append(p.nodes, p.linked([]node{{span: p.plainSpan("[image: " + name + "]")}}, t, p.theme.Image)...)
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
func (p *parser) linked(nodes []node, t target, style Style) []node {
	link, place := p.destination(t.address)
	shown := ""
	for i := range nodes {
		nodes[i].style = nodes[i].style.over(style.over(p.base))
		nodes[i].link = link
		shown += nodes[i].text
	}
	if says(shown, place) {
		place = ""
	}
	if t.title != "" && t.title != shown {
		place = strings.TrimLeft(place+` "`+t.title+`"`, " ")
	}
	if place != "" {
		nodes = append(nodes, node{span: span{look: look{style: p.theme.Host.over(p.base)}, text: " (" + place + ")"}})
	}
	return nodes
}

// address takes a bare address.
func (p *parser) address(s string) bool {
	within := s[:min(len(s), reach)]
	n := strings.IndexAny(within, " \n<>`\"|")
	if n < 0 {
		if len(s) < reach && p.end == open {
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
	p.nodes = append(p.nodes, p.linked([]node{{span: p.plainSpan(text)}}, target{address: address}, p.theme.Link)...)
	p.at += n
	return true
}
