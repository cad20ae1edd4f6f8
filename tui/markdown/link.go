package markdown

import (
	"cmp"
	"html"
	"net/url"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// target is the destination of a link.
type target struct {
	address string
	title   string // optional
	text    bool   // a link whose address is unknown so far
}

func (t target) found() bool { return t.address != "" || t.text }

// target parses what follows the ] of a link with the given label: (address),
// [label] or nothing. n is its length. known is false if more text is needed.
func (p *parser) target(s, label string) (t target, n int, known bool) {
	if strings.HasPrefix(s, "(") {
		if t, n, known := inlineTarget(s[:min(len(s), reach)]); n > 0 {
			return t, n, true
		} else if !known && len(s) < reach {
			return t, 0, p.end == closed
		}
	}
	if strings.HasPrefix(s, "[") {
		i := strings.IndexAny(s[1:min(len(s), reach)], "[]")
		if i < 0 && len(s) < reach && p.end != closed {
			return t, 0, false
		}
		if i >= 0 && s[i+1] == ']' {
			name := s[1 : i+1]
			if name == "" {
				name = label
			}
			if t := p.links.find(name, p.end); t.found() {
				return t, i + 2, true
			}
		}
	}
	if strings.HasPrefix(label, "^") {
		return t, 0, true
	}
	return p.links.find(label, p.end), 0, true
}

// inlineTarget parses "(address "title")". known is false if s is incomplete.
func inlineTarget(s string) (t target, n int, known bool) {
	i := 1 + leading(s[1:], " \n")
	if t.address, n = linkAddress(s[i:]); n < 0 {
		return target{}, 0, false
	}
	i += n
	i += leading(s[i:], " \n")
	if t.title, n = linkTitle(s[i:]); n < 0 {
		return target{}, 0, false
	}
	i += n
	i += leading(s[i:], " \n")
	switch {
	case i == len(s):
		return target{}, 0, false
	case s[i] != ')':
		return target{}, 0, true
	}
	t.text = t.address == ""
	return t, i + 1, true
}

// linkAddress parses the address at the beginning of s, which is in angle
// brackets or ends at a blank or an unbalanced ). n is its length; -1 if s is
// incomplete.
func linkAddress(s string) (address string, n int) {
	if strings.HasPrefix(s, "<") {
		end := strings.IndexAny(s[1:], "<>\n")
		if end >= 0 && s[1+end] == '>' {
			return unescape(s[1 : 1+end]), end + 2
		}
		return "", min(end, 0)
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ')' || c <= ' ':
			return unescape(s[:i]), i
		}
	}
	return "", -1
}

// linkTitle parses the title at the beginning of s, in quotation marks or
// parentheses. n is its length; 0 if there is none, -1 if s is incomplete.
func linkTitle(s string) (title string, n int) {
	if s == "" || strings.IndexByte(`"'(`, s[0]) < 0 {
		return "", 0
	}
	end := s[0]
	if end == '(' {
		end = ')'
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case end:
			return safetext.Line(unescape(flat(s[1:i]))), i + 1
		}
	}
	return "", -1
}

// unescape replaces backslash escapes and entities.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		var out strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(punctuation, s[i+1]) >= 0 {
				i++
			}
			out.WriteByte(s[i])
		}
		s = out.String()
	}
	return html.UnescapeString(s)
}

// destination returns the address that the terminal may open, or "", and the
// text to show for it: the host of a web page, otherwise the whole address.
func (p *parser) destination(address string) (link, place string) {
	address = safetext.Line(strings.TrimSpace(address))
	parsed, err := url.Parse(address)
	if err != nil {
		return "", safetext.Reveal(address)
	}
	if p.theme.Hyperlinks && safetext.LinkAllowed(address) {
		link = address
	}
	switch {
	case parsed.Scheme == "http" || parsed.Scheme == "https":
		u, site, err := agent.ReadAddress(address)
		if err != nil {
			return "", safetext.Reveal(cmp.Or(parsed.Host, address))
		}
		return link, agent.ShownHost(u, site)
	case parsed.Scheme == "mailto":
		return link, safetext.Reveal(parsed.Opaque)
	}
	if decoded, err := url.PathUnescape(address); err == nil && utf8.ValidString(decoded) {
		address = safetext.Line(decoded)
	}
	return link, safetext.Reveal(address)
}

// shows reports whether the text of a link shows its destination.
func shows(text, place string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "http://")
	host, _, _ := strings.Cut(text, "/")
	if strings.Contains(place, "/") || !strings.Contains(place, ".") {
		return text == place
	}
	return strings.EqualFold(host, place)
}

// citation reports whether label is that of a citation, such as 1, 12 or "1, 2",
// or of a footnote, such as ^note.
func citation(label string) bool {
	if strings.HasPrefix(label, "^") {
		return len(label) > 1 && !strings.ContainsAny(label, " \n")
	}
	return len(label) <= 20 && strings.ContainsAny(label, "0123456789") && strings.Trim(label, "0123456789, -") == ""
}

// links holds the addresses defined by "[label]: address". Definitions that are
// used are not drawn; the others are drawn as text.
type links struct {
	known map[string]target
	used  map[string]bool // labels that were used, whether defined or not
}

// Forget clears the set of used labels. It reports whether any address is
// defined.
func (r *links) Forget() bool {
	r.used = nil
	return len(r.known) > 0
}

// find returns the target of a label; the zero target if it is not defined.
func (r *links) find(label string, end ending) target {
	if strings.ContainsAny(label, "[]") { // no definition has such a label
		return target{}
	}
	label = fold(label)
	if end != guessed && label != "" && len(label) < 1000 {
		if r.used == nil {
			r.used = map[string]bool{}
		}
		r.used[label] = true
	}
	return r.known[label]
}

// Define defines the target of a label. Only the first definition counts.
func (r *links) Define(label string, t target) {
	if r.known == nil {
		r.known = map[string]target{}
	}
	if label = fold(label); !r.known[label].found() {
		r.known[label] = t
	}
}

// Hides reports whether a definition is used, and therefore not drawn.
func (r *links) Hides(label string, t target) bool {
	label = fold(label)
	first := r.known[label]
	return r.used[label] && (first == t || !first.found())
}

func fold(label string) string { return strings.ToLower(strings.Join(strings.Fields(label), " ")) }

// definition parses the line "[label]: address "title"".
func definition(line string) (label string, t target, ok bool) {
	if !strings.HasPrefix(line, "[") || strings.HasPrefix(line, "[^") {
		return "", t, false
	}
	i := strings.Index(line, "]:")
	if i < 2 || strings.ContainsAny(line[1:i], "[]") || strings.TrimSpace(line[1:i]) == "" {
		return "", t, false
	}
	rest := strings.Trim(line[i+2:], " ")
	address, n := linkAddress(rest + " ")
	if n < 0 { // an unclosed "<"
		n = strings.IndexByte(rest+" ", ' ')
		address = rest[:n]
	}
	t.address = address
	title := strings.TrimLeft(rest[n:], " ")
	t.title, n = linkTitle(title)
	return line[1:i], t, address != "" && n == len(title) && (title == "" || strings.HasSuffix(rest, " "+title))
}
