package markdown

import (
	"slices"
	"strings"
)

func (u *unit) bracket(mark string) bool {
	u.nodes = append(u.nodes, node{mark: mark[0], from: u.at + len(mark), span: u.inliner.text("")})
	u.brackets = append(u.brackets, len(u.nodes)-1)
	u.at += len(mark)
	return true
}

// openBracket takes [[a wikilink]] whole, and begins a link otherwise.
func (u *unit) openBracket(s string) bool {
	if len(s) == 1 && u.end == open {
		return false
	}
	if !strings.HasPrefix(s, "[[") {
		return u.bracket("[")
	}
	within := s[2:min(len(s), reach)]
	i := strings.IndexAny(within, "[]\n")
	switch {
	case i < 0 && len(s) < reach && u.end == open, i == len(within)-1 && i >= 0 && within[i] == ']' && u.end == open:
		return false
	case i > 0 && strings.HasPrefix(within[i:], "]]"):
		name, alias, _ := strings.Cut(within[:i], "|")
		if alias == "" {
			u.add(name, u.theme.Link.over(u.base))
		} else {
			u.add(alias, u.theme.Link.over(u.base))
			u.add(" ("+name+")", u.theme.Host.over(u.base))
		}
		u.at += i + 4
		return true
	}
	return u.bracket("[")
}

// closeBracket ends the innermost open bracket: a link, an image, a citation
// or just brackets.
func (u *unit) closeBracket(s string) bool {
	if len(u.brackets) == 0 {
		return u.take(1)
	}
	if len(s) == 1 && u.end == open {
		return false
	}
	opener := u.brackets[len(u.brackets)-1]
	label := u.text[u.nodes[opener].from:u.at]
	t, n, known := u.target(s[1:], label)
	if !known {
		if u.end == open {
			return false
		}
		if u.end == guessed { // the address is on its way
			t, n = target{text: true}, len(s)-1
		}
	}
	u.brackets = u.brackets[:len(u.brackets)-1]
	switch {
	case t.found():
		u.at += 1 + n
		u.resolve(opener + 1)
		u.literal(opener + 1)
		u.closeLink(opener, t)
	case citation(label):
		u.nodes = append(u.nodes[:opener], node{span: span{look: look{style: u.theme.Citation.over(u.base)}, text: "[" + label + "]"}})
		u.at++
	default:
		u.nodes[opener].settle()
		u.add("]", u.base)
		u.at++
	}
	if len(u.brackets) == 0 {
		u.resolveAll()
	}
	return true
}

// closeLink makes a link or an image of the nodes after opener.
func (u *unit) closeLink(opener int, t target) {
	inside := slices.Clone(u.nodes[opener+1:])
	image := u.nodes[opener].mark == '!'
	u.nodes = u.nodes[:opener]
	if image {
		name := ""
		for _, n := range inside {
			name += n.text
		}
		if name == "" {
			name = t.address
		}
		u.nodes = append(u.nodes, u.linked([]node{{span: u.inliner.text("[image: " + name + "]")}}, t, u.theme.Image)...)
		return
	}
	u.nodes = append(u.nodes, u.linked(inside, t, u.theme.Link)...)
	for _, b := range u.brackets { // a link holds no link
		if u.nodes[b].mark == '[' {
			u.nodes[b].settle()
		}
	}
	u.brackets = slices.DeleteFunc(u.brackets, func(b int) bool { return u.nodes[b].mark == 0 })
}

// linked gives nodes the look of a link, and after them says where it leads if
// their text does not, and its title.
func (u *unit) linked(nodes []node, t target, style Style) []node {
	link, place := u.destination(t.address)
	shown := ""
	for i := range nodes {
		nodes[i].style = nodes[i].style.over(style.over(u.base))
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
		nodes = append(nodes, node{span: span{look: look{style: u.theme.Host.over(u.base)}, text: " (" + place + ")"}})
	}
	return nodes
}

// address takes a bare address.
func (u *unit) address(s string) bool {
	within := s[:min(len(s), reach)]
	n := strings.IndexAny(within, " \n<>`\"|")
	if n < 0 {
		if len(s) < reach && u.end == open {
			return false
		}
		n = len(within)
	}
	if i := strings.IndexByte(within[:n], ']'); i >= 0 && len(u.brackets) > 0 {
		n = i
	}
	for n > 0 && (strings.IndexByte("?!.,:;*_~'", within[n-1]) >= 0 || within[n-1] == ')' && strings.Count(within[:n], ")") > strings.Count(within[:n], "(") || within[n-1] == ']') {
		n--
	}
	text := within[:n]
	host := strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "http://")
	if strings.Trim(host, "/") == "" || text == "www" || !strings.Contains(text, ".") && !strings.Contains(text, "://") {
		return u.take(max(n, 1))
	}
	address := text
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u.nodes = append(u.nodes, u.linked([]node{{span: u.inliner.text(text)}}, target{address: address}, u.theme.Link)...)
	u.at += n
	return true
}
