package markdown

import (
	"html"
	"net/url"
	"strings"
	"unicode/utf8"

	"lifehub/tui/safetext"
)

// target is where a link leads.
type target struct {
	address string
	text    bool // it is a link whose address is not known yet
}

func (t target) found() bool { return t.address != "" || t.text }

// target reads what follows the ] of a link with the given label: (address),
// [label] or nothing. It returns the bytes taken; known is false if the text
// ends before that can be told.
func (u *unit) target(s, label string) (t target, n int, known bool) {
	if strings.HasPrefix(s, "(") {
		if t, n, known := inlineTarget(s[:min(len(s), reach)]); n > 0 {
			return t, n, true
		} else if !known && len(s) < reach {
			return t, 0, u.end == closed
		}
	}
	if strings.HasPrefix(s, "[") {
		i := strings.IndexAny(s[1:min(len(s), reach)], "[]")
		if i < 0 && len(s) < reach && u.end != closed {
			return t, 0, false
		}
		if i >= 0 && s[i+1] == ']' {
			name := s[1 : i+1]
			if name == "" {
				name = label
			}
			if address := u.links.find(name); address != "" {
				return target{address: address}, i + 2, true
			}
		}
	}
	if strings.HasPrefix(label, "^") {
		return t, 0, true
	}
	return target{address: u.links.find(label)}, 0, true
}

// inlineTarget reads "(address "title")". known is false if s ends too early.
func inlineTarget(s string) (t target, n int, known bool) {
	i := 1 + blankLength(s[1:])
	start, depth := i, 0
	if strings.HasPrefix(s[i:], "<") {
		end := strings.IndexAny(s[i+1:], "<>\n")
		if end < 0 {
			return t, 0, false
		}
		if s[i+1+end] != '>' {
			return t, 0, true
		}
		t.address = s[i+1 : i+1+end]
		i += end + 2
	} else {
		for ; i < len(s); i++ {
			switch c := s[i]; {
			case c == '\\' && i+1 < len(s):
				i++
				continue
			case c == '(':
				depth++
				continue
			case c == ')' && depth > 0:
				depth--
				continue
			case c != ')' && c > ' ':
				continue
			}
			break
		}
		if i > len(s) {
			i = len(s)
		}
		if i == len(s) {
			return t, 0, false
		}
		t.address = unescape(s[start:i])
	}
	i += blankLength(s[i:])
	if i < len(s) && strings.IndexByte(`"'(`, s[i]) >= 0 {
		quote := s[i]
		if quote == '(' {
			quote = ')'
		}
		end := strings.IndexByte(s[i+1:], quote)
		if end < 0 {
			return t, 0, false
		}
		i += end + 2
		i += blankLength(s[i:])
	}
	if i >= len(s) {
		return target{}, 0, false
	}
	if s[i] != ')' {
		return target{}, 0, true
	}
	t.text = t.address == ""
	return t, i + 1, true
}

func blankLength(s string) int { return len(s) - len(strings.TrimLeft(s, " \n")) }

// unescape resolves backslashes and entities.
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

// destination returns the address that the terminal may open, "" if none, and
// what to show of it: the host of a page, all of anything else.
func (u *unit) destination(address string) (link, place string) {
	address = safetext.Line(strings.TrimSpace(address))
	parsed, err := url.Parse(address)
	if err != nil {
		return "", safetext.Reveal(address)
	}
	if u.theme.Hyperlinks && safetext.LinkAllowed(address) {
		link = address
	}
	switch {
	case parsed.Scheme == "http" || parsed.Scheme == "https":
		return link, safetext.Reveal(parsed.Host)
	case parsed.Scheme == "mailto":
		return link, safetext.Reveal(parsed.Opaque)
	}
	if decoded, err := url.PathUnescape(address); err == nil && utf8.ValidString(decoded) {
		address = safetext.Line(decoded)
	}
	return link, safetext.Reveal(address)
}

// says reports whether the text of a link tells its place by itself.
func says(text, place string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "http://")
	host, _, _ := strings.Cut(text, "/")
	if strings.Contains(place, "/") || !strings.Contains(place, ".") {
		return text == place
	}
	return strings.EqualFold(host, place)
}

// citation reports whether label is that of a citation: 1, 12 or "1, 2", or of
// a footnote: ^note.
func citation(label string) bool {
	if strings.HasPrefix(label, "^") {
		return len(label) > 1 && !strings.ContainsAny(label, " \n")
	}
	digits := false
	for _, b := range []byte(label) {
		switch {
		case b >= '0' && b <= '9':
			digits = true
		case b != ',' && b != ' ' && b != '-':
			return false
		}
	}
	return digits && len(label) <= 20
}

// references holds the addresses defined by "[label]: address".
type references struct {
	known  map[string]string
	missed map[string]bool // looked up before they were defined
	late   bool            // one of them was defined after all
}

func (r *references) find(label string) string {
	if strings.ContainsAny(label, "[]") { // no definition has such a label
		return ""
	}
	label = fold(label)
	if address, ok := r.known[label]; ok {
		return address
	}
	if label != "" && len(label) < 1000 {
		if r.missed == nil {
			r.missed = map[string]bool{}
		}
		r.missed[label] = true
	}
	return ""
}

// define notes an address; the first one given for a label counts.
func (r *references) define(label, address string) {
	label = fold(label)
	if _, ok := r.known[label]; ok {
		return
	}
	if r.known == nil {
		r.known = map[string]string{}
	}
	r.known[label] = address
	r.late = r.late || r.missed[label]
}

func fold(label string) string { return strings.ToLower(strings.Join(strings.Fields(label), " ")) }

// definition reads a line "[label]: address "title"".
func definition(line string) (label, address string, ok bool) {
	if !strings.HasPrefix(line, "[") || strings.HasPrefix(line, "[^") {
		return "", "", false
	}
	i := strings.Index(line, "]:")
	if i < 2 || strings.ContainsAny(line[1:i], "[]") || strings.TrimSpace(line[1:i]) == "" {
		return "", "", false
	}
	rest := strings.TrimSpace(line[i+2:])
	address, title, _ := strings.Cut(rest, " ")
	title = strings.TrimSpace(title)
	if address == "" || title != "" && strings.IndexByte(`"'(`, title[0]) < 0 {
		return "", "", false
	}
	return line[1:i], unescape(strings.Trim(address, "<>")), true
}
