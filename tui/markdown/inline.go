package markdown

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/tui/safetext"
)

// reach bounds, in bytes, how far the mark that ends an emphasis, a code span
// or a link may be from the one that begins it. Further ones are plain text:
// so the cost of a paragraph that never closes them stays bounded.
const reach = 2048

// mathReach is reach for $…$, which is more often money.
const mathReach = 200

// inliner turns the text of one paragraph, as it arrives, into spans. It works
// in units: a unit ends where nothing is open, so that what follows cannot
// change it.
type inliner struct {
	theme *Theme
	links *references
	base  Style  // of plain text
	rest  string // what has arrived and is not yet spans
	prev  rune   // the character before rest, ' ' at the start
	unit  unit   // what is known of the unit that rest begins with
}

// ending says how much is known of what follows the text.
type ending int

const (
	open    ending = iota // more may come
	guessed               // draw it as if the marks still open were closed next
	closed                // nothing comes
)

// advance gives the spans that are certain to yield.
func (in *inliner) advance(end ending, yield func(span)) {
	for in.rest != "" {
		n := plainLength(in.rest, in.prev)
		switch {
		case n == len(in.rest) && end == open:
			if n = settledText(in.rest); n == 0 {
				return
			}
		case n < len(in.rest) && in.rest[n] == '\n':
			n = len(strings.TrimRight(in.rest[:n], " ")) // the blanks belong to the line end
		}
		if n > 0 {
			yield(in.text(in.rest[:n]))
			in.consume(n)
			continue
		}
		u := &in.unit
		u.inliner, u.end, u.text, u.prev = in, end, in.rest, in.prev
		if n = u.parse(); n == 0 {
			return
		}
		for _, node := range u.nodes {
			if node.text != "" || node.end {
				yield(node.span)
			}
		}
		in.unit = unit{nodes: u.nodes[:0], brackets: u.brackets[:0]}
		in.consume(n)
	}
}

func (in *inliner) consume(n int) {
	in.prev, _ = utf8.DecodeLastRuneInString(in.rest[:n])
	in.rest = in.rest[n:]
}

func (in *inliner) text(s string) span { return span{look: look{style: in.base}, text: s} }

// special holds the characters that may begin something. Addresses begin with
// a letter; see address.
const special = "\\`<[*_~&$!\n"

var isSpecial = func() (table [256]bool) {
	for _, b := range []byte(special) {
		table[b] = true
	}
	return table
}()

// plainLength returns how many bytes of s are surely plain text.
func plainLength(s string, prev rune) int {
	for i := 0; i < len(s); i++ {
		if isSpecial[s[i]] {
			return i
		}
		if (s[i] == 'h' || s[i] == 'w') && startsAddress(s[i:]) && !wordRune(before(s[:i], prev)) {
			return i
		}
	}
	return len(s)
}

func before(s string, prev rune) rune {
	if s == "" {
		return prev
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '/' }

// startsAddress reports whether s begins, or may turn out to begin, with an
// address that is a link without any mark.
func startsAddress(s string) bool {
	for _, scheme := range [...]string{"https://", "http://", "www."} {
		if strings.HasPrefix(s, scheme) || len(s) < len(scheme) && strings.HasPrefix(scheme, s) {
			return true
		}
	}
	return false
}

// settledText returns how much of s, plain so far, can be given out whatever
// follows: up to its last blank, or in a script without blanks its last but
// one character.
func settledText(s string) int {
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		return len(strings.TrimRight(s[:i], " "))
	}
	last, size := utf8.DecodeLastRuneInString(s)
	if previous, _ := utf8.DecodeLastRuneInString(s[:len(s)-size]); standsAlone(last) && standsAlone(previous) {
		return len(s) - size
	}
	return 0
}

// standsAlone reports whether r is a grapheme of its own before and after another such.
func standsAlone(r rune) bool {
	return r > ' ' && r < 0x7f || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// node is a span that may still change: a run of * waits for its partner, a
// bracket for its address.
type node struct {
	span
	mark     byte // '*', '_', '~', '[' or '!': not text yet
	count    int
	canOpen  bool
	canClose bool
	from     int // where a bracket's text begins in the unit
}

// unit parses the text from one special character to the next point where
// nothing is open. It goes on where it was when more text has come.
type unit struct {
	*inliner
	end      ending
	text     string
	prev     rune
	at       int
	nodes    []node
	brackets []int // open brackets, by node
}

// parse returns the length of the unit, 0 if it is not yet known.
func (u *unit) parse() int {
	for {
		if u.at > 0 && u.neutral() {
			return u.at
		}
		if u.at > reach || u.at == len(u.text) {
			if u.at <= reach && u.end == open {
				return 0
			}
			u.finish()
			return u.at
		}
		if !u.token() {
			return 0
		}
	}
}

// neutral reports whether nothing of the unit waits for a partner.
func (u *unit) neutral() bool {
	if len(u.brackets) > 0 {
		return false
	}
	for _, n := range u.nodes {
		if n.mark != 0 && n.canOpen && n.count > 0 {
			return false
		}
	}
	u.literal(0)
	return true
}

// finish settles what is still open: as text, or as if it were closed here.
func (u *unit) finish() {
	if u.end == guessed {
		for i := range u.nodes {
			n := &u.nodes[i]
			if n.mark == '[' || !n.canOpen || n.count == 0 || n.mark == '!' || n.mark == '~' && n.count != 2 {
				continue
			}
			style := u.emphasis(n.mark, min(n.count, 2))
			if n.count > 2 {
				style = style.over(u.theme.Emphasis)
			}
			u.restyle(i+1, len(u.nodes), style)
			n.mark, n.span.text = 0, ""
		}
	}
	u.brackets = nil
	u.resolve(0)
	u.literal(0)
}

// literal makes text of the marks from node i on.
func (u *unit) literal(i int) {
	for ; i < len(u.nodes); i++ {
		u.nodes[i].settle()
	}
}

// settle makes text of a mark.
func (n *node) settle() {
	switch n.mark {
	case '*', '_', '~':
		n.text = strings.Repeat(string(n.mark), n.count)
	case '[':
		n.text = "["
	case '!':
		n.text = "!["
	}
	n.mark = 0
}

func (u *unit) add(text string, style Style) {
	u.nodes = append(u.nodes, node{span: span{look: look{style: style}, text: text}})
}

// token takes the next token. It returns false if more text must come first.
func (u *unit) token() bool {
	s := u.text[u.at:]
	switch s[0] {
	case '\\':
		return u.backslash(s)
	case '`':
		return u.code(s)
	case '<':
		return u.angle(s)
	case '&':
		return u.entity(s)
	case '$':
		return u.math(s)
	case '*', '_', '~':
		return u.run(s)
	case '!':
		if len(s) == 1 && u.end == open {
			return false
		}
		if len(s) > 1 && s[1] == '[' {
			return u.bracket("![")
		}
		return u.take(1)
	case '[':
		return u.openBracket(s)
	case ']':
		return u.closeBracket(s)
	case '\n':
		u.add(" ", u.base)
		u.at++
		return true
	}
	if startsAddress(s) && !wordRune(before(u.text[:u.at], u.prev)) {
		return u.address(s)
	}
	return u.plain(s)
}

// take adds the next n bytes as text.
func (u *unit) take(n int) bool {
	u.add(u.text[u.at:u.at+n], u.base)
	u.at += n
	return true
}

// plain takes text up to the next character that may mean something.
func (u *unit) plain(s string) bool {
	prev := before(u.text[:u.at], u.prev)
	n := 1
	for n < len(s) && !isSpecial[s[n]] && s[n] != ']' && !((s[n] == 'h' || s[n] == 'w') && startsAddress(s[n:]) && !wordRune(before(s[:n], prev))) {
		n++
	}
	if cut := u.cut(s[:n]); cut > 0 {
		return u.take(cut)
	}
	if n < len(s) && s[n] == '\n' {
		text := strings.TrimRight(s[:n], " ")
		if n-len(text) >= 2 { // two blanks and a line end: a new line
			u.nodes = append(u.nodes, node{span: span{look: look{style: u.base}, text: text, end: true}})
			u.at += n + 1
			return true
		}
		u.add(text, u.base)
		u.at += n
		return true
	}
	if n == len(s) && u.end == open {
		return false
	}
	return u.take(n)
}

// cut returns where plain text s must end because the unit reaches too far, 0
// if it need not.
func (u *unit) cut(s string) int {
	from := max(reach-u.at, 1)
	if from >= len(s) {
		return 0
	}
	if i := strings.IndexByte(s[from:min(len(s), from+reach)], ' '); i >= 0 {
		return from + i + 1
	}
	if len(s) < from+reach {
		return 0
	}
	for n := from + reach; ; n-- {
		if utf8.RuneStart(s[n-1]) {
			return n - 1
		}
	}
}

const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

func (u *unit) backslash(s string) bool {
	if len(s) == 1 {
		if u.end == open {
			return false
		}
		return u.take(1)
	}
	if s[1] == '\n' {
		u.nodes = append(u.nodes, node{span: span{end: true}})
		u.at += 2
		return true
	}
	if s[1] == '(' {
		line := s[2:min(len(s), reach)]
		if i := strings.Index(line, `\)`); i >= 0 {
			u.add(strings.TrimSpace(flat(line[:i])), u.theme.Math.over(u.base))
			u.at += i + 4
			return true
		}
		if len(s) < reach && u.end == open {
			return false
		}
	}
	if strings.IndexByte(punctuation, s[1]) < 0 {
		return u.take(1)
	}
	u.add(s[1:2], u.base)
	u.at += 2
	return true
}

// flat puts text that may hold line ends on one line.
func flat(s string) string { return strings.ReplaceAll(s, "\n", " ") }

func (u *unit) code(s string) bool {
	n := 1
	for n < len(s) && s[n] == '`' {
		n++
	}
	if n == len(s) && u.end == open {
		return false
	}
	style := u.theme.Code.over(u.base)
	within := s[n:min(len(s), n+reach)]
	for i := 0; i < len(within); {
		if within[i] != '`' {
			i++
			continue
		}
		j := i
		for j < len(within) && within[j] == '`' {
			j++
		}
		if j == len(within) && u.end == open && len(s) < n+reach {
			return false
		}
		if j-i == n {
			u.add(codeText(within[:i]), style)
			u.at += n + j
			return true
		}
		i = j
	}
	if len(s) < n+reach && u.end != closed {
		if u.end == guessed && n < len(s) {
			u.add(codeText(strings.TrimRight(within, "`")), style)
			u.at = len(u.text)
			return true
		}
		return u.end == guessed && u.take(n)
	}
	return u.take(n)
}

func codeText(s string) string {
	s = flat(s)
	if len(s) > 2 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		return s[1 : len(s)-1]
	}
	return s
}

func (u *unit) angle(s string) bool {
	if len(s) == 1 {
		if u.end == open {
			return false
		}
		return u.take(1)
	}
	if !letterByte(s[1]) && strings.IndexByte("/!?", s[1]) < 0 {
		return u.take(1)
	}
	within := s[:min(len(s), reach)]
	i := strings.IndexAny(within[1:], "<>")
	if i < 0 && len(s) < reach && u.end == open {
		return false
	}
	if i < 0 || within[i+1] == '<' {
		return u.take(1)
	}
	inside := within[1 : i+1]
	u.at += i + 2
	switch {
	case strings.EqualFold(strings.Trim(inside, "/ "), "br"):
		u.nodes = append(u.nodes, node{span: span{end: true}})
	case strings.ContainsAny(inside, ":@") && !strings.ContainsAny(inside, " \n\""):
		address := inside
		if !strings.Contains(inside, ":") {
			address = "mailto:" + inside
		}
		u.nodes = append(u.nodes, u.linked([]node{{span: u.inliner.text(inside)}}, address, u.theme.Link)...)
	default:
		u.add(flat("<"+inside+">"), u.theme.HTML.over(u.base))
	}
	return true
}

func letterByte(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// maxEntity is the length of the longest entity of HTML, &CounterClockwiseContourIntegral;
const maxEntity = 33

func (u *unit) entity(s string) bool {
	for i := 1; i < len(s) && i < maxEntity; i++ {
		if s[i] == ';' {
			if text := html.UnescapeString(s[:i+1]); text != s[:i+1] {
				u.add(safetext.Line(text), u.base)
				u.at += i + 1
				return true
			}
			return u.take(1)
		}
		if !letterByte(s[i]) && (s[i] < '0' || s[i] > '9') && s[i] != '#' {
			return u.take(1)
		}
	}
	if len(s) < maxEntity && u.end == open {
		return false
	}
	return u.take(1)
}

func (u *unit) math(s string) bool {
	mark := "$"
	if len(s) == 1 && u.end == open {
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
		return u.take(1)
	}
	for from := 0; ; {
		i := strings.Index(body[from:], mark)
		if i < 0 {
			break
		}
		i += from
		after := len(mark) + i + len(mark)
		if after == len(s) && u.end == open {
			return false // a digit may follow: money
		}
		if i > 0 && body[i-1] != ' ' && (after >= len(s) || s[after] < '0' || s[after] > '9') {
			u.add(body[:i], u.theme.Math.over(u.base))
			u.at += after
			return true
		}
		from = i + len(mark)
	}
	if len(within) == len(s) && len(s) < limit && u.end == open {
		return false
	}
	return u.take(len(mark))
}

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
		u.resolve(0)
	}
	return true
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// resolve pairs the marks from node bottom on, as CommonMark does: each closer
// with the nearest opener before it.
func (u *unit) resolve(bottom int) {
	for c := bottom; c < len(u.nodes); c++ {
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
		name := within[:i]
		if _, alias, ok := strings.Cut(name, "|"); ok && alias != "" {
			name = alias
		}
		u.add(name, u.theme.Link.over(u.base))
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
		u.resolve(0)
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
		u.nodes = append(u.nodes, u.linked([]node{{span: u.inliner.text("[image: " + name + "]")}}, t.address, u.theme.Image)...)
		return
	}
	u.nodes = append(u.nodes, u.linked(inside, t.address, u.theme.Link)...)
	for _, b := range u.brackets { // a link holds no link
		if u.nodes[b].mark == '[' {
			u.nodes[b].settle()
		}
	}
	u.brackets = slices.DeleteFunc(u.brackets, func(b int) bool { return u.nodes[b].mark == 0 })
}

// linked gives nodes the look of a link to address, and after them says where
// it leads if their text does not.
func (u *unit) linked(nodes []node, address string, style Style) []node {
	link, place := u.destination(address)
	shown := ""
	for i := range nodes {
		nodes[i].style = nodes[i].style.over(style.over(u.base))
		nodes[i].link = link
		shown += nodes[i].text
	}
	if place != "" && !says(shown, place) {
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
	u.nodes = append(u.nodes, u.linked([]node{{span: u.inliner.text(text)}}, address, u.theme.Link)...)
	u.at += n
	return true
}
