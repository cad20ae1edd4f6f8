package safetext

import (
	"net/url"
	"strings"
)

// maxParams bounds the parameters of a colour sequence. Longer ones stop the
// renderer of Bubble Tea (more than 32 panic in x/ansi v0.11).
const maxParams = 16

// Styled cleans lines that we have styled ourselves: of all sequences it keeps
// colours and attributes that do not hide text, and links to http, https and
// mailto. Everything else is dropped as by Text.
func Styled(s string) string {
	if !hasEscape(s) {
		return Text(s)
	}
	c := cleaner{mode: lines, out: make([]byte, 0, len(s)), prev: '\n'}
	for s != "" {
		i := strings.IndexByte(s, esc)
		if i < 0 {
			break
		}
		c.write(s[:i])
		s = s[i:]
		n, _ := escape(s)
		if keepStyle(s[:n]) || keepLink(s[:n]) {
			c.out = append(c.out, s[:n]...)
		}
		s = s[n:]
	}
	c.write(s)
	return string(c.out)
}

// keepStyle reports whether seq is a colour or attribute sequence of ours.
func keepStyle(seq string) bool {
	if len(seq) < 3 || seq[1] != '[' || seq[len(seq)-1] != 'm' {
		return false
	}
	body := seq[2 : len(seq)-1]
	if body == "" {
		return true
	}
	params := strings.FieldsFunc(body, func(r rune) bool { return r == ';' || r == ':' })
	if len(params) > maxParams || strings.Count(body, ";")+strings.Count(body, ":") >= maxParams {
		return false
	}
	for i := 0; i < len(params); i++ {
		n, ok := number(params[i])
		if !ok {
			return false
		}
		switch {
		case n == 38 || n == 48 || n == 58: // the rest is a colour
			return len(params) > i+1 && colour(params[i+1:])
		case n == 5 || n == 6 || n == 8 || n > 107: // blinking, hidden, unknown
			return false
		}
	}
	return true
}

// colour reports whether params begin with 5;N or 2;R;G;B and go on with plain
// attributes or another colour.
func colour(params []string) bool {
	skip := 2
	if params[0] == "2" {
		skip = 4
	} else if params[0] != "5" {
		return false
	}
	for i, p := range params {
		if n, ok := number(p); !ok || n > 255 || i >= skip && n == 8 {
			return false
		}
	}
	return len(params) >= skip
}

// number reads a decimal parameter of at most three digits.
func number(s string) (int, bool) {
	if s == "" || len(s) > 3 {
		return 0, false
	}
	n := 0
	for _, b := range []byte(s) {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = n*10 + int(b-'0')
	}
	return n, true
}

// keepLink reports whether seq opens a link to an allowed address or closes one.
func keepLink(seq string) bool {
	body, ok := strings.CutPrefix(seq, "\x1b]8;")
	if !ok {
		return false
	}
	if body, ok = strings.CutSuffix(body, "\x1b\\"); !ok {
		if body, ok = strings.CutSuffix(body, "\a"); !ok {
			return false
		}
	}
	params, address, ok := strings.Cut(body, ";")
	if !ok || strings.ContainsFunc(params, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return false
	}
	return address == "" || LinkAllowed(address)
}

// LinkAllowed reports whether address may become a link on screen: printable
// ASCII, at most 2,083 bytes, and http, https or mailto. A file is none: a
// desktop may run it.
func LinkAllowed(address string) bool {
	if len(address) > 2083 || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}
