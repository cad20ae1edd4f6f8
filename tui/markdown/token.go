package markdown

import (
	"html"
	"strings"
	"unicode/utf8"

	"lifehub/tui/layout"
	"lifehub/tui/safetext"
)

const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

func (p *parser) backslash(s string) bool {
	if len(s) == 1 {
		return p.end != open && p.take(1)
	}
	if s[1] == '\n' {
		p.nodes = append(p.nodes, node{Span: layout.Span{End: true}})
		p.at += 2
		return true
	}
	if s[1] == '(' {
		line := s[2:min(len(s), reach)]
		if i := strings.Index(line, `\)`); i >= 0 {
			p.show(strings.TrimSpace(flat(line[:i])), p.theme.Math.Over(p.base))
			p.at += i + 4
			return true
		}
		if len(s) < reach && p.end == open {
			return false
		}
	}
	if strings.IndexByte(punctuation, s[1]) < 0 {
		return p.take(1)
	}
	p.show(s[1:2], p.base)
	p.at += 2
	return true
}

// flat replaces line ends by blanks.
func flat(s string) string { return strings.ReplaceAll(s, "\n", " ") }

func (p *parser) code(s string) bool {
	n := leading(s, "`")
	if n == len(s) && p.end == open {
		return false
	}
	style := p.theme.Code.Over(p.base)
	within := s[n:min(len(s), n+reach)]
	far := len(s) >= n+reach
	for at := 0; ; {
		i := strings.IndexByte(within[at:], '`')
		if i < 0 {
			break
		}
		i += at
		at = i + leading(within[i:], "`")
		if at == len(within) && p.end == open && !far {
			return false
		}
		if at-i == n {
			p.show(codeText(within[:i]), style)
			p.at += n + at
			return true
		}
	}
	switch {
	case far || p.end == closed || p.end == guessed && n == len(s):
		return p.take(n)
	case p.end == open:
		return false
	}
	p.show(codeText(strings.TrimRight(within, "`")), style)
	p.at = len(p.text)
	return true
}

func codeText(s string) string {
	s = flat(s)
	if len(s) > 2 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		return s[1 : len(s)-1]
	}
	return s
}

func (p *parser) angle(s string) bool {
	if len(s) == 1 {
		return p.end != open && p.take(1)
	}
	if !letterByte(s[1]) && strings.IndexByte("/!?", s[1]) < 0 {
		return p.take(1)
	}
	within := s[:min(len(s), reach)]
	i := strings.IndexAny(within[1:], "<>")
	if i < 0 && len(s) < reach && p.end == open {
		return false
	}
	if i < 0 || within[i+1] == '<' {
		return p.take(1)
	}
	inside := within[1 : i+1]
	p.at += i + 2
	switch {
	case strings.EqualFold(strings.Trim(inside, "/ "), "br"):
		p.nodes = append(p.nodes, node{Span: layout.Span{End: true}})
	case strings.ContainsAny(inside, ":@") && !strings.ContainsAny(inside, " \n\""):
		address := inside
		if !strings.Contains(inside, ":") {
			address = "mailto:" + inside
		}
		p.show(inside, p.base)
		p.link(len(p.nodes)-1, target{address: address}, p.theme.Link)
	default:
		p.show(flat("<"+inside+">"), p.theme.HTML.Over(p.base))
	}
	return true
}

func letterByte(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// maxEntity is the length of HTML's longest entity, &CounterClockwiseContourIntegral;
const maxEntity = 33

const entityLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#"

// longestEntity is the maximum number of characters that an entity represents.
const longestEntity = 2

func (p *parser) entity(s string) bool {
	n := 1 + leading(s[1:min(len(s), maxEntity)], entityLetters)
	if n == len(s) && n < maxEntity && p.end == open {
		return false
	}
	if n == min(len(s), maxEntity) || s[n] != ';' {
		return p.take(1)
	}
	// A prefix may be an entity without semicolon: "&copycat;" becomes "©cat;".
	text := safetext.Line(html.UnescapeString(s[:n+1]))
	if n := utf8.RuneCountInString(text); n == 0 || n > longestEntity || text[0] == '&' && n > 1 || text == "\ufffd" {
		return p.take(1)
	}
	p.show(text, p.base)
	p.at += n + 1
	return true
}

func (p *parser) math(s string) bool {
	mark := "$"
	if len(s) == 1 && p.end == open {
		return false
	}
	if strings.HasPrefix(s, "$$") {
		mark = "$$"
	}
	limit := len(mark) + mathReach
	within := s[:min(len(s), limit)]
	if i := strings.IndexByte(within, '\n'); i >= 0 {
		within = within[:i]
	}
	body := within[len(mark):]
	if body != "" && body[0] == ' ' && mark == "$" {
		return p.take(1)
	}
	for from := 0; ; {
		i := strings.Index(body[from:], mark)
		if i < 0 {
			break
		}
		i += from
		after := len(mark) + i + len(mark)
		if after == len(s) && p.end == open {
			return false // if a digit follows, it is money
		}
		if i > 0 && body[i-1] != ' ' && (after >= len(s) || s[after] < '0' || s[after] > '9') {
			p.show(body[:i], p.theme.Math.Over(p.base))
			p.at += after
			return true
		}
		from = i + len(mark)
	}
	if len(within) == len(s) && len(s) < limit && p.end == open {
		return false
	}
	return p.take(len(mark))
}
